// Products of matrices: the same bits as one multiplication after the other, whatever rows stand beside a row.
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
            for (const std::size_t rows : {1u, 2u, 5u, 6u, 7u, 20u}) {
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
    const std::size_t inner = 29, outer = 48, rows = 11;
    const std::vector<float> panels = numbers(inner * outer, 4), x = numbers(rows * inner, 5);
    std::vector<float> narrow(rows * outer), chosen(rows * outer);
    multiply_all<FourFloats>(x.data(), inner, rows, panels.data(), inner, outer / kPanel, narrow.data(), outer);
    multiply_panels(x.data(), inner, rows, panels.data(), inner, outer / kPanel, chosen.data(), outer);
    CHECK(narrow == chosen);
}

TEST(functions_of_elements) {
    for (float x = -20.0f; x <= 20.0f; x += 0.37f) {
        CHECK(std::abs(sigmoid(x) - 1.0 / (1.0 + std::exp(-static_cast<double>(x)))) < 1e-6);
        CHECK(std::abs(fast_tanh(x) - std::tanh(static_cast<double>(x))) < 1e-6);
    }
}

}  // namespace
