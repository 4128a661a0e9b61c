// Growing the index of fragments of a subset-tree model: which fragments to follow, to split and to list.
//
// What going on costs is estimated for a subtree drawn from the model, in comparisons with a listed one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/fragment_tables.hpp"
#include "trees/arena.hpp"

namespace sapwood {

class FragmentGrowth {
    using Below = FragmentTables::Below;
    using Entry = FragmentTables::Entry;
    using Kind = FragmentTables::Kind;

  public:
    // active subtrees: the subtrees of the model that have an internal child. worth: per subtree of the arena x
    // outputs.
    FragmentGrowth(const Arena& arena, std::vector<Node> active, const std::vector<double>& worth,
                   FragmentTables& tables)
        : arena_(arena), tables_(tables), list_(arena.size(), 0) {
        std::sort(active.begin(), active.end(), [&](Node a, Node b) {
            const Production p = arena.production_of(a), q = arena.production_of(b);
            return p != q ? p < q : a < b;
        });
        list_children(active);
        tables.subtree_weight.reserve(active.size() * tables.outputs);
        for (const Node node : active)
            for (std::size_t o = 0; o < tables.outputs; ++o)
                tables.subtree_weight.push_back(worth[node * tables.outputs + o]);
        for (std::size_t begin = 0, end; begin < active.size(); begin = end) {
            end = begin;
            while (end < active.size() && arena.production_of(active[end]) == arena.production_of(active[begin])) ++end;
            grow_root(active, begin, end);
        }
        tables.items.shrink_to_fit();
        tables.splits.shrink_to_fit();
    }

  private:
    static constexpr std::size_t kMatches = 12;  // of a fragment in the index
    static constexpr double kVisit = 4.0;        // what going to a fragment costs
    static constexpr double kMost = 0.7;         // the share of the same subtree from which a fragment is split
    static constexpr std::size_t kEffort = 256;  // subtrees looked at while growing, per subtree of a production

    // Subtrees that begin with the same fragment: `width` numbers each, that of the active subtree and the open
    // children.
    struct Group {
        std::vector<std::uint32_t> numbers;
        std::vector<std::size_t> heights;  // per open child
        std::size_t width() const { return 1 + heights.size(); }
        std::size_t size() const { return numbers.size() / width(); }
        const std::uint32_t* row(std::size_t i) const { return numbers.data() + i * width(); }
    };
    // The subtree that is most frequent in one place.
    struct Most {
        std::size_t place = 0, count = 0;
        Node node = kNone;
    };
    // How long the tables were, to go back to.
    struct Mark {
        std::size_t entries, weights, items, splits, edges;
    };

    Below below(Node node) const { return {arena_.production_of(node), list_[node]}; }

    void list_children(std::span<const Node> active) {
        std::size_t size = 1;
        for (const Node node : active) {
            list_[node] = static_cast<std::uint32_t>(size);
            size += (arena_.children(node).size() + FragmentTables::kPlaces - 1) / FragmentTables::kPlaces;
        }
        if (size >= kNone) throw std::length_error("more than 4294967295 children in a model");
        tables_.below.reserve(size);
        tables_.below.emplace_back();
        for (const Node node : active) {
            const auto kids = arena_.children(node);
            for (std::size_t k = 0; k < kids.size(); ++k) {
                if (k % FragmentTables::kPlaces == 0) tables_.below.emplace_back();
                tables_.below.back().put(k % FragmentTables::kPlaces, below(kids[k]));
            }
        }
    }

    void grow_root(std::span<const Node> active, std::size_t begin, std::size_t end) {
        const auto arity = arena_.children(active[begin]).size();
        Group group;
        const bool wide = arity > FragmentTables::kPlaces;
        group.heights.assign(wide ? 1 : arity, wide ? tables_.height : tables_.height - 1);
        for (std::size_t m = begin; m < end; ++m) {
            group.numbers.push_back(static_cast<std::uint32_t>(m));
            const auto kids = arena_.children(active[m]);
            if (wide)
                group.numbers.push_back(active[m]);
            else
                group.numbers.insert(group.numbers.end(), kids.begin(), kids.end());
        }
        effort_ = kEffort * (end - begin);
        FragmentTables::Root& root = tables_.roots[arena_.production_of(active[begin])];
        root.number = append(group);
        root.arity = static_cast<std::uint32_t>(group.heights.size());
        if (wide)
            list(root.number, Kind::kWhole, group, 0, {});
        else
            grow(root.number, group, 0);
        root.entry = entries_[root.number - first_];
        place_edges(root);
        first_ += static_cast<std::uint32_t>(entries_.size());
        entries_.clear();
    }

    // Makes a fragment and returns its number.
    std::uint32_t append(const Group& group) {
        return append(group.size(), [&](std::size_t i) { return group.row(i)[0]; });
    }
    template <class Active>
    std::uint32_t append(std::size_t size, Active active) {
        if (first_ + entries_.size() >= kNone) throw std::length_error("more than 4294967295 fragments in a model");
        const std::size_t at = tables_.weight.size(), outputs = tables_.outputs;
        tables_.weight.resize(at + outputs, 0.0);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t o = 0; o < outputs; ++o)
                tables_.weight[at + o] += tables_.subtree_weight[active(i) * outputs + o];
        entries_.emplace_back();
        return first_ + static_cast<std::uint32_t>(entries_.size() - 1);
    }

    // Completes a fragment and returns what going to it costs.
    double grow(std::uint32_t number, const Group& group, std::size_t matches) {
        bool open = false;
        for (std::size_t i = 0; i < group.size() && !open; ++i)
            open = std::any_of(group.row(i) + 1, group.row(i) + group.width(),
                               [&](Node node) { return !arena_.is_leaf(node); });
        if (!open) return kVisit;
        const double listed = static_cast<double>(group.size());
        if (listed > kVisit && matches < kMatches && effort_ > group.numbers.size()) {
            if (const Most most = most_frequent(group); static_cast<double>(most.count) >= kMost * listed)
                return split(number, group, matches, most);
            const Mark mark{entries_.size(), tables_.weight.size(), tables_.items.size(), tables_.splits.size(),
                            edges_.size()};
            const double cost = follow(number, group, matches);
            if (cost < listed) {
                entry(number).kind = Kind::kGrown;
                return cost;
            }
            go_back(mark);
        }
        list(number, Kind::kListed, group, 0, {});
        return kVisit + listed;
    }

    Entry& entry(std::uint32_t number) { return entries_[number - first_]; }

    void go_back(const Mark& mark) {
        entries_.resize(mark.entries);
        tables_.weight.resize(mark.weights);
        tables_.items.resize(mark.items);
        if (tables_.outputs != 1) tables_.item_subtree.resize(mark.items);
        if (tables_.height != FragmentTables::kUnlimited) tables_.item_height.resize(mark.items);
        tables_.splits.resize(mark.splits);
        edges_.resize(mark.edges);
    }

    // Lists what rows of a group (all of them if none are named) have from one place on.
    void list(std::uint32_t number, Kind kind, const Group& group, std::size_t first,
              std::span<const std::pair<Production, std::uint32_t>> rows) {
        const std::size_t size = rows.empty() ? group.size() : rows.size();
        if (size > FragmentTables::kMostItems || tables_.items.size() + size >= kNone)
            throw std::length_error(
                "more than 67108863 subtrees of one production, or 4294967295 in all, in a model; fit it on fewer "
                "trees");
        entry(number).kind = kind;
        entry(number).at = static_cast<std::uint32_t>(tables_.items.size());
        entry(number).count = size & FragmentTables::kMostItems;
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t* row = group.row(rows.empty() ? i : rows[i].second);
            FragmentTables::Item item;
            if (tables_.outputs == 1)
                item.weight = tables_.subtree_weight[row[0]];
            else
                tables_.item_subtree.push_back(row[0]);
            for (std::size_t k = first; k + 1 < group.width(); ++k) item.quad.put(k - first, below(row[1 + k]));
            tables_.items.push_back(item);
            if (tables_.height == FragmentTables::kUnlimited) continue;
            auto& heights = tables_.item_height.emplace_back();
            for (std::size_t k = first; k + 1 < group.width(); ++k)
                heights[k - first] = static_cast<std::uint32_t>(group.heights[k]);
        }
    }

    // Only where more than half have it; otherwise some subtree or none.
    Most most_frequent(const Group& group) const {
        Most most;
        for (std::size_t k = 0; k + 1 < group.width(); ++k) {
            // Each vote for another one takes a vote back: who has more than half is left.
            Node chosen = kNone;
            std::size_t votes = 0, count = 0;
            for (std::size_t i = 0; i < group.size(); ++i) {
                const Node node = group.row(i)[1 + k];
                if (votes == 0) chosen = node;
                if (node == chosen)
                    ++votes;
                else
                    --votes;
            }
            if (votes == 0 || arena_.is_leaf(chosen)) continue;
            for (std::size_t i = 0; i < group.size(); ++i) count += group.row(i)[1 + k] == chosen;
            if (count > most.count) most = {k, count, chosen};
        }
        return most;
    }

    double split(std::uint32_t number, const Group& group, std::size_t matches, const Most& most) {
        Group same, others;
        others.heights = same.heights = group.heights;
        same.heights.erase(same.heights.begin() + static_cast<std::ptrdiff_t>(most.place));
        for (std::size_t i = 0; i < group.size(); ++i) {
            const std::uint32_t *row = group.row(i), *place = row + 1 + most.place, *end = row + group.width();
            if (*place != most.node) {
                others.numbers.insert(others.numbers.end(), row, end);
                continue;
            }
            same.numbers.insert(same.numbers.end(), row, place);
            same.numbers.insert(same.numbers.end(), place + 1, end);
        }
        effort_ -= std::min(effort_, group.numbers.size());
        if (tables_.splits.size() >= kNone) throw std::length_error("more than 4294967295 fragments in a model");
        const std::size_t at = tables_.splits.size();
        entry(number).kind = Kind::kSplit;
        entry(number).at = static_cast<std::uint32_t>(at);
        FragmentTables::Split result;
        tables_.splits.push_back(result);
        result.place = static_cast<std::uint32_t>(most.place);
        if (tables_.height != FragmentTables::kUnlimited)
            result.height = static_cast<std::uint32_t>(group.heights[most.place]);
        result.subtree = below(most.node);
        result.same = append(same);
        result.weight = tables_.weight.back();
        double cost = kVisit + grow(result.same, same, matches + 1);
        result.same_entry = entry(result.same);
        if (!others.numbers.empty()) {
            result.others = append(others);
            cost += grow(result.others, others, matches + 1);
            result.others_entry = entry(result.others);
        }
        tables_.splits[at] = result;
        return cost;
    }

    // Lets a fragment go on, and returns what that costs; stops where it costs more than a list.
    double follow(std::uint32_t number, const Group& group, std::size_t matches) {
        const double limit = static_cast<double>(group.size());
        const std::size_t places = group.heights.size();
        double cost = kVisit;
        std::vector<std::pair<Production, std::uint32_t>> order;  // of the child in question, and the row
        for (std::size_t k = 0; k < places && cost < limit; ++k) {
            order.clear();
            for (std::size_t i = 0; i < group.size(); ++i)
                if (const Node child = group.row(i)[1 + k]; !arena_.is_leaf(child))
                    order.emplace_back(arena_.production_of(child), static_cast<std::uint32_t>(i));
            std::sort(order.begin(), order.end());
            for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
                for (end = begin; end < order.size() && order[end].first == order[begin].first; ++end) {
                }
                const std::span<const std::pair<Production, std::uint32_t>> rows{order.data() + begin, end - begin};
                cost += match(number, group, matches, k, rows) * static_cast<double>(rows.size()) / limit;
            }
        }
        return cost;
    }

    // Makes the fragment that matches one place more, which some rows have the same production in.
    double match(std::uint32_t number, const Group& group, std::size_t matches, std::size_t place,
                 std::span<const std::pair<Production, std::uint32_t>> rows) {
        const std::size_t right = group.heights.size() - place - 1;
        const bool opens = group.heights[place] > 1 && std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
                               return list_[group.row(row.second)[1 + place]] != 0;
                           });
        const std::size_t kids = opens ? arena_.children(group.row(rows[0].second)[1 + place]).size() : 0;
        const std::uint32_t child = append(rows.size(), [&](std::size_t i) { return group.row(rows[i].second)[0]; });
        edges_.push_back({number, static_cast<std::uint32_t>(place), rows[0].first, child, {}, tables_.weight.back()});
        if (kids + right > FragmentTables::kPlaces) {
            effort_ -= std::min(effort_, rows.size());
            list(child, Kind::kWhole, group, place, rows);
            return kVisit + static_cast<double>(rows.size());
        }
        Group next;
        next.heights.assign(kids, group.heights[place] - 1);
        next.heights.insert(next.heights.end(), group.heights.end() - static_cast<std::ptrdiff_t>(right),
                            group.heights.end());
        next.numbers.reserve(rows.size() * next.width());
        for (const auto& [production, i] : rows) {
            const std::uint32_t* row = group.row(i);
            next.numbers.push_back(row[0]);
            if (opens) {
                const auto below = arena_.children(row[1 + place]);
                next.numbers.insert(next.numbers.end(), below.begin(), below.end());
            }
            next.numbers.insert(next.numbers.end(), row + 2 + place, row + group.width());
        }
        effort_ -= std::min(effort_, next.numbers.size());
        entry(child).opens = kids & 7U;
        return grow(child, next, matches + 1);
    }

    // Puts the edges of a production into a hash table of its own.
    void place_edges(FragmentTables::Root& root) {
        root.edges = tables_.edges.size();
        if (edges_.empty()) return;
        std::size_t size = 2;
        while (3 * size < 4 * edges_.size()) size *= 2;
        if (size - 1 >= kNone) throw std::length_error("more than 4294967295 fragments of one production");
        root.mask = static_cast<std::uint32_t>(size - 1);
        tables_.edges.resize(root.edges + size);
        for (FragmentTables::Edge& edge : edges_) {
            edge.entry = entry(edge.child);
            std::size_t at = FragmentTables::hash(edge.parent, edge.place, edge.production) & root.mask;
            while (tables_.edges[root.edges + at].child != kNone) at = (at + 1) & root.mask;
            tables_.edges[root.edges + at] = edge;
        }
        edges_.clear();
    }

    const Arena& arena_;
    FragmentTables& tables_;
    std::vector<std::uint32_t> list_;  // per subtree of the arena: where its children are listed
    std::uint32_t first_ = 0;          // of the fragments of the production that is being grown
    std::vector<Entry> entries_;       // of these fragments
    std::vector<FragmentTables::Edge> edges_;
    std::size_t effort_ = 0;
};

}  // namespace sapwood
