// Loops over doubles, compiled for wider vector units too where the compiler can choose at run time.
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

namespace sapwood {

// out[j] += weight * column[j]
[[maybe_unused]] SAPWOOD_VECTOR static void add_scaled(double* __restrict out, const float* __restrict column,
                                                       double weight, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) out[j] += weight * static_cast<double>(column[j]);
}

}  // namespace sapwood
