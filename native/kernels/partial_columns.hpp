// The trees of a partial-tree kernel that others are compared with: their distinct subtrees, prepared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/array.hpp"
#include "kernels/active_subtrees.hpp"
#include "kernels/sequences.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Columns prepared for matching: the distinct internal subtrees, those of one label together, within a label those of
// one production together, within a production in order of the last element that holds them, as are the productions
// themselves. The place of a subtree is its rank within its label, from 1; place 0 stands for a leaf of that label.
class PartialColumns {
  public:
    struct Shape {  // a production that some column subtree has
        Production production;
        std::uint32_t begin, count;  // positions of its subtrees
        std::uint32_t place;         // place of the first of them
        std::uint32_t arity;         // number of its children
        std::uint32_t last;          // the last element that holds one of them
        std::size_t first_label;     // where their labels start
        std::size_t child_places;    // where the places of the children start: count per slot, slot after slot
    };

    PartialColumns(const Arena& arena, const Bags& bags, const PartialOptions& options)
        : options_(options), symbols_(arena.symbols.size()) {
        std::vector<std::uint32_t> place;  // per subtree of the arena
        collect(arena, bags, place);
        index_children(arena, place);
    }

    // For parts that lie in memory of others; what describes the columns themselves is not among them.
    explicit PartialColumns(const PartialOptions& options) : options_(options), symbols_(0) {}
    template <class Visit>
    void parts(Visit& visit) {
        visit(symbols_);
        visit(widest_);
        visit(last_);
        visit(shape_last_);
        visit(label_count_);
        visit(first_position_);
        visit(shapes_);
        visit(child_label_);
        visit(child_place_);
        visit(list_);
        visit(holder_);
        if constexpr (std::is_same_v<Visit, Placing>)
            for (std::uint32_t list = 0; list < list_.size(); ++list)
                lists_.insert(hash(list_[list].label, list_[list].child), list);
    }

    // The bulk: internal nodes count under their label, leaves under the label after all those.
    std::size_t feature_count() const { return 2 * symbols_; }
    Bags features(const Arena& arena, const Bags& bags) const {
        return map_bags(bags, feature_count(), [&](Node node) { return feature(arena, arena.labels(), node); });
    }
    std::size_t positions() const { return last_.size(); }
    const std::vector<std::uint32_t>& positions_of_nodes() const { return position_; }

    // Features of the rows are counted row by row: beside the matching that costs nothing, and keeping them would.
    struct Prepared {};
    Prepared prepare(const ArenaMap&, const Bags&) const { return {}; }
    auto visitor(const ArenaMap& map, const Bags& rows, const Prepared&, const Control& control) const;
    // The same walk node by node: bulk(k, feature, weight) and active(k, position, value) are about one occurrence of
    // the k-th subtree of the element.
    auto node_visitor(const ArenaMap& map, const Bags& rows, const Control& control) const;
    const PartialOptions& options() const { return options_; }

    std::size_t label_count(Symbol label) const { return label < label_count_.size() ? label_count_[label] : 0; }
    // The position of the first subtree with a label that has some.
    std::size_t first_position(Symbol label) const { return first_position_[label]; }
    // The place of the first whose shape is in an element >= first, or one more than the last place.
    std::size_t first_place(Symbol label, std::size_t first) const {
        const auto begin = shape_last_.begin() + static_cast<std::ptrdiff_t>(first_position_[label]);
        const auto end = begin + static_cast<std::ptrdiff_t>(label_count_[label]);
        return static_cast<std::size_t>(std::lower_bound(begin, end, first) - begin) + 1;
    }
    std::size_t shapes() const { return shapes_.size(); }
    // Most children of a shape.
    std::size_t widest() const { return widest_; }
    const Shape& shape(std::uint32_t number) const { return shapes_[number]; }
    std::span<const Symbol> child_labels(const Shape& shape) const {
        return std::span(child_label_).subspan(shape.first_label, shape.arity);
    }
    const std::uint32_t* child_places(const Shape& shape, std::size_t slot) const {
        return child_place_.data() + shape.child_places + slot * shape.count;
    }

    // The last element that holds the subtree at a position, and the last that holds any of its shape.
    std::size_t last(std::size_t position) const { return last_[position]; }
    std::size_t shape_last(std::size_t position) const { return shape_last_[position]; }

    // The shapes with this label that have a child with that label, in their order, and where they have it.
    struct Holder {
        std::uint32_t shape, slot;
    };
    struct Holders {
        std::span<const Holder> all;
        std::size_t subtrees = 0;  // of these shapes, once for each time that they are named
    };
    Holders holders(Symbol label, Symbol child) const {
        const std::uint32_t list = lists_.find(hash(label, child), [&](std::uint32_t number) {
            return list_[number].label == label && list_[number].child == child;
        });
        if (list == kNone) return {};
        return {std::span(holder_).subspan(list_[list].begin, list_[list].end - list_[list].begin),
                list_[list].subtrees};
    }

  private:
    struct List {
        Symbol label, child;
        std::uint32_t begin, end;  // in holder_
        std::size_t subtrees;
    };

    static std::uint32_t hash(Symbol label, Symbol child) {
        const std::uint64_t state = detail::mix(label, child);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    void collect(const Arena& arena, const Bags& bags, std::vector<std::uint32_t>& place) {
        const std::vector<std::uint32_t> last = last_holders(arena, bags);
        for (Node node = 0; node < arena.size(); ++node)
            if (last[node] != kNone && !arena.is_leaf(node)) active_.push_back(node);
        std::vector<std::uint32_t> shape_last(arena.production_count(), 0);
        for (const Node node : active_)
            shape_last[arena.production_of(node)] = std::max(shape_last[arena.production_of(node)], last[node]);
        std::sort(active_.begin(), active_.end(), [&](Node a, Node b) {
            if (arena.label(a) != arena.label(b)) return arena.label(a) < arena.label(b);
            const Production mine = arena.production_of(a), theirs = arena.production_of(b);
            if (mine != theirs)
                return shape_last[mine] != shape_last[theirs] ? shape_last[mine] < shape_last[theirs] : mine < theirs;
            return last[a] != last[b] ? last[a] < last[b] : a < b;
        });
        label_count_.assign(arena.symbols.size(), 0);
        first_position_.assign(arena.symbols.size(), 0);
        place.assign(arena.size(), 0);
        position_.assign(arena.size(), kNone);
        last_.reserve(active_.size());
        shape_last_.reserve(active_.size());
        for (std::size_t position = 0; position < active_.size(); ++position) {
            const Node node = active_[position];
            place[node] = static_cast<std::uint32_t>(++label_count_[arena.label(node)]);
            if (place[node] == 1) first_position_[arena.label(node)] = position;
            position_[node] = static_cast<std::uint32_t>(position);
            last_.push_back(last[node]);
            shape_last_.push_back(shape_last[arena.production_of(node)]);
            if (shapes_.empty() || shapes_.back().production != arena.production_of(node))
                shapes_.push_back(
                    {arena.production_of(node), position_[node], 0, place[node], 0, shape_last_.back(), 0, 0});
            ++shapes_.back().count;
        }
        shapes_.shrink_to_fit();
    }

    void index_children(const Arena& arena, const std::vector<std::uint32_t>& place) {
        std::size_t edges = 0, symbols = 0;
        for (const Shape& shape : shapes_) {
            const std::size_t arity = arena.children(active_[shape.begin]).size();
            widest_ = std::max(widest_, arity);
            symbols += arity;
            edges += arity * shape.count;
        }
        child_label_.reserve(symbols);
        child_place_.resize(edges);
        std::size_t at = 0;
        for (Shape& shape : shapes_) {
            const auto sample = arena.children(active_[shape.begin]);
            const std::size_t begin = child_label_.size();
            for (const Node child : sample) child_label_.push_back(arena.label(child));
            shape.first_label = begin;
            shape.arity = static_cast<std::uint32_t>(sample.size());
            shape.child_places = at;
            for (std::size_t k = 0; k < shape.count; ++k) {
                const auto kids = arena.children(active_[shape.begin + k]);
                for (std::size_t slot = 0; slot < kids.size(); ++slot)
                    child_place_[at + slot * shape.count + k] = place[kids[slot]];
            }
            at += sample.size() * shape.count;
        }
        list_shapes(arena);
    }

    void list_shapes(const Arena& arena) {
        std::vector<std::uint32_t> list_of;
        list_of.reserve(child_label_.size());
        for (const Shape& shape : shapes_) {
            const Symbol label = arena.label(active_[shape.begin]);
            for (const Symbol child : child_labels(shape)) {
                const std::uint32_t key = hash(label, child);
                std::uint32_t list = lists_.find(
                    key, [&](std::uint32_t at) { return list_[at].label == label && list_[at].child == child; });
                if (list == kNone) {
                    list = static_cast<std::uint32_t>(list_.size());
                    list_.push_back({label, child, 0, 0, 0});
                    lists_.insert(key, list);
                }
                ++list_[list].end;
                list_[list].subtrees += shape.count;
                list_of.push_back(list);
            }
        }
        std::uint32_t total = 0;
        for (List& list : list_) {
            const std::uint32_t length = list.end;
            list.begin = list.end = total;
            total += length;
        }
        holder_.resize(total);
        auto list = list_of.begin();
        for (std::uint32_t number = 0; number < shapes_.size(); ++number)
            for (std::uint32_t slot = 0; slot < shapes_[number].arity; ++slot)
                holder_[list_[*list++].end++] = {number, slot};
    }

    std::uint32_t feature(const Arena& arena, std::span<const Symbol> labels, Node node) const {
        if (labels[node] == kNone) return kNone;
        return static_cast<std::uint32_t>(arena.is_leaf(node) ? symbols_ + labels[node] : labels[node]);
    }

    PartialOptions options_;
    std::size_t symbols_;
    std::vector<Node> active_;
    Array<std::uint32_t> last_, shape_last_, child_place_;
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: a leaf or not in the columns
    Array<std::size_t> label_count_, first_position_;
    std::size_t widest_ = 0;
    Array<Shape> shapes_;
    Array<Symbol> child_label_;
    Array<List> list_;
    Array<Holder> holder_;
    detail::IndexTable lists_;
};

}  // namespace sapwood
