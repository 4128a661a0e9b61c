// Slow twins: trees as plain nested values, and the kernels on them as their definitions read.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/partial.hpp"
#include "kernels/subset.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood::test {

struct Plain {
    std::string label;
    std::vector<Plain> kids;

    bool is_leaf() const { return kids.empty(); }
};

inline bool operator==(const Plain& a, const Plain& b) { return a.label == b.label && a.kids == b.kids; }

// An element of an array: a bag of trees.
using Bag = std::vector<Plain>;

inline Node intern(const Plain& tree, Arena& arena) {
    std::vector<Node> kids;
    for (const Plain& kid : tree.kids) kids.push_back(intern(kid, arena));
    return arena.node(arena.symbols.intern(tree.label), kids);
}

inline Plain restore(const Arena& arena, Node node) {
    Plain tree{std::string(arena.symbols.text(arena.label(node))), {}};
    for (const Node child : arena.children(node)) tree.kids.push_back(restore(arena, child));
    return tree;
}

inline Bags intern(const std::vector<Bag>& elements, Arena& arena) {
    std::vector<Node> roots;
    std::vector<std::uint64_t> ends;
    for (const Bag& bag : elements) {
        for (const Plain& tree : bag) roots.push_back(intern(tree, arena));
        ends.push_back(roots.size());
    }
    return make_bags(arena, roots, ends, false);
}

// Few labels, which leaves and internal nodes share, so that much matches.
class RandomTrees {
  public:
    explicit RandomTrees(unsigned seed) : draw_(seed) {}

    std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(draw_); }
    double real() { return std::uniform_real_distribution<double>(-1.0, 1.0)(draw_); }

    Plain tree(std::size_t depth = 4, std::size_t width = 4) {
        static const char* const kLabels[] = {"A", "B", "C", "S", "NP", "VP"};
        Plain result{kLabels[below(std::size(kLabels))], {}};
        if (depth == 0 || below(4) == 0) return result;
        // Often a copy of what was seen before: shared subtrees are what the arena is for.
        for (std::size_t k = 1 + below(width); k > 0; --k) {
            if (!seen_.empty() && below(3) == 0) {
                const Plain& old = seen_[below(seen_.size())];
                if (height(old) < depth) {
                    result.kids.push_back(old);
                    continue;
                }
            }
            result.kids.push_back(tree(depth - 1, width));
        }
        if (seen_.size() < 30) seen_.push_back(result);
        return result;
    }

    Bag bag() {
        Bag result;
        for (std::size_t k = below(4) == 0 ? below(4) : 1; k > 0; --k) result.push_back(tree());
        return result;
    }

    std::vector<Bag> bags(std::size_t count) {
        std::vector<Bag> result;
        for (std::size_t i = 0; i < count; ++i) result.push_back(bag());
        return result;
    }

  private:
    static std::size_t height(const Plain& tree) {
        std::size_t most = 0;
        for (const Plain& kid : tree.kids) most = std::max(most, 1 + height(kid));
        return most;
    }

    std::mt19937 draw_;
    std::vector<Plain> seen_;
};

inline void collect(const Plain& tree, std::vector<const Plain*>& out) {
    out.push_back(&tree);
    for (const Plain& kid : tree.kids) collect(kid, out);
}

inline bool same_production(const Plain& a, const Plain& b) {
    if (a.is_leaf() || b.is_leaf() || a.label != b.label || a.kids.size() != b.kids.size()) return false;
    for (std::size_t i = 0; i < a.kids.size(); ++i)
        if (a.kids[i].label != b.kids[i].label) return false;
    return true;
}

inline double subtree_delta(const Plain& a, const Plain& b, double decay) {
    if (a.is_leaf() || !(a == b)) return 0.0;
    double value = decay;
    for (const Plain& kid : a.kids)
        if (!kid.is_leaf()) value *= subtree_delta(kid, kid, decay);
    return value;
}

// `height` is what is left of the limit; negative: no limit.
inline double subset_delta(const Plain& a, const Plain& b, double decay, long height) {
    if (height == 0 || !same_production(a, b)) return 0.0;
    double value = decay;
    for (std::size_t i = 0; i < a.kids.size(); ++i)
        value *= 1.0 + subset_delta(a.kids[i], b.kids[i], decay, height - 1);
    return value;
}

inline double partial_delta(const Plain& a, const Plain& b, const PartialOptions& options) {
    const double bare = options.depth_decay * options.decay * options.decay;
    if (a.label != b.label) return 0.0;
    if (a.is_leaf() || b.is_leaf()) {
        if (!options.leaves) return 0.0;
        return bare * (a.is_leaf() && b.is_leaf() ? options.terminal_factor : 1.0);
    }
    const std::size_t n = a.kids.size(), m = b.kids.size();
    std::vector<double> delta(n * m);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) delta[i * m + j] = partial_delta(a.kids[i], b.kids[j], options);
    // ending[i, j]: sequences of the present length whose last pair is (i, j).
    std::vector<double> ending = delta;
    std::vector<double> power(n + m, 1.0);
    for (std::size_t gaps = 1; gaps < n + m; ++gaps) power[gaps] = power[gaps - 1] * options.decay;
    double total = 0.0;
    const std::size_t longest = std::min(n, m), limit = options.max_subsequence;
    for (std::size_t length = 1; length <= (limit == 0 ? longest : std::min(limit, longest)); ++length) {
        for (const double value : ending) total += value;
        std::vector<double> longer(n * m, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t p = 0; delta[i * m + j] != 0.0 && p < i; ++p)
                    for (std::size_t q = 0; q < j; ++q)
                        longer[i * m + j] += delta[i * m + j] * ending[p * m + q] * power[i - p - 1 + j - q - 1];
        ending.swap(longer);
    }
    return options.depth_decay * (options.decay * options.decay + total);
}

// Sums a function of two nodes over all pairs of nodes of two bags.
template <class Delta>
double sum_pairs(const Bag& a, const Bag& b, Delta delta) {
    std::vector<const Plain*> left, right;
    for (const Plain& tree : a) collect(tree, left);
    for (const Plain& tree : b) collect(tree, right);
    double total = 0.0;
    for (const Plain* x : left)
        for (const Plain* y : right) total += delta(*x, *y);
    return total;
}

}  // namespace sapwood::test
