// Kernels against their definitions on random trees; models and diagonals against Gram matrices; extremes of shape.
#include "test/check.hpp"
#include "test/kernels.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

TEST(gram_matrices_agree_with_the_definition) {
    for (unsigned seed = 0; seed < 2; ++seed) {
        RandomTrees random(100 + seed);
        // More than one block of rows, so that the mirror image is tested too.
        const std::vector<Bag> elements = random.bags(18);
        Arena arena;
        // Numbers that no element uses must not matter.
        intern(random.bags(5), arena);
        const Bags bags = intern(elements, arena);
        for_every_kernel([&](const auto& kernel) {
            const std::vector<double> K = gram_of(kernel, arena, bags);
            for (std::size_t i = 0; i < elements.size(); ++i)
                for (std::size_t j = 0; j < elements.size(); ++j) {
                    CHECK(K[i * elements.size() + j] == K[j * elements.size() + i]);
                    if (i <= j) CHECK_CLOSE(K[i * elements.size() + j], kernel.slow(elements[i], elements[j]));
                }
        });
    }
}

TEST(rows_may_come_from_another_arena) {
    for (unsigned seed = 0; seed < 2; ++seed) {
        RandomTrees random(200 + seed);
        std::vector<Bag> columns = random.bags(18);
        // What is left of a row below if its unknown child is forgotten.
        columns.push_back({Plain{"S", {Plain{"NP", {}}}}});
        std::vector<Bag> rows = random.bags(9);
        // Labels, productions and subtrees that the columns have never seen, above and below what they have.
        rows.push_back({Plain{"unknown", {columns[0].empty() ? Plain{"A", {}} : columns[0][0]}}});
        rows.push_back({Plain{"S", {Plain{"unknown", {}}, Plain{"NP", {}}}}});
        rows.push_back(
            {Plain{"S", {Plain{"NP", {Plain{"unknown", {Plain{"NP", {Plain{"A", {}}}}}}}}, Plain{"VP", {}}}}});
        rows.push_back({});
        rows.push_back(columns[3]);
        Arena arena, other;
        intern(random.bags(4), other);
        const Bags column_bags = intern(columns, arena), row_bags = intern(rows, other);
        // A store that holds both: larger tables, but the same values.
        Arena both = arena;
        const Bags same = intern(rows, both);
        for_every_kernel([&](const auto& kernel) {
            const std::vector<double> K = gram_of(kernel, other, row_bags, arena, column_bags);
            const std::vector<double> shared = gram_of(kernel, both, same, both, column_bags);
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    CHECK_CLOSE(K[i * columns.size() + j], kernel.slow(rows[i], columns[j]));
                    CHECK_CLOSE(shared[i * columns.size() + j], K[i * columns.size() + j]);
                }
        });
    }
}

TEST(models_are_weighted_sums_of_columns) {
    RandomTrees random(300);
    const std::vector<Bag> support = random.bags(20), rows = random.bags(19);
    Arena arena, other;
    const Bags support_bags = intern(support, arena), row_bags = intern(rows, other);
    Arena both = arena;
    const Bags own_rows = intern(rows, both);
    for (const std::size_t outputs : {1, 3}) {
        std::vector<double> weights(support.size() * outputs);
        for (double& weight : weights) weight = random.real();
        for_every_kernel([&](const auto& kernel) {
            const std::vector<double> K = gram_of(kernel, other, row_bags, arena, support_bags);
            const Model model(kernel(arena, support_bags), arena, support_bags, weights.data(), outputs);
            CHECK(model.outputs() == outputs);
            const Model shared(kernel(both, support_bags), both, support_bags, weights.data(), outputs);
            std::vector<double> found(rows.size() * outputs, -1.0), own(found), twice(found);
            Control control;
            model.evaluate(other, row_bags, found.data(), 1, control);
            shared.evaluate(both, own_rows, own.data(), 1, control);
            model.evaluate(other, row_bags, twice.data(), 2, control);
            CHECK(found == twice);
            for (std::size_t i = 0; i < rows.size(); ++i)
                for (std::size_t o = 0; o < outputs; ++o) {
                    double expected = 0.0, scale = 0.0;
                    for (std::size_t k = 0; k < support.size(); ++k) {
                        expected += K[i * support.size() + k] * weights[k * outputs + o];
                        scale += K[i * support.size() + k] * std::abs(weights[k * outputs + o]);
                    }
                    CHECK(std::abs(found[i * outputs + o] - expected) <= 1e-11 * std::max(1.0, scale));
                    CHECK(std::abs(own[i * outputs + o] - expected) <= 1e-11 * std::max(1.0, scale));
                }
        });
    }
}

TEST(diagonals_are_those_of_the_gram_matrix) {
    RandomTrees random(400);
    Arena arena;
    const Bags bags = intern(random.bags(40), arena);
    for_every_kernel([&](const auto& kernel) {
        const std::vector<double> K = gram_of(kernel, arena, bags);
        std::vector<double> one(bags.size(), -1.0), two(bags.size(), -1.0);
        Control control;
        diagonal(arena, bags, one.data(), 1, control, kernel);
        diagonal(arena, bags, two.data(), 2, control, kernel);
        CHECK(one == two);
        for (std::size_t i = 0; i < bags.size(); ++i) CHECK_CLOSE(one[i], K[i * bags.size() + i]);
    });
}

TEST(nothing_gives_nothing) {
    Arena arena, none;
    const Bags empty = intern(std::vector<Bag>{}, arena), hollow = intern(std::vector<Bag>{{}, {}}, arena);
    const Bags some = intern(std::vector<Bag>{{Plain{"A", {}}}, {Plain{"A", {Plain{"b", {}}}}}}, arena);
    for_each_kind([&](const auto& kernel) {
        CHECK(gram_of(kernel, arena, empty).empty());
        CHECK(gram_of(kernel, arena, hollow) == std::vector<double>(4, 0.0));
        CHECK(gram_of(kernel, arena, some, arena, empty).empty());
        CHECK(gram_of(kernel, arena, hollow, arena, some) == std::vector<double>(4, 0.0));
        CHECK(gram_of(kernel, arena, some, arena, hollow) == std::vector<double>(4, 0.0));
        CHECK(gram_of(kernel, none, Bags{}, arena, some).empty());
        CHECK(gram_of(kernel, arena, some, none, Bags{}).empty());
        Control control;
        const Model model(kernel(none, Bags{}), none, Bags{}, nullptr, 2);
        std::vector<double> out(4, -1.0);
        model.evaluate(arena, some, out.data(), 1, control);
        CHECK(out == std::vector<double>(4, 0.0));
    });
}

Plain broad(std::size_t width, RandomTrees& random) {
    static const char* const kLabels[] = {"A", "B", "C"};
    Plain tree{"S", {}};
    for (std::size_t i = 0; i < width; ++i) {
        Plain kid{kLabels[random.below(3)], {}};
        if (random.below(3) > 0) kid.kids.push_back(Plain{kLabels[random.below(3)], {}});
        tree.kids.push_back(kid);
    }
    return tree;
}

TEST(wide_nodes_agree_with_the_definition) {
    // Around the widths at which the partial-tree kernel changes its method.
    RandomTrees random(500);
    std::vector<Bag> elements;
    for (const std::size_t width : {3, 7, 8, 12, 22, 63, 66}) elements.push_back({broad(width, random)});
    Arena arena;
    const Bags bags = intern(elements, arena);
    // Long sequences must not count beyond what a double can add up, hence the steep decays.
    for (const std::size_t longest : {0, 1, 3}) {
        const PartialKernel kernel{{0.3, 0.2, longest, true, 1.0}};
        const std::vector<double> K = gram_of(kernel, arena, bags);
        for (std::size_t i = 0; i < elements.size(); ++i)
            for (std::size_t j = i; j < elements.size(); ++j) {
                if (longest == 0 && j > 4) continue;  // the definition would take too long
                CHECK_CLOSE(K[i * elements.size() + j], kernel.slow(elements[i], elements[j]));
            }
    }
    for_each_kind([&](const auto& kernel) {
        const std::vector<double> K = gram_of(kernel, arena, bags);
        for (const double value : K) CHECK(std::isfinite(value));
    });
}

TEST(depth_has_no_limit) {
    constexpr std::size_t kDepth = 100000;
    Arena arena;
    // One chain with a label per level, which has one match per level with itself, and one of a single label.
    Node varied = arena.leaf(arena.symbols.intern("w")), uniform = varied;
    for (std::size_t i = 0; i < kDepth; ++i) {
        varied = arena.node(arena.symbols.intern(std::to_string(i) + "X"), std::span<const Node>(&varied, 1));
        uniform = arena.node(arena.symbols.intern("Y"), std::span<const Node>(&uniform, 1));
    }
    const Bags chain = make_bags(arena, std::span(&varied, 1), {}, true);
    const Bags same = make_bags(arena, std::span(&uniform, 1), {}, true);
    Arena small;
    const Bags few = intern(std::vector<Bag>{{Plain{"Y", {Plain{"Y", {Plain{"w", {}}}}}}}, {Plain{"Q", {}}}}, small);
    for_each_kind([&](const auto& kernel) {
        const double value = gram_of(kernel, arena, chain)[0];
        CHECK(std::isfinite(value) && value > 0.0);
        double diagonal_value = -1.0;
        Control control;
        diagonal(arena, chain, &diagonal_value, 1, control, kernel);
        CHECK_CLOSE(diagonal_value, value);
        const std::vector<double> rows = gram_of(kernel, arena, same, small, few);
        const std::vector<double> columns = gram_of(kernel, small, few, arena, same);
        CHECK(rows[0] > 0.0 && rows[1] == 0.0);
        CHECK_CLOSE(rows[0], columns[0]);
        const double weight = 0.5;
        const Model model(kernel(arena, same), arena, same, &weight, 1);
        double out[2] = {-1.0, -1.0};
        model.evaluate(small, few, out, 1, control);
        CHECK_CLOSE(out[0], 0.5 * rows[0]);
        CHECK(out[1] == 0.0);
    });
    // By hand: each of the n levels starts a fragment of every height up to its own.
    const double decay = 0.4;
    double delta = 0.0, total = 0.0;
    for (std::size_t i = 0; i < kDepth; ++i) total += delta = decay * (1.0 + delta);
    CHECK_CLOSE(gram_of(SubsetKernel{{decay, false, 0}}, arena, chain)[0], total);
}

TEST(width_has_no_limit) {
    constexpr std::size_t kWidth = 100000;
    Arena arena;
    std::vector<Node> leaves, inner;
    const Node w = arena.leaf(arena.symbols.intern("w"));
    for (std::size_t i = 0; i < kWidth; ++i) {
        leaves.push_back(arena.leaf(arena.symbols.intern(std::to_string(i) + "w")));
        inner.push_back(arena.node(arena.symbols.intern(std::to_string(i % 7) + "N"), std::span<const Node>(&w, 1)));
    }
    const Node roots[] = {arena.node(arena.symbols.intern("S"), leaves), arena.node(arena.symbols.intern("S"), inner)};
    const Bags wide = make_bags(arena, roots, {}, true);
    Arena small;
    const Bags few = intern(std::vector<Bag>{{Plain{"S", {Plain{"3N", {Plain{"w", {}}}}, Plain{"5w", {}}}}}}, small);
    for_each_kind([&](const auto& kernel) {
        const std::vector<double> rows = gram_of(kernel, arena, wide, small, few);
        const std::vector<double> columns = gram_of(kernel, small, few, arena, wide);
        for (std::size_t i = 0; i < 2; ++i) CHECK_CLOSE(rows[i], columns[i]);
    });
    const SubtreeKernel subtree{0.4};
    CHECK_CLOSE(gram_of(subtree, arena, wide)[0], 0.4);
    // A product of 100,000 factors overflows to infinity, which the caller reports; it must not become NaN.
    const std::vector<double> K = gram_of(SubsetKernel{{0.4, false, 0}}, arena, wide);
    CHECK_CLOSE(K[0], 0.4);
    CHECK(std::isinf(K[3]) && K[3] > 0.0);
}

}  // namespace
