// Loops over numbers, compiled for wider vector units too where the compiler can choose at run time.
//
// All versions add and multiply in the same order and without fusing, so they give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SAPWOOD_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define SAPWOOD_VECTOR
#endif
// For what such loops call: it becomes part of every version of its caller.
#define SAPWOOD_INLINE inline __attribute__((always_inline))

namespace sapwood {

using EightDoubles = double __attribute__((vector_size(64)));

// out[j] += weight * column[j]
[[maybe_unused]] SAPWOOD_VECTOR static void add_scaled(double* __restrict out, const float* __restrict column,
                                                       double weight, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * static_cast<double>(column[j]);
}
[[maybe_unused]] SAPWOOD_VECTOR static void add_scaled(double* __restrict out, const double* __restrict column,
                                                       double weight, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * column[j];
}

// The same with small whole numbers. Left to itself, the compiler takes narrow vectors here, and long remainders.
[[maybe_unused]] static void add_counts_plain(double* out, const std::uint8_t* column, double weight,
                                              std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * static_cast<double>(column[j]);
}
#if defined(__x86_64__) && defined(__GNUC__)
[[maybe_unused, gnu::target("avx2")]] static void add_counts_wide(double* out, const std::uint8_t* column,
                                                                  double weight, std::size_t size) {
    const __m256d factor = _mm256_set1_pd(weight);
    std::size_t j = 0;
    for (; j + 8 <= size; j += 8) {
        const __m256i whole = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(column + j)));
        const __m256d low = _mm256_mul_pd(factor, _mm256_cvtepi32_pd(_mm256_castsi256_si128(whole)));
        const __m256d high = _mm256_mul_pd(factor, _mm256_cvtepi32_pd(_mm256_extracti128_si256(whole, 1)));
        _mm256_storeu_pd(out + j, _mm256_add_pd(_mm256_loadu_pd(out + j), low));
        _mm256_storeu_pd(out + j + 4, _mm256_add_pd(_mm256_loadu_pd(out + j + 4), high));
    }
    add_counts_plain(out + j, column + j, weight, size - j);
}
[[maybe_unused, gnu::target("avx512f")]] static void add_counts_widest(double* out, const std::uint8_t* column,
                                                                       double weight, std::size_t size) {
    const __m512d factor = _mm512_set1_pd(weight);
    std::size_t j = 0;
    for (; j + 8 <= size; j += 8) {
        const __m256i whole = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(column + j)));
        // With a mask of all: without one, gcc 12 warns of its own header.
        const __m512d product = _mm512_mul_pd(factor, _mm512_maskz_cvtepi32_pd(0xff, whole));
        _mm512_storeu_pd(out + j, _mm512_add_pd(_mm512_loadu_pd(out + j), product));
    }
    add_counts_plain(out + j, column + j, weight, size - j);
}
#endif
inline void add_counts(double* out, const std::uint8_t* column, double weight, std::size_t size) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool widest = __builtin_cpu_supports("avx512f"), wide = __builtin_cpu_supports("avx2");
    if (widest) return add_counts_widest(out, column, weight, size);
    if (wide) return add_counts_wide(out, column, weight, size);
#endif
    add_counts_plain(out, column, weight, size);
}

// out[j * width + i] = rows[i * stride + j] for i < count and first <= j < last.
[[maybe_unused]] SAPWOOD_VECTOR static void write_columns(const double* __restrict rows, std::size_t stride,
                                                          std::size_t count, double* __restrict out, std::size_t width,
                                                          std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
        double* to = out + j * width;
        std::size_t i = 0;
        // One store for a whole line: memory that is not in the cache is what takes time here.
        for (; i + 8 <= count; i += 8) {
            const double* from = rows + i * stride + j;
            const EightDoubles line = {from[0],          from[stride],     from[2 * stride], from[3 * stride],
                                       from[4 * stride], from[5 * stride], from[6 * stride], from[7 * stride]};
            std::memcpy(to + i, &line, sizeof(line));
        }
        for (; i < count; ++i) to[i] = rows[i * stride + j];
    }
}

// values[j] *= left * right[j], with results that are at most 1e-14 from 1 or -1, or beyond, made equal to these.
// Returns how many were beyond by more than 1e-9.
[[maybe_unused]] SAPWOOD_VECTOR static std::size_t scale_within_one(double* __restrict values, double left,
                                                                    const double* __restrict right, std::size_t size) {
    constexpr double kOne = 1.0 - 1e-14, kBeyond = 1.0 + 1e-9;
    std::size_t beyond = 0;
    for (std::size_t j = 0; j < size; ++j) {
        const double value = values[j] * (left * right[j]);
        beyond += (value > kBeyond) | (value < -kBeyond) ? std::size_t{1} : std::size_t{0};
        const double capped = value > kOne ? 1.0 : value;
        values[j] = capped < -kOne ? -1.0 : capped;
    }
    return beyond;
}

[[maybe_unused]] SAPWOOD_VECTOR static void fill(double* out, double value, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] = value;
}

[[maybe_unused]] SAPWOOD_VECTOR static double dot(const double* a, const double* b, std::size_t size) {
    // Eight sums side by side; the order of additions is fixed.
    double part[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8)
        for (std::size_t k = 0; k < 8; ++k) part[k] += a[i + k] * b[i + k];
    double total = 0.0;
    for (; i < size; ++i) total += a[i] * b[i];
    for (const double value : part) total += value;
    return total;
}

}  // namespace sapwood
