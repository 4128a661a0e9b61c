// Upper bounds of normalized tree kernels, from one short vector per tree.
//
// The kernels are sums over pairs of nodes of the same group: nodes of one production, label or subtree, as the kernel
// has it. The part of a group is a kernel by itself, so by Cauchy and Schwarz it is at most the product of the norms of
// both sides in that group. With the norms divided by the norm of the whole tree,
//
//     k(x, y) <= sum over groups of u_x(g) * u_y(g),
//
// where u_x is a vector of length 1 whose entries are never negative. Two trees can be similar only if these vectors
// are, and which vectors can be is what an index of the rarest groups says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/partial.hpp"
#include "kernels/subset.hpp"
#include "kernels/subtree.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// The group of a row's node among those of the columns; kNone for one that no column has.
inline std::uint32_t group_of(const SubtreeColumns&, const ArenaMap& map, Node node) {
    return map.arena.is_leaf(node) ? kNone : map.node(node);
}
inline std::uint32_t group_of(const SubsetColumns& columns, const ArenaMap& map, Node node) {
    if (!map.arena.is_leaf(node)) return map.productions[node];
    if (!columns.options().bag_of_words || map.labels[node] == kNone) return kNone;
    return static_cast<std::uint32_t>(columns.production_count() + map.labels[node]);
}
inline std::uint32_t group_of(const PartialColumns&, const ArenaMap& map, Node node) { return map.labels[node]; }

// Sparse vectors, one per element. An element that is too large to be described has none, and no bound.
struct GroupVectors {
    Array<std::size_t> ends;
    Array<std::uint32_t> groups;
    Array<float> weights;
    Array<std::uint32_t> undescribed;  // ascending

    template <class Visit>
    void parts(Visit& visit) {
        visit(ends);
        visit(groups);
        visit(weights);
        visit(undescribed);
    }

    std::size_t size() const { return ends.size(); }
    std::size_t begin(std::size_t element) const { return element == 0 ? 0 : ends[element - 1]; }
    std::span<const std::uint32_t> groups_of(std::size_t element) const {
        return {groups.data() + begin(element), ends[element] - begin(element)};
    }
    std::span<const float> weights_of(std::size_t element) const {
        return {weights.data() + begin(element), ends[element] - begin(element)};
    }
    std::size_t bytes() const { return groups.size() * 8 + ends.size() * 8; }
};

// Describes elements one after the other. `pairs` compares nodes of the rows' own arena.
template <class Columns, class Pairs>
class GroupDescriber {
  public:
    GroupDescriber(const Columns& columns, const ArenaMap& map, Pairs pairs)
        : columns_(columns), map_(map), pairs_(std::move(pairs)) {}

    // `scale` is what normalization multiplies by.
    void add(Element element, double scale, GroupVectors& out) {
        amounts_.clear();
        const bool small = pairs_.by_node(element, element, [&](Node node, double amount) {
            amounts_.push_back({group_of(columns_, map_, node), amount});
        });
        if (!small) out.undescribed.push_back(static_cast<std::uint32_t>(out.size()));
        std::sort(amounts_.begin(), amounts_.end(), [](const Amount& a, const Amount& b) { return a.group < b.group; });
        for (std::size_t first = 0, last; small && first < amounts_.size(); first = last) {
            double total = 0.0;
            for (last = first; last < amounts_.size() && amounts_[last].group == amounts_[first].group; ++last)
                total += amounts_[last].amount;
            if (amounts_[first].group == kNone || !(total > 0.0)) continue;
            // Rounded up, so that what is derived from it stays a bound.
            const auto weight = static_cast<float>(std::sqrt(total) * scale);
            out.groups.push_back(amounts_[first].group);
            out.weights.push_back(std::nextafter(weight, std::numeric_limits<float>::infinity()));
        }
        out.ends.push_back(out.groups.size());
    }

  private:
    struct Amount {
        std::uint32_t group;
        double amount;
    };
    const Columns& columns_;
    const ArenaMap& map_;
    Pairs pairs_;
    std::vector<Amount> amounts_;
};

// Which elements have a group, and with what weight.
class GroupIndex {
  public:
    // For parts that lie in memory of others.
    GroupIndex() = default;
    template <class Visit>
    void parts(Visit& visit) {
        vectors_.parts(visit);
        visit(begin_);
        visit(entries_);
    }

    GroupIndex(GroupVectors vectors, std::size_t groups) : vectors_(std::move(vectors)), begin_(groups + 1, 0) {
        for (const std::uint32_t group : vectors_.groups) ++begin_[group + 1];
        for (std::size_t g = 0; g < groups; ++g) begin_[g + 1] += begin_[g];
        entries_.resize(vectors_.groups.size());
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (std::size_t i = 0; i < vectors_.size(); ++i) {
            const auto groups_here = vectors_.groups_of(i);
            const auto weights = vectors_.weights_of(i);
            for (std::size_t k = 0; k < groups_here.size(); ++k)
                entries_[next[groups_here[k]]++] = {static_cast<std::uint32_t>(i), weights[k]};
        }
    }

    struct Entry {
        std::uint32_t element;
        float weight;
    };

    const GroupVectors& vectors() const { return vectors_; }
    std::size_t groups() const { return begin_.size() - 1; }
    // By ascending element.
    std::span<const Entry> entries(std::uint32_t group) const {
        return {entries_.data() + begin_[group], begin_[group + 1] - begin_[group]};
    }
    std::size_t bytes() const { return vectors_.bytes() + entries_.size() * sizeof(Entry) + begin_.size() * 8; }

  private:
    GroupVectors vectors_;
    Array<std::size_t> begin_;
    Array<Entry> entries_;
};

// Finds the elements whose bound with a vector reaches a threshold.
class GroupSearch {
  public:
    explicit GroupSearch(const GroupIndex& index)
        : index_(index), weight_(index.groups(), 0.0f), bound_(index.vectors().size(), 0.0) {}

    // Calls found(element, bound) for all elements before `end` whose bound is at least `least`, undescribed ones left
    // out. False, with nothing found, if more than `most` entries would have to be read for it.
    template <class Found>
    bool find(std::span<const std::uint32_t> groups, std::span<const float> weights, double least, std::size_t end,
              std::size_t most, Found found) {
        const double floor = least - kSlack;
        order_.clear();
        double rest = 0.0;  // the square of what the groups that are left can add
        for (std::uint32_t k = 0; k < groups.size(); ++k) {
            const std::size_t length = index_.entries(groups[k]).size();
            const double square = static_cast<double>(weights[k]) * weights[k];
            rest += square;
            if (length > 0) order_.push_back({square / static_cast<double>(length), k});
        }
        // An element without any of the groups that are read has at most the root of the rest.
        std::sort(order_.begin(), order_.end(), [](const Rank& a, const Rank& b) {
            return a.worth != b.worth ? a.worth > b.worth : a.place < b.place;
        });
        std::size_t read = 0, lists = 0;
        while (lists < order_.size() && std::sqrt(std::max(rest, 0.0)) * kLongest >= floor) {
            const std::uint32_t k = order_[lists++].place;
            rest -= static_cast<double>(weights[k]) * weights[k];
            read += index_.entries(groups[k]).size();
            if (read > most) return false;
        }
        const double tail = std::sqrt(std::max(rest, 0.0)) * kLongest;
        touched_.clear();
        for (std::size_t l = 0; l < lists; ++l) {
            const std::uint32_t k = order_[l].place;
            for (const GroupIndex::Entry& entry : index_.entries(groups[k])) {
                if (entry.element >= end) break;
                if (bound_[entry.element] == 0.0) touched_.push_back(entry.element);
                bound_[entry.element] += static_cast<double>(weights[k]) * entry.weight;
            }
        }
        for (std::size_t k = 0; k < groups.size(); ++k) weight_[groups[k]] = weights[k];
        for (const std::uint32_t element : touched_) {
            if (bound_[element] + tail >= floor) {
                const double whole = dot(element);
                if (whole >= floor) found(element, whole);
            }
            bound_[element] = 0.0;
        }
        for (const std::uint32_t group : groups) weight_[group] = 0.0f;
        return true;
    }

  private:
    struct Rank {
        double worth;
        std::uint32_t place;
    };
    // What single precision and the order of sums may take from a bound, and the longest that a vector can be.
    static constexpr double kSlack = 1e-9, kLongest = 1.0 + 1e-6;

    double dot(std::size_t element) const {
        const auto groups = index_.vectors().groups_of(element);
        const auto weights = index_.vectors().weights_of(element);
        double total = 0.0;
        for (std::size_t k = 0; k < groups.size(); ++k) total += static_cast<double>(weight_[groups[k]]) * weights[k];
        return total;
    }

    const GroupIndex& index_;
    std::vector<float> weight_;  // per group: that of the vector looked for
    std::vector<double> bound_;  // per element: what the groups read so far add
    std::vector<std::uint32_t> touched_;
    std::vector<Rank> order_;
};

}  // namespace sapwood
