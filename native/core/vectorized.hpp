// Loops over numbers, compiled for wider vector units too where the compiler can choose at run time.
//
// All versions add and multiply in the same order and without fusing, so they give the same bits.
#pragma once

#include <cstddef>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SAPWOOD_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define SAPWOOD_VECTOR
#endif
// For what such loops call: it becomes part of every version of its caller.
#define SAPWOOD_INLINE inline __attribute__((always_inline))

namespace sapwood {

// out[j] += weight * column[j]
[[maybe_unused]] SAPWOOD_VECTOR static void add_scaled(double* __restrict out, const float* __restrict column,
                                                       double weight, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * static_cast<double>(column[j]);
}
[[maybe_unused]] SAPWOOD_VECTOR static void add_scaled(double* __restrict out, const double* __restrict column,
                                                       double weight, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * column[j];
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
