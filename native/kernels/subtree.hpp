// The subtree kernel: identical complete subtrees, each worth decay^(internal nodes).
//
// With distinct subtrees numbered once this is a sum of count products, one feature per distinct subtree.
#pragma once

#include <span>
#include <vector>

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "kernels/postings.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class SubtreeColumns {
  public:
    SubtreeColumns(const Arena& arena, const Bags&, double decay) : weight_(arena.size(), 1.0) {
        for (Node node = 0; node < arena.size(); ++node) {
            if (arena.is_leaf(node)) continue;
            double product = decay;
            for (const Node child : arena.children(node)) product *= weight_[child];
            weight_[node] = product;
        }
    }

    // For parts that lie in memory of others.
    SubtreeColumns() = default;
    template <class Visit>
    void parts(Visit& visit) {
        visit(weight_);
    }

    std::size_t feature_count() const { return weight_.size(); }
    Bags features(const Arena& arena, const Bags& bags) const {
        // A leaf by itself is no fragment.
        return map_bags(bags, arena.size(), [&](Node node) { return arena.is_leaf(node) ? kNone : node; });
    }
    // The same as an index, without making the features first.
    Postings postings(const Arena& arena, const Bags& bags, std::size_t threads = 1) const {
        return Postings(bags, arena.size(), [&](Node node) { return !arena.is_leaf(node); }, threads);
    }
    std::size_t positions() const { return 0; }
    const std::vector<std::uint32_t>& positions_of_nodes() const { return none_; }

    struct Prepared {};
    Prepared prepare(const ArenaMap&, const Bags&) const { return {}; }

    auto visitor(const ArenaMap& map, const Bags& rows, const Prepared&, const Control&) const {
        return [this, &map, &rows](std::size_t element, std::size_t, auto bulk, auto) {
            const auto numbers = rows.numbers_of(element);
            const auto counts = rows.counts_of(element);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                if (map.arena.is_leaf(numbers[k])) continue;
                if (const Node node = map.node(numbers[k]); node != kNone) bulk(node, weight_[node] * counts[k]);
            }
        };
    }

    // The same walk node by node: bulk(k, feature, weight) is about one occurrence of the k-th subtree of the element.
    auto node_visitor(const ArenaMap& map, const Bags& rows, const Control&) const {
        return [this, &map, &rows](std::size_t element, auto bulk, auto) {
            const auto numbers = rows.numbers_of(element);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                if (map.arena.is_leaf(numbers[k])) continue;
                if (const Node node = map.node(numbers[k]); node != kNone) bulk(k, node, weight_[node]);
            }
        };
    }

    // decay^(internal nodes) per distinct subtree.
    std::span<const double> weights() const { return weight_; }

  private:
    Array<double> weight_;
    std::vector<std::uint32_t> none_;
};

}  // namespace sapwood
