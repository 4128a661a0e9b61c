// The partial-tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = 0                                        if the labels differ
//               = mu * lambda^2                            if either is a leaf (times the terminal factor if both are)
//               = mu * (lambda^2 + sum over I, J of lambda^(gaps of I and J) * prod D(child pairs))   otherwise
//
// where I and J are child index sequences of equal length. The first terms depend on labels alone and are added up as
// count products by `Postings`. The sums are needed only for pairs of productions that share a child label. For such a
// pair the matching child slots ("cells") and the gap weights between them are fixed, so they are worked out once and
// applied to all distinct column subtrees of that production in a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/array.hpp"
#include "core/buffer_pool.hpp"
#include "core/parallel.hpp"
#include "kernels/active_subtrees.hpp"
#include "kernels/sequences.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"
#include "trees/node_order.hpp"

namespace sapwood {

// Columns prepared for matching: the distinct internal subtrees, those of one label together, within a label those of
// one production together, within a production in order of the last element that holds them. The place of a subtree is
// its rank within its label, from 1; place 0 stands for a leaf of that label.
class PartialColumns {
  public:
    struct Shape {  // a production that some column subtree has
        Production production;
        std::uint32_t begin, count;  // positions of its subtrees
        std::uint32_t place;         // place of the first of them
        std::size_t arity;           // number of its children
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
        visit(last_);
        visit(label_count_);
        visit(shapes_);
        visit(child_label_);
        visit(child_place_);
        visit(list_);
        visit(listed_);
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
    std::size_t shapes() const { return shapes_.size(); }
    const Shape& shape(std::uint32_t number) const { return shapes_[number]; }
    std::span<const Symbol> child_labels(const Shape& shape) const {
        return std::span(child_label_).subspan(shape.first_label, shape.arity);
    }
    const std::uint32_t* child_places(const Shape& shape, std::size_t slot) const {
        return child_place_.data() + shape.child_places + slot * shape.count;
    }

    // Index of the first subtree of a shape that some element >= first holds.
    std::size_t first_index(const Shape& shape, std::size_t first) const {
        const auto begin = last_.begin() + static_cast<std::ptrdiff_t>(shape.begin);
        return std::lower_bound(begin, begin + static_cast<std::ptrdiff_t>(shape.count), first) - begin;
    }

    // The shapes with this label that have a child with that label.
    std::span<const std::uint32_t> shapes_with(Symbol label, Symbol child) const {
        const std::uint32_t list = lists_.find(hash(label, child), [&](std::uint32_t number) {
            return list_[number].label == label && list_[number].child == child;
        });
        if (list == kNone) return {};
        return std::span(listed_).subspan(list_[list].begin, list_[list].end - list_[list].begin);
    }

  private:
    struct List {
        Symbol label, child;
        std::uint32_t begin, end;  // in listed_
    };

    static std::uint32_t hash(Symbol label, Symbol child) {
        const std::uint64_t state = detail::mix(label, child);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    void collect(const Arena& arena, const Bags& bags, std::vector<std::uint32_t>& place) {
        const std::vector<std::uint32_t> last = last_holders(arena, bags);
        for (Node node = 0; node < arena.size(); ++node)
            if (last[node] != kNone && !arena.is_leaf(node)) active_.push_back(node);
        std::sort(active_.begin(), active_.end(), [&](Node a, Node b) {
            if (arena.label(a) != arena.label(b)) return arena.label(a) < arena.label(b);
            if (arena.production_of(a) != arena.production_of(b))
                return arena.production_of(a) < arena.production_of(b);
            return last[a] != last[b] ? last[a] < last[b] : a < b;
        });
        label_count_.assign(arena.symbols.size(), 0);
        place.assign(arena.size(), 0);
        position_.assign(arena.size(), kNone);
        last_.reserve(active_.size());
        for (std::size_t position = 0; position < active_.size(); ++position) {
            const Node node = active_[position];
            place[node] = static_cast<std::uint32_t>(++label_count_[arena.label(node)]);
            position_[node] = static_cast<std::uint32_t>(position);
            last_.push_back(last[node]);
            if (shapes_.empty() || shapes_.back().production != arena.production_of(node))
                shapes_.push_back({arena.production_of(node), position_[node], 0, place[node], 0, 0, 0});
            ++shapes_.back().count;
        }
        shapes_.shrink_to_fit();
    }

    void index_children(const Arena& arena, const std::vector<std::uint32_t>& place) {
        std::size_t edges = 0, symbols = 0;
        for (const Shape& shape : shapes_) {
            const std::size_t arity = arena.children(active_[shape.begin]).size();
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
            shape.arity = sample.size();
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

    // Which shapes have a child of a label, once each however many such children there are.
    void list_shapes(const Arena& arena) {
        std::vector<std::uint32_t> list_of, shape_of;
        for (std::uint32_t number = 0; number < shapes_.size(); ++number) {
            const Symbol label = arena.label(active_[shapes_[number].begin]);
            for (const Symbol child : child_labels(shapes_[number])) {
                const std::uint32_t key = hash(label, child);
                std::uint32_t list = lists_.find(
                    key, [&](std::uint32_t at) { return list_[at].label == label && list_[at].child == child; });
                if (list == kNone) {
                    list = static_cast<std::uint32_t>(list_.size());
                    list_.push_back({label, child, kNone, 0});
                    lists_.insert(key, list);
                }
                if (list_[list].begin == number) continue;
                list_[list].begin = number;  // the last shape seen, until all are counted
                ++list_[list].end;
                list_of.push_back(list);
                shape_of.push_back(number);
            }
        }
        std::uint32_t total = 0;
        for (List& list : list_) {
            const std::uint32_t length = list.end;
            list.begin = list.end = total;
            total += length;
        }
        listed_.resize(total);
        for (std::size_t k = 0; k < list_of.size(); ++k) listed_[list_[list_of[k]].end++] = shape_of[k];
    }

    std::uint32_t feature(const Arena& arena, std::span<const Symbol> labels, Node node) const {
        if (labels[node] == kNone) return kNone;
        return static_cast<std::uint32_t>(arena.is_leaf(node) ? symbols_ + labels[node] : labels[node]);
    }

    PartialOptions options_;
    std::size_t symbols_;
    std::vector<Node> active_;
    Array<std::uint32_t> last_, child_place_;
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: a leaf or not in the columns
    Array<std::size_t> label_count_;
    Array<Shape> shapes_;
    Array<Symbol> child_label_;
    Array<List> list_;
    Array<std::uint32_t> listed_;
    detail::IndexTable lists_;
};

// Walks one row element bottom up and adds up, per column subtree, what the child sequences contribute.
class PartialMatcher {
  public:
    PartialMatcher(const ArenaMap& map, const PartialColumns& columns, const PartialOptions& options,
                   const Control& control)
        : map_(map),
          arena_(map.arena),
          columns_(columns),
          options_(options),
          control_(control),
          sequences_(options, control),
          bare_(options.depth_decay * options.decay * options.decay),
          order_(arena_),
          sum_(columns.positions()),
          seen_row_(columns.shapes(), 0),
          seen_node_(columns.shapes(), 0),
          from_(columns.shapes(), 0) {}

    // Calls found(position, value): value is the sum over the bag's nodes of count * mu * (sum over sequences).
    // each(k, position, value) gets the same for one occurrence of the k-th node.
    template <class Found, class Each>
    void match(std::span<const Node> nodes, std::span<const double> counts, std::size_t first, Found found, Each each) {
        ++row_;
        touched_.clear();
        order_.enter(nodes);
        if (values_.size() < order_.slots()) values_.resize(order_.slots());
        for (const std::size_t k : order_.order()) {
            evaluate(nodes[k], counts[k], first, [&](std::size_t position, double value) { each(k, position, value); });
            order_.done(nodes[k], [&](std::uint32_t slot) {
                buffers_.give(std::move(values_[slot]));
                values_[slot] = {};
            });
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
        }
        for (const std::uint32_t number : touched_) {
            const PartialColumns::Shape& shape = columns_.shape(number);
            for (std::size_t k = from_[number]; k < shape.count; ++k)
                if (const double value = sum_[shape.begin + k]; value != 0.0) found(shape.begin + k, value);
        }
    }

  private:
    template <class Each>
    void evaluate(Node node, double count, std::size_t first, Each each) {
        const Symbol label = map_.labels[node];
        std::vector<double>& values = values_[order_.slot(node)];
        const bool keep = order_.wanted(order_.slot(node));
        const std::size_t places = columns_.label_count(label);
        if (keep) {
            values = buffers_.take(places + 1);
            std::fill_n(values.begin(), places + 1, bare_);
            values[0] = options_.leaves ? bare_ : 0.0;
            work_ += places;
        }
        if (places > 0) match_children(node, label, count, first, keep ? values.data() : nullptr, each);
    }

    template <class Each>
    void match_children(Node node, Symbol label, double count, std::size_t first, double* values, Each each) {
        const auto kids = arena_.children(node);
        labels_.clear();
        children_.clear();
        for (const Node child : kids) {
            labels_.push_back(map_.labels[child]);
            if (const std::uint32_t slot = order_.slot(child); slot != kNone)
                children_.push_back({values_[slot].data(), 0.0, 0.0});
            else if (!options_.leaves)
                children_.push_back({nullptr, 0.0, 0.0});
            else
                children_.push_back({nullptr, bare_ * options_.terminal_factor, bare_});
        }
        sequences_.enter_labels(labels_);
        sequences_.enter_values(children_);
        ++visit_;
        for (const Symbol child : labels_)
            for (const std::uint32_t number : columns_.shapes_with(label, child)) {
                if (seen_node_[number] == visit_) continue;
                seen_node_[number] = visit_;
                const PartialColumns::Shape& shape = columns_.shape(number);
                if (seen_row_[number] != row_) {
                    seen_row_[number] = row_;
                    from_[number] = first == 0 ? 0 : static_cast<std::uint32_t>(columns_.first_index(shape, first));
                    std::fill(sum_.begin() + static_cast<std::ptrdiff_t>(shape.begin + from_[number]),
                              sum_.begin() + static_cast<std::ptrdiff_t>(shape.begin + shape.count), 0.0);
                    touched_.push_back(number);
                }
                const std::size_t from = from_[number], length = shape.count - from;
                if (length == 0) continue;
                if (result_.size() < length) result_.resize(length);
                sequences_.meet(columns_, shape);
                sequences_.evaluate(columns_, shape, {from, length}, result_.data());
                double* sum = sum_.data() + shape.begin + from;
                for (std::size_t k = 0; k < length; ++k) {
                    result_[k] *= options_.depth_decay;
                    sum[k] += count * result_[k];
                    each(shape.begin + from + k, result_[k]);
                }
                if (values) {
                    double* mine = values + shape.place + from;
                    for (std::size_t k = 0; k < length; ++k) mine[k] += result_[k];
                }
                work_ += length * kids.size() + 8;
            }
    }

    const ArenaMap& map_;
    const Arena& arena_;
    const PartialColumns& columns_;
    PartialOptions options_;
    const Control& control_;
    SequenceSums sequences_;
    double bare_;
    NodeOrder order_;
    std::vector<std::vector<double>> values_;  // per slot: D against every column subtree with the same label, by place
    BufferPool buffers_;
    std::vector<double> sum_, result_;
    std::vector<std::size_t> seen_row_, seen_node_;
    std::vector<std::uint32_t> from_;
    std::size_t row_ = 0, visit_ = 0, work_ = 0;
    std::vector<std::uint32_t> touched_;
    std::vector<Symbol> labels_;
    std::vector<SequenceSums::Child> children_;
};

inline auto PartialColumns::visitor(const ArenaMap& map, const Bags& rows, const Prepared&,
                                    const Control& control) const {
    return [this, &map, &rows, features = FeatureCounts(feature_count()),
            matcher = PartialMatcher(map, *this, options_, control)](std::size_t element, std::size_t first, auto bulk,
                                                                     auto active) mutable {
        const double bare = options_.depth_decay * options_.decay * options_.decay;
        const auto symbols = static_cast<std::uint32_t>(symbols_);
        features.count(rows.numbers_of(element), rows.counts_of(element),
                       [&](Node node) { return feature(map.arena, map.labels, node); });
        const auto numbers = features.features();
        const auto counts = features.counts();
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const double weight = bare * counts[k];
            if (numbers[k] < symbols) {
                bulk(numbers[k], weight);
                if (options_.leaves) bulk(symbols + numbers[k], weight);
            } else if (options_.leaves) {
                bulk(numbers[k], weight * options_.terminal_factor);
                bulk(numbers[k] - symbols, weight);
            }
        }
        matcher.match(rows.numbers_of(element), rows.counts_of(element), first, active,
                      [](std::size_t, std::size_t, double) {});
    };
}

inline auto PartialColumns::node_visitor(const ArenaMap& map, const Bags& rows, const Control& control) const {
    return [this, &map, &rows, matcher = PartialMatcher(map, *this, options_, control)](std::size_t element, auto bulk,
                                                                                        auto active) mutable {
        const double bare = options_.depth_decay * options_.decay * options_.decay;
        const auto numbers = rows.numbers_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const bool leaf = map.arena.is_leaf(numbers[k]);
            const Symbol label = map.labels[numbers[k]];
            if (label == kNone || (leaf && !options_.leaves)) continue;
            bulk(k, label, bare);
            if (options_.leaves)
                bulk(k, static_cast<std::uint32_t>(symbols_ + label), leaf ? bare * options_.terminal_factor : bare);
        }
        matcher.match(numbers, rows.counts_of(element), 0, [](std::size_t, double) {}, active);
    };
}

}  // namespace sapwood
