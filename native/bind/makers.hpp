// The syntactic kernels as the bindings know them: parameters, and what is made of them for some trees.
#pragma once

#include <cstddef>

#include "kernels/elementwise.hpp"
#include "kernels/partial.hpp"
#include "kernels/scorers.hpp"
#include "kernels/subset.hpp"
#include "kernels/subset_self.hpp"
#include "kernels/subtree.hpp"
#include "kernels/subtree_index.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

// Makers of columns: what is left of a kernel once its parameters are known. Those that gain by it use several threads.
struct SubtreeMaker {
    double decay;
    auto operator()(const Arena& arena, const Bags& bags, std::size_t = 1) const {
        return SubtreeColumns(arena, bags, decay);
    }
    SubtreeColumns empty() const { return {}; }
    auto shortcut(const Arena& arena) const { return WithItself(pairs(arena)); }
    SubtreePairs pairs(const Arena& arena) const { return SubtreePairs(arena, decay); }
    SubtreeIndex scorer(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs) const {
        return SubtreeIndex(arena, bags, weights, outputs, decay);
    }
};
struct SubsetMaker {
    SubsetOptions options;
    auto operator()(const Arena& arena, const Bags& bags, std::size_t threads = 1) const {
        return SubsetColumns(arena, bags, options, threads);
    }
    SubsetColumns empty() const { return SubsetColumns(options); }
    SubsetSelf shortcut(const Arena& arena) const { return SubsetSelf(arena, options); }
    SubsetPairs pairs(const Arena& arena) const { return SubsetPairs(arena, options); }
    SubsetScorer scorer(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs) const {
        return SubsetScorer(arena, bags, weights, outputs, options);
    }
};
struct PartialMaker {
    PartialOptions options;
    auto operator()(const Arena& arena, const Bags& bags, std::size_t = 1) const {
        return PartialColumns(arena, bags, options);
    }
    PartialColumns empty() const { return PartialColumns(options); }
    auto shortcut(const Arena& arena) const { return WithItself(pairs(arena)); }
    PartialPairs pairs(const Arena& arena) const { return PartialPairs(arena, options); }
    PartialScorer scorer(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs) const {
        return PartialScorer(arena, bags, weights, outputs, options);
    }
};

}  // namespace sapwood::bind
