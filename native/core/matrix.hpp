// Products of float matrices with fixed weights, and the functions that networks apply to each element.
//
// Every element of a product is summed over the inner dimension from first to last, whatever rows stand beside it, so
// a row has the same bits in every batch and on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/vectorized.hpp"

namespace sapwood {

// Columns that are computed together; a panel of weights is this wide.
inline constexpr std::size_t kPanel = 16;

// Rows that are computed together: with a panel of sums for each, they just fit into 16 registers of 4 or 8 floats, or
// into 32 of 16.
template <class Vector>
inline constexpr std::size_t kRows = sizeof(Vector) == 64 ? 24 : 6;

// Vectors of the compiler's own: left to itself, it does not keep the sums in registers.
using FourFloats = float __attribute__((vector_size(16)));
using EightFloats = float __attribute__((vector_size(32)));
using SixteenFloats = float __attribute__((vector_size(64)));

// out[r][c] += a[r] · panel column c for `rows` rows; at most kRows<Vector>. With `fresh`, out counts as 0 before.
template <class Vector, bool fresh, std::size_t rows>
SAPWOOD_INLINE void multiply_panel(const float* __restrict a, std::size_t a_stride, const float* __restrict panel,
                                   std::size_t inner, float* __restrict out, std::size_t out_stride) {
    constexpr std::size_t kLanes = sizeof(Vector) / sizeof(float), kVectors = kPanel / kLanes;
    Vector sums[rows][kVectors] = {};
    if constexpr (!fresh)
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t v = 0; v < kVectors; ++v)
                std::memcpy(&sums[r][v], out + r * out_stride + v * kLanes, sizeof(Vector));
    for (std::size_t k = 0; k < inner; ++k) {
        Vector weights[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v)
            std::memcpy(&weights[v], panel + k * kPanel + v * kLanes, sizeof(Vector));
        for (std::size_t r = 0; r < rows; ++r) {
            const float factor = a[r * a_stride + k];
            for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] += factor * weights[v];
        }
    }
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t v = 0; v < kVectors; ++v)
            std::memcpy(out + r * out_stride + v * kLanes, &sums[r][v], sizeof(Vector));
}

// The same for any number of rows and panels. Panel by panel, so that weights are read from memory once for all rows.
template <class Vector, bool fresh = false>
SAPWOOD_INLINE void multiply_all(const float* a, std::size_t a_stride, std::size_t rows, const float* panels,
                                 std::size_t inner, std::size_t count, float* out, std::size_t out_stride) {
    for (std::size_t p = 0; p < count; ++p, panels += inner * kPanel, out += kPanel) {
        const float* x = a;
        float* y = out;
        std::size_t left = rows;
        constexpr std::size_t kMost = kRows<Vector>;
        for (; left >= kMost; left -= kMost, x += kMost * a_stride, y += kMost * out_stride)
            multiply_panel<Vector, fresh, kMost>(x, a_stride, panels, inner, y, out_stride);
        for (; left >= 6; left -= 6, x += 6 * a_stride, y += 6 * out_stride)
            multiply_panel<Vector, fresh, 6>(x, a_stride, panels, inner, y, out_stride);
        for (; left >= 2; left -= 2, x += 2 * a_stride, y += 2 * out_stride)
            multiply_panel<Vector, fresh, 2>(x, a_stride, panels, inner, y, out_stride);
        if (left == 1) multiply_panel<Vector, fresh, 1>(x, a_stride, panels, inner, y, out_stride);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
template <bool fresh>
[[maybe_unused, gnu::target("avx2")]] void multiply_wide(const float* a, std::size_t a_stride, std::size_t rows,
                                                         const float* panels, std::size_t inner, std::size_t count,
                                                         float* out, std::size_t out_stride) {
    multiply_all<EightFloats, fresh>(a, a_stride, rows, panels, inner, count, out, out_stride);
}
template <bool fresh>
[[maybe_unused, gnu::target("avx512f")]] void multiply_widest(const float* a, std::size_t a_stride, std::size_t rows,
                                                              const float* panels, std::size_t inner, std::size_t count,
                                                              float* out, std::size_t out_stride) {
    multiply_all<SixteenFloats, fresh>(a, a_stride, rows, panels, inner, count, out, out_stride);
}
#endif

template <bool fresh = false>
void multiply_panels(const float* a, std::size_t a_stride, std::size_t rows, const float* panels, std::size_t inner,
                     std::size_t count, float* out, std::size_t out_stride) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool widest = __builtin_cpu_supports("avx512f"), wide = __builtin_cpu_supports("avx2");
    if (widest) return multiply_widest<fresh>(a, a_stride, rows, panels, inner, count, out, out_stride);
    if (wide) return multiply_wide<fresh>(a, a_stride, rows, panels, inner, count, out, out_stride);
#endif
    multiply_all<FourFloats, fresh>(a, a_stride, rows, panels, inner, count, out, out_stride);
}

// A layer x → x W + b. Outputs are padded with zeros to whole panels; `stride` is their length in memory.
class Affine {
  public:
    Affine() = default;
    // `weights` is inner × outer, row by row; no bias means zeros.
    Affine(std::span<const float> weights, std::span<const float> bias, std::size_t inner, std::size_t outer)
        : inner_(inner), outer_(outer), stride_((outer + kPanel - 1) / kPanel * kPanel) {
        if (weights.size() != inner * outer || (!bias.empty() && bias.size() != outer))
            throw std::invalid_argument("the weights of a layer do not fit its shape");
        panels_.assign(inner * stride_, 0.0f);
        bias_.assign(stride_, 0.0f);
        for (std::size_t k = 0; k < inner; ++k)
            for (std::size_t c = 0; c < outer; ++c)
                panels_[(c / kPanel * inner + k) * kPanel + c % kPanel] = weights[k * outer + c];
        std::copy(bias.begin(), bias.end(), bias_.begin());
    }
    // Without a bias; `column(c)` points to the weights of output c.
    template <class Column>
    Affine(std::size_t inner, std::size_t outer, Column column)
        : inner_(inner), outer_(outer), stride_((outer + kPanel - 1) / kPanel * kPanel) {
        panels_.assign(inner * stride_, 0.0f);
        bias_.assign(stride_, 0.0f);
        for (std::size_t begin = 0; begin < outer; begin += kPanel) {
            float* panel = panels_.data() + begin * inner;
            const std::size_t width = std::min(kPanel, outer - begin);
            for (std::size_t c = 0; c < width; ++c) {
                const float* weights = column(begin + c);
                for (std::size_t k = 0; k < inner; ++k) panel[k * kPanel + c] = weights[k];
            }
        }
    }

    std::size_t inner() const { return inner_; }
    std::size_t outer() const { return outer_; }
    std::size_t stride() const { return stride_; }

    // out = x W + b, `rows` rows of length `stride()`.
    void apply(const float* x, std::size_t x_stride, std::size_t rows, float* out) const {
        for (std::size_t row = 0; row < rows; ++row) std::copy(bias_.begin(), bias_.end(), out + row * stride_);
        add(x, x_stride, rows, out);
    }
    // out = x W for outputs from about `from` on; those before are left as they are.
    void multiply_from(const float* x, std::size_t x_stride, std::size_t rows, std::size_t from, float* out) const {
        const std::size_t panel = std::min(from, outer_) / kPanel, begin = panel * kPanel;
        multiply_panels<true>(x, x_stride, rows, panels_.data() + begin * inner_, inner_, stride_ / kPanel - panel,
                              out + begin, stride_);
    }
    // out += x W
    void add(const float* x, std::size_t x_stride, std::size_t rows, float* out) const {
        multiply_panels(x, x_stride, rows, panels_.data(), inner_, stride_ / kPanel, out, stride_);
    }

  private:
    std::size_t inner_ = 0, outer_ = 0, stride_ = 0;
    std::vector<float> panels_, bias_;
};

// exp to within two units in the last place for |x| < 87, which is where it is cut off.
SAPWOOD_INLINE float fast_exp(float x) {
    // Cut off by its bits: a choice between floats would keep the compiler from computing several at once.
    const std::int32_t bits = std::bit_cast<std::int32_t>(x), size = bits & 0x7fffffff;
    constexpr std::int32_t kMost = std::bit_cast<std::int32_t>(87.0f);
    x = std::bit_cast<float>((size < kMost ? size : kMost) | (bits & ~0x7fffffff));
    // x = n ln 2 + r; adding and taking away 1.5 · 2^23 rounds to the nearest integer.
    const float n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

SAPWOOD_INLINE float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }
SAPWOOD_INLINE float fast_tanh(float x) { return 2.0f / (1.0f + fast_exp(-2.0f * x)) - 1.0f; }

// One step of an LSTM for one sequence: gates in the order input, forget, cell, output.
[[maybe_unused]] SAPWOOD_VECTOR static void lstm_step(const float* __restrict gates, float* __restrict cell,
                                                      float* __restrict hidden, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) {
        const float kept = sigmoid(gates[size + j]) * cell[j];
        cell[j] = kept + sigmoid(gates[j]) * fast_tanh(gates[2 * size + j]);
        hidden[j] = sigmoid(gates[3 * size + j]) * fast_tanh(cell[j]);
    }
}

// out = max(0, normalized(x) · scale + shift), where normalized has mean 0 and variance 1 over the row.
[[maybe_unused]] SAPWOOD_VECTOR static void normalize_relu(const float* __restrict x, const float* __restrict scale,
                                                           const float* __restrict shift, float* __restrict out,
                                                           std::size_t size) {
    constexpr std::size_t kLanes = 16;
    float part[kLanes] = {}, square[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= size; i += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k) part[k] += x[i + k];
    float sum = 0.0f;
    for (std::size_t at = i; at < size; ++at) sum += x[at];
    for (const float value : part) sum += value;
    const float mean = sum / static_cast<float>(size);
    for (i = 0; i + kLanes <= size; i += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k) square[k] += (x[i + k] - mean) * (x[i + k] - mean);
    float squares = 0.0f;
    for (std::size_t at = i; at < size; ++at) squares += (x[at] - mean) * (x[at] - mean);
    for (const float value : square) squares += value;
    const float factor = 1.0f / std::sqrt(squares / static_cast<float>(size) + 1e-5f);
    for (i = 0; i < size; ++i) out[i] = std::max(0.0f, (x[i] - mean) * factor * scale[i] + shift[i]);
}

}  // namespace sapwood
