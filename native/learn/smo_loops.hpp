// The loops of the support vector solver over all points, on arrays with one entry per point.
//
// They are written in lanes without branches, so that compilers turn them into vector instructions; every entry is
// worked on by itself, so all versions give the same bits.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/vectorized.hpp"

namespace sapwood {

inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kChunk = 64;      // entries of which the extremes are noted; a multiple of kLanes
inline constexpr std::size_t kStretch = 8192;  // entries that stay in a near cache while all rows go over them
inline constexpr std::size_t kStep = 16;
inline constexpr std::size_t kAhead = 128;  // how far ahead rows are fetched, which mostly come from far away
inline constexpr double kNever = 1e300;     // beyond every slack; not infinite, so that differences stay numbers

// slack -= step * row for every row, one after the other in each entry: how many rows go at once changes no bit.
template <class Real>
SAPWOOD_INLINE void move_stretch(double* __restrict slack, const Real* const* rows, const double* steps,
                                 std::size_t count, std::size_t begin, std::size_t end) {
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const Real* __restrict a = rows[r], * __restrict b = rows[r + 1], * __restrict c = rows[r + 2], * __restrict d = rows[r + 3];
        const double first = steps[r], second = steps[r + 1], third = steps[r + 2], fourth = steps[r + 3];
        std::size_t k = begin;
        for (; k + kStep <= end; k += kStep) {
            for (std::size_t l = 0; l < kStep; l += kLanes) {
                __builtin_prefetch(a + k + l + kAhead);
                __builtin_prefetch(b + k + l + kAhead);
                __builtin_prefetch(c + k + l + kAhead);
                __builtin_prefetch(d + k + l + kAhead);
            }
            for (std::size_t l = k; l < k + kStep; ++l) {
                double value = slack[l];
                value -= first * static_cast<double>(a[l]);
                value -= second * static_cast<double>(b[l]);
                value -= third * static_cast<double>(c[l]);
                slack[l] = value - fourth * static_cast<double>(d[l]);
            }
        }
        for (; k < end; ++k) {
            double value = slack[k];
            value -= first * static_cast<double>(a[k]);
            value -= second * static_cast<double>(b[k]);
            value -= third * static_cast<double>(c[k]);
            slack[k] = value - fourth * static_cast<double>(d[k]);
        }
    }
    for (; r < count; ++r) {
        const Real* __restrict a = rows[r];
        const double step = steps[r];
        for (std::size_t k = begin; k < end; ++k) slack[k] -= step * static_cast<double>(a[k]);
    }
}

// The largest slack of a chunk where a weight may grow, and the smallest where it may shrink.
SAPWOOD_INLINE void note_extremes(const double* __restrict slack, const double* __restrict growing,
                                  const double* __restrict shrinking, std::size_t size, double& most, double& least) {
    double high[kLanes], low[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) high[l] = -kNever, low[l] = kNever;
    std::size_t k = 0;
    for (; k + kLanes <= size; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            const double up = slack[k + l] - growing[k + l], down = slack[k + l] + shrinking[k + l];
            high[l] = up > high[l] ? up : high[l];
            low[l] = down < low[l] ? down : low[l];
        }
    for (; k < size; ++k) {
        high[0] = std::max(high[0], slack[k] - growing[k]);
        low[0] = std::min(low[0], slack[k] + shrinking[k]);
    }
    most = *std::max_element(high, high + kLanes);
    least = *std::min_element(low, low + kLanes);
}

// Moves the slack of the first `width` entries along the rows, and notes the extremes of all chunks. growing and
// shrinking are 0 where a weight may grow or shrink, else they carry the slack out of reach.
template <class Real>
SAPWOOD_INLINE void sweep_all(double* slack, const Real* const* rows, const double* steps, std::size_t count,
                              std::size_t width, const double* growing, const double* shrinking, std::size_t size,
                              double* most, double* least) {
    for (std::size_t begin = 0; begin < size; begin += kStretch) {
        const std::size_t end = std::min(size, begin + kStretch);
        move_stretch(slack, rows, steps, count, begin, std::min(end, width));
        for (std::size_t k = begin; k < end; k += kChunk)
            note_extremes(slack + k, growing + k, shrinking + k, std::min(kChunk, end - k), most[k / kChunk],
                          least[k / kChunk]);
    }
}

// sums -= step * row for every row.
[[maybe_unused]] SAPWOOD_VECTOR static void subtract_rows(double* sums, const float* const* rows, const double* steps,
                                                          std::size_t count, std::size_t size) {
    move_stretch(sums, rows, steps, count, 0, size);
}
[[maybe_unused]] SAPWOOD_VECTOR static void subtract_rows(double* sums, const double* const* rows, const double* steps,
                                                          std::size_t count, std::size_t size) {
    move_stretch(sums, rows, steps, count, 0, size);
}

[[maybe_unused]] SAPWOOD_VECTOR static void sweep(double* slack, const float* const* rows, const double* steps,
                                                  std::size_t count, std::size_t width, const double* growing,
                                                  const double* shrinking, std::size_t size, double* most,
                                                  double* least) {
    sweep_all(slack, rows, steps, count, width, growing, shrinking, size, most, least);
}
[[maybe_unused]] SAPWOOD_VECTOR static void sweep(double* slack, const double* const* rows, const double* steps,
                                                  std::size_t count, std::size_t width, const double* growing,
                                                  const double* shrinking, std::size_t size, double* most,
                                                  double* least) {
    sweep_all(slack, rows, steps, count, width, growing, shrinking, size, most, least);
}

}  // namespace sapwood
