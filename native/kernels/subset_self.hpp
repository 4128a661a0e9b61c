// The subset-tree kernel of an element with itself, directly on the pairs of its own nodes.
//
// Normalising needs this value for every tree that is compared or classified. Preparing columns for a single tree would
// cost many times what its few pairs of nodes with equal productions do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/subset.hpp"
#include "trees/arena.hpp"

namespace sapwood {

class SubsetSelf {
  public:
    SubsetSelf(const Arena& arena, const SubsetOptions& options)
        : arena_(arena), options_(options), place_(arena.size(), Place{kNone, 0, 0}) {}

    // False if the element is too large for this method, or fragments are limited in height.
    bool operator()(std::span<const Node> nodes, std::span<const double> counts, double& value) {
        if (options_.height_limit != 0) return false;
        sorted_.clear();
        for (std::size_t k = 0; k < nodes.size(); ++k)
            if (!arena_.is_leaf(nodes[k]))
                sorted_.push_back(
                    {arena_.production_of(nodes[k]), static_cast<std::uint32_t>(k), has_internal_child(nodes[k])});
        // Active subtrees first within a production, in ascending order of their numbers.
        std::sort(sorted_.begin(), sorted_.end(), [](const Item& a, const Item& b) {
            if (a.production != b.production) return a.production < b.production;
            return a.active != b.active ? a.active : a.index < b.index;
        });
        value = 0.0;
        std::size_t pairs = 0;
        active_.clear();
        for (std::size_t begin = 0, end; begin < sorted_.size(); begin = end) {
            double total = 0.0;
            std::uint32_t size = 0;
            for (end = begin; end < sorted_.size() && sorted_[end].production == sorted_[begin].production; ++end) {
                total += counts[sorted_[end].index];
                size += sorted_[end].active;
            }
            value += options_.decay * total * total;
            for (std::uint32_t i = 0; i < size; ++i) {
                const std::uint32_t index = sorted_[begin + i].index;
                place_[nodes[index]] = {i, static_cast<std::uint32_t>(begin), pairs};
                active_.push_back(index);
            }
            pairs += std::size_t{size} * size;
        }
        const bool small = pairs <= kLimit;
        if (small) add_active(nodes, counts, pairs, value);
        for (const std::uint32_t index : active_) place_[nodes[index]].rank = kNone;
        if (small && options_.bag_of_words)
            for (std::size_t k = 0; k < nodes.size(); ++k)
                if (arena_.is_leaf(nodes[k])) value += options_.decay * counts[k] * counts[k];
        return small;
    }

  private:
    static constexpr std::size_t kLimit = 1 << 20;

    struct Item {
        Production production;
        std::uint32_t index;
        bool active;
    };
    struct Place {
        std::uint32_t rank;   // among the active subtrees of its production; kNone: not an active one of this element
        std::uint32_t first;  // where its production starts in sorted_
        std::size_t table;    // where the values of its production start; rank by rank
    };

    bool has_internal_child(Node node) const {
        for (const Node child : arena_.children(node))
            if (!arena_.is_leaf(child)) return true;
        return false;
    }

    void add_active(std::span<const Node> nodes, std::span<const double> counts, std::size_t pairs, double& value) {
        if (table_.size() < pairs) table_.resize(pairs);
        // Children have smaller numbers, so their pairs come before those of their parents.
        std::sort(active_.begin(), active_.end());
        for (const std::uint32_t index : active_) {
            const Node node = nodes[index];
            const Place place = place_[node];
            // Rows of the table are as long as the production has active subtrees up to and including this one.
            for (std::uint32_t rank = 0; rank <= place.rank; ++rank) {
                const std::uint32_t other_index = sorted_[place.first + rank].index;
                const double delta = product(node, nodes[other_index]);
                table_[place.table + triangle(place.rank, rank)] = delta;
                const double weight = (rank == place.rank ? 1.0 : 2.0) * counts[index] * counts[other_index];
                value += weight * (delta - options_.decay);
            }
        }
    }

    static std::size_t triangle(std::size_t high, std::size_t low) { return high * (high + 1) / 2 + low; }

    double product(Node a, Node b) const {
        const auto left = arena_.children(a), right = arena_.children(b);
        double result = options_.decay;
        for (std::size_t k = 0; k < left.size(); ++k) {
            const Node x = left[k], y = right[k];
            if (arena_.is_leaf(x) || arena_.is_leaf(y) || arena_.production_of(x) != arena_.production_of(y)) continue;
            const Place& p = place_[x];
            const Place& q = place_[y];
            const double below = p.rank == kNone || q.rank == kNone
                                     ? options_.decay
                                     : table_[p.table + triangle(std::max(p.rank, q.rank), std::min(p.rank, q.rank))];
            result *= 1.0 + below;
        }
        return result;
    }

    const Arena& arena_;
    SubsetOptions options_;
    std::vector<Place> place_;
    std::vector<Item> sorted_;
    std::vector<std::uint32_t> active_;
    std::vector<double> table_;
};

}  // namespace sapwood
