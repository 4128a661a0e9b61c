// Loops over numbers, which choose their vectors at run time, beside loops over one number after the other.
#include "core/vectorized.hpp"
#include "kernels/postings.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

double number(std::size_t k) { return 1.0 / static_cast<double>(3 + k * k % 1009); }

TEST(counts_are_added_with_the_same_bits_by_all_vectors) {
    for (const std::size_t size : {0u, 1u, 7u, 8u, 9u, 64u, 100u}) {
        std::vector<double> plain(size);
        std::vector<std::uint8_t> column(size);
        for (std::size_t k = 0; k < size; ++k) {
            plain[k] = number(k);
            column[k] = static_cast<std::uint8_t>(k % 3 == 0 ? 255 - k : k);
        }
        std::vector<double> chosen = plain, wide = plain;
        add_counts_plain(plain.data(), column.data(), 0.3, size);
        add_counts(chosen.data(), column.data(), 0.3, size);
        CHECK(chosen == plain);
#if defined(__x86_64__) && defined(__GNUC__)
        if (!__builtin_cpu_supports("avx2")) continue;
        add_counts_wide(wide.data(), column.data(), 0.3, size);
        CHECK(wide == plain);
#endif
    }
}

TEST(columns_are_written_where_they_belong) {
    const std::size_t stride = 40, width = 53;
    std::vector<double> rows(17 * stride);
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = number(k);
    for (const std::size_t count : {1u, 7u, 8u, 11u, 16u, 17u}) {
        std::vector<double> out(stride * width, -1.0);
        write_columns(rows.data(), stride, count, out.data(), width, 5, 33);
        for (std::size_t j = 0; j < stride; ++j)
            for (std::size_t i = 0; i < width; ++i)
                CHECK(out[j * width + i] == (i < count && j >= 5 && j < 33 ? rows[i * stride + j] : -1.0));
    }
}

// Features that all elements hold, with counts that fit into a byte, just do not, and are no whole numbers; one that
// few hold; one that none holds.
TEST(postings_add_any_counts) {
    const std::size_t elements = 333, features = 7;
    const double most[] = {1.0, 255.0, 256.0, 0.5, 1e300, -2.0};
    Bags bags;
    std::vector<std::vector<double>> expected(features, std::vector<double>(elements, 0.0));
    for (std::size_t i = 0; i < elements; ++i) {
        for (std::uint32_t f = 0; f < 6; ++f) {
            const double count = i % 5 == 0 ? most[f] : 1.0;
            bags.numbers.push_back(f);
            bags.counts.push_back(count);
            expected[f][i] = count;
        }
        if (i % 100 == 7) {
            bags.numbers.push_back(6);
            bags.counts.push_back(3.0);
            expected[6][i] = 3.0;
        }
        bags.ends.push_back(bags.numbers.size());
    }
    for (const std::size_t threads : {1, 3}) {
        const Postings postings(bags, features + 1, [](std::uint32_t) { return true; }, threads);
        for (std::uint32_t f = 0; f < features; ++f)
            for (const std::size_t first : {0u, 1u, 8u, 107u, 332u}) {
                std::vector<double> out(elements, 0.125);
                postings.add(f, 0.7, first, out.data());
                for (std::size_t i = first; i < elements; ++i) CHECK(out[i] == 0.125 + 0.7 * expected[f][i]);
            }
        std::vector<double> out(elements, 0.125);
        postings.add(features, 0.7, 0, out.data());
        postings.add(features + 100, 0.7, 0, out.data());
        CHECK(std::count(out.begin(), out.end(), 0.125) == static_cast<std::ptrdiff_t>(elements));
    }
}

}  // namespace
