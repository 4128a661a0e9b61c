// Products of matrices: the same bits as one multiplication after the other, whatever rows stand beside a row.
#include <limits>

#include "core/matrix.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
    std::vector<float> made(count);
    for (float& value : made) {
        seed = seed * 1664525u + 1013904223u;
        value = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
    }
    return made;
}

TEST(products_are_sums_from_first_to_last) {
    for (const std::size_t inner : {1u, 7u, 33u})
        for (const std::size_t outer : {1u, 16u, 37u}) {
            const std::vector<float> weights = numbers(inner * outer, 1), bias = numbers(outer, 2);
            const Affine layer(weights, bias, inner, outer);
            for (const std::size_t rows : {1u, 2u, 5u, 6u, 7u, 20u, 24u, 33u}) {
                const std::vector<float> x = numbers(rows * inner, 3);
                std::vector<float> out(rows * layer.stride());
                layer.apply(x.data(), inner, rows, out.data());
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t c = 0; c < outer; ++c) {
                        float sum = bias[c];
                        for (std::size_t k = 0; k < inner; ++k) sum += x[r * inner + k] * weights[k * outer + c];
                        CHECK(out[r * layer.stride() + c] == sum);
                    }
            }
        }
}

TEST(narrow_and_wide_vectors_give_the_same_bits) {
    const std::size_t inner = 29, outer = 48, rows = 59;
    const std::vector<float> panels = numbers(inner * outer, 4), x = numbers(rows * inner, 5);
    std::vector<float> narrow(rows * outer), chosen(rows * outer), wide(rows * outer), fresh = numbers(rows * outer, 8);
    multiply_all<FourFloats>(x.data(), inner, rows, panels.data(), inner, outer / kPanel, narrow.data(), outer);
    multiply_panels(x.data(), inner, rows, panels.data(), inner, outer / kPanel, chosen.data(), outer);
    CHECK(narrow == chosen);
    multiply_panels<true>(x.data(), inner, rows, panels.data(), inner, outer / kPanel, fresh.data(), outer);
    CHECK(narrow == fresh);
#if defined(__x86_64__) && defined(__GNUC__)
    if (!__builtin_cpu_supports("avx2")) return;
    multiply_wide<false>(x.data(), inner, rows, panels.data(), inner, outer / kPanel, wide.data(), outer);
    CHECK(narrow == wide);
#endif
}

TEST(a_layer_can_be_made_of_its_columns) {
    const std::size_t inner = 7, outer = 37;
    const std::vector<float> columns = numbers(inner * outer, 6);
    std::vector<float> weights(inner * outer);
    for (std::size_t k = 0; k < inner; ++k)
        for (std::size_t c = 0; c < outer; ++c) weights[k * outer + c] = columns[c * inner + k];
    const Affine layer(weights, {}, inner, outer);
    const Affine same(inner, outer, [&](std::size_t c) { return columns.data() + c * inner; });
    const std::vector<float> x = numbers(3 * inner, 7);
    std::vector<float> out(3 * layer.stride()), again(3 * same.stride());
    layer.apply(x.data(), inner, 3, out.data());
    same.apply(x.data(), inner, 3, again.data());
    CHECK(out == again);
}

TEST(exponentials_are_cut_off) {
    for (float x = -86.9f; x < 87.0f; x += 0.173f)
        CHECK(std::abs(fast_exp(x) / std::exp(static_cast<double>(x)) - 1.0) < 3e-7);
    CHECK(fast_exp(0.0f) == 1.0f);
    for (const float x : {88.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
        CHECK(fast_exp(x) == fast_exp(87.0f));
        CHECK(fast_exp(-x) == fast_exp(-87.0f));
    }
}

TEST(functions_of_elements) {
    for (float x = -20.0f; x <= 20.0f; x += 0.37f) {
        CHECK(std::abs(sigmoid(x) - 1.0 / (1.0 + std::exp(-static_cast<double>(x)))) < 1e-6);
        CHECK(std::abs(fast_tanh(x) - std::tanh(static_cast<double>(x))) < 1e-6);
    }
}

}  // namespace
