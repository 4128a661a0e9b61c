// The three kernels as one kind of thing, so that each test can say "for every kernel": how to make columns, and the
// value by definition.
#pragma once

#include <string>

#include "kernels/diagonal.hpp"
#include "kernels/gram.hpp"
#include "kernels/model.hpp"
#include "kernels/partial.hpp"
#include "kernels/subset.hpp"
#include "kernels/subset_self.hpp"
#include "kernels/subtree.hpp"
#include "test/plain.hpp"

namespace sapwood::test {

struct SubtreeKernel {
    double decay;
    auto operator()(const Arena& arena, const Bags& bags) const { return SubtreeColumns(arena, bags, decay); }
    double slow(const Bag& a, const Bag& b) const {
        return sum_pairs(a, b, [&](const Plain& x, const Plain& y) { return subtree_delta(x, y, decay); });
    }
};

struct SubsetKernel {
    SubsetOptions options;
    auto operator()(const Arena& arena, const Bags& bags) const { return SubsetColumns(arena, bags, options); }
    SubsetSelf shortcut(const Arena& arena) const { return SubsetSelf(arena, options); }
    double slow(const Bag& a, const Bag& b) const {
        const long height = options.height_limit == 0 ? -1 : static_cast<long>(options.height_limit);
        return sum_pairs(a, b, [&](const Plain& x, const Plain& y) {
            if (x.is_leaf() && y.is_leaf()) return options.bag_of_words && x.label == y.label ? options.decay : 0.0;
            return subset_delta(x, y, options.decay, height);
        });
    }
};

struct PartialKernel {
    PartialOptions options;
    auto operator()(const Arena& arena, const Bags& bags) const { return PartialColumns(arena, bags, options); }
    double slow(const Bag& a, const Bag& b) const {
        return sum_pairs(a, b, [&](const Plain& x, const Plain& y) { return partial_delta(x, y, options); });
    }
};

// Calls test(kernel) with parameters that reach every branch.
template <class Test>
void for_every_kernel(Test test) {
    for (const double decay : {0.4, 1.0}) {
        test(SubtreeKernel{decay});
        for (const bool words : {false, true})
            for (const std::size_t height : {0, 1, 2, 3, 9}) test(SubsetKernel{{decay, words, height}});
        for (const std::size_t longest : {0, 1, 2, 3})
            for (const bool leaves : {true, false})
                test(PartialKernel{{decay, 0.3, longest, leaves, longest == 2 ? 0.5 : 1.0}});
    }
}

// One of each kind.
template <class Test>
void for_each_kind(Test test) {
    test(SubtreeKernel{0.4});
    test(SubsetKernel{{0.4, true, 0}});
    test(SubsetKernel{{0.4, false, 3}});
    test(PartialKernel{{0.4, 0.4, 0, true, 1.0}});
    test(PartialKernel{{0.4, 0.4, 2, true, 1.0}});
}

template <class Kernel>
std::vector<double> gram_of(const Kernel& kernel, const Arena& arena, const Bags& bags, std::size_t threads = 1) {
    Control control;
    std::vector<double> out(bags.size() * bags.size(), -1.0);
    const ArenaMap map(arena, arena, bags);
    gram(kernel(arena, bags), arena, bags, map, bags, true, out.data(), threads, control);
    return out;
}

template <class Kernel>
std::vector<double> gram_of(const Kernel& kernel, const Arena& row_arena, const Bags& rows, const Arena& arena,
                            const Bags& bags, std::size_t threads = 1) {
    Control control;
    std::vector<double> out(rows.size() * bags.size(), -1.0);
    const ArenaMap map(row_arena, arena, rows);
    gram(kernel(arena, bags), arena, bags, map, rows, false, out.data(), threads, control);
    return out;
}

}  // namespace sapwood::test
