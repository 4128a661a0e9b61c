// The partial-tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = 0                                        if the labels differ
//               = mu * lambda^2                            if either is a leaf (times the terminal factor if both are)
//               = mu * (lambda^2 + sum over I, J of lambda^(gaps of I and J) * prod D(child pairs))   otherwise
//
// where I and J are child index sequences of equal length. The first terms depend on labels alone and are added up as
// count products by `Postings`. The sums are needed only for pairs of productions that share a child label. For such a
// pair the matching child slots ("cells") and the gap weights between them are fixed: they are worked out once for all
// row nodes with a production (see kernels/partial_plan.hpp), and applied to the distinct column subtrees.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/buffer_pool.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "kernels/partial_columns.hpp"
#include "kernels/partial_plan.hpp"
#include "kernels/plan_shelf.hpp"
#include "kernels/sequences.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"
#include "trees/node_order.hpp"

namespace sapwood {

// Walks one row element bottom up and reports, per column subtree, what the child sequences contribute.
class PartialMatcher {
  public:
    PartialMatcher(const ArenaMap& map, const Bags& rows, const PartialColumns& columns, const PartialOptions& options,
                   const Control& control)
        : map_(map),
          arena_(map.arena),
          columns_(columns),
          options_(options),
          control_(control),
          sequences_(options, control),
          bare_(options.bare()),
          order_(arena_),
          met_(columns.shapes()),
          skip_(columns.shapes(), 0),
          planner_(columns, {}, 0),
          plans_(uses(arena_, rows), kRoom) {}

    // found(k) gives what is called with (position, value): mu * (the sum over sequences) for one occurrence of the
    // k-th node. Column subtrees that only elements before `first` hold may be left out; this is fast if `first` never
    // decreases from call to call.
    template <class Found>
    void match(std::span<const Node> nodes, std::size_t first, Found found) {
        if (first < first_) {
            std::fill(skip_.begin(), skip_.end(), 0);
            plans_.clear();
        }
        first_ = first;
        order_.enter(nodes);
        if (values_.size() < order_.slots()) values_.resize(order_.slots());
        for (const std::size_t k : order_.order()) {
            evaluate(nodes[k], found(k));
            order_.done(nodes[k], [&](std::uint32_t slot) {
                buffers_.give(std::move(values_[slot].table));
                values_[slot].table = {};
            });
            check();
        }
    }

  private:
    using Entry = PartialPlan::Entry;
    static constexpr std::size_t kFew = 4;  // values that are listed rather than kept in a table
    static constexpr std::size_t kBlock = SequenceSums::kBlock;
    static constexpr std::size_t kRoom = std::size_t{1} << 20;  // numbers of four bytes that plans may take

    // D of a node against the column subtrees with its label.
    struct Values {
        std::size_t few = 0;  // how many are listed, if there is no table
        std::array<std::uint32_t, kFew> place{};
        std::array<double, kFew> value{};
        std::vector<double> table;  // by place; empty: all that are not listed are bare
    };

    // How many nodes of the rows have each production.
    static std::vector<std::uint32_t> uses(const Arena& arena, const Bags& rows) {
        std::vector<std::uint32_t> count(arena.production_count(), 0);
        for (const Node node : rows.numbers)
            if (!arena.is_leaf(node)) ++count[arena.production_of(node)];
        return count;
    }

    void check() {
        if (work_ <= 1000000) return;
        control_.check();
        work_ = 0;
    }

    void enter(Node node) {
        children_.clear();
        labels_.clear();
        for (const Node child : arena_.children(node)) {
            labels_.push_back(map_.labels[child]);
            const std::uint32_t slot = order_.slot(child);
            const double leaf = options_.leaves ? bare_ : 0.0;
            if (slot == kNone) {
                children_.push_back({nullptr, leaf * options_.terminal_factor, leaf});
            } else {
                const Values& values = values_[slot];
                children_.push_back({values.table.empty() ? nullptr : values.table.data(), leaf, bare_, values.few,
                                     values.place.data(), values.value.data()});
            }
        }
        listed_.assign(children_.size(), 0);
        sequences_.enter_values(children_);
    }

    template <class Found>
    void evaluate(Node node, Found found) {
        const std::uint32_t slot = order_.slot(node);
        Values& mine = values_[slot];
        mine.few = 0;
        const Symbol label = map_.labels[node];
        const std::size_t places = columns_.label_count(label);
        if (places == 0) return;
        enter(node);
        const auto kids = arena_.children(node);
        // Every word would have a plan of its own.
        const bool lexical = std::all_of(kids.begin(), kids.end(), [&](Node child) { return arena_.is_leaf(child); });
        const auto make = [&](PartialPlan& plan) {
            work_ += planner_.make(label, labels_, listed_, sequences_, met_, plan, first_);
        };
        if (lexical) make(scratch_);
        const PartialPlan& plan = lexical ? scratch_ : plans_.get(arena_.production_of(node), make);
        keep(mine, order_.wanted(slot), plan, label);
        for (const PartialPlan::Run& run : plan.runs) go_through(plan, run, found);
        for (const Entry& entry : plan.whole) go_through(entry, found);
        for (const Entry& entry : plan.others) go_through_others(plan, entry, found);
        work_ += plan.members + 8 * (1 + plan.whole.size() + plan.others.size());
    }

    // Decides where the values of the node at hand are kept.
    void keep(Values& mine, bool wanted, const PartialPlan& plan, Symbol label) {
        table_ = nullptr;
        few_ = nullptr;
        if (!wanted) return;
        first_position_ = columns_.first_position(label);
        if (plan.members <= kFew) {
            few_ = &mine;
            return;
        }
        // Nobody asks for subtrees that only elements before `first` hold.
        const std::size_t places = columns_.label_count(label) + 1, from = columns_.first_place(label, first_);
        mine.table = buffers_.take(places);
        table_ = mine.table.data();
        std::fill(table_ + from, table_ + places, bare_);
        table_[0] = options_.leaves ? bare_ : 0.0;
        work_ += places;
    }

    // Takes the values of subtrees, at(k) being the position of the k-th.
    template <class At, class Found>
    SAPWOOD_INLINE void take(std::size_t count, const double* values, At at, Found found) {
        if (table_) {
            double* mine = table_ + 1 - first_position_;
            const double bare = bare_;
            for (std::size_t k = 0; k < count; ++k) {
                found(at(k), values[k]);
                mine[at(k)] = bare + values[k];
            }
            return;
        }
        for (std::size_t k = 0; k < count; ++k) found(at(k), values[k]);
        if (!few_) return;
        for (std::size_t k = 0; k < count; ++k) {
            few_->place[few_->few] = static_cast<std::uint32_t>(at(k) - first_position_ + 1);
            few_->value[few_->few++] = bare_ + values[k];
        }
    }

    template <class Found>
    void go_through(const PartialPlan& plan, const PartialPlan::Run& run, Found& found) {
        const std::uint32_t* positions = plan.numbers.data() + run.at;
        const std::uint32_t* from = positions;
        if (first_ > 0)
            from = std::partition_point(positions, positions + run.count,
                                        [&](std::uint32_t position) { return columns_.shape_last(position) < first_; });
        double result[kBlock];
        for (std::size_t begin = static_cast<std::size_t>(from - positions), size; begin < run.count; begin += size) {
            size = std::min<std::size_t>(kBlock, run.count - begin);
            const std::uint32_t* at = positions + begin;
            const std::uint32_t* places = at + run.count;
            sequences_.sums(run, places, run.has_two() ? places + run.count : nullptr, size, result);
            take(size, result, [&](std::size_t k) { return at[k]; }, found);
        }
    }

    template <class Found>
    void go_through(const Entry& entry, Found& found) {
        const PartialColumns::Shape& shape = columns_.shape(entry.shape);
        const std::uint32_t* one = columns_.child_places(shape, entry.theirs[0]);
        const std::uint32_t* two = entry.has_two() ? columns_.child_places(shape, entry.theirs[1]) : nullptr;
        double result[kBlock];
        for (std::size_t begin = skipped(entry.shape), size; begin < shape.count; begin += size) {
            size = std::min<std::size_t>(kBlock, shape.count - begin);
            sequences_.sums(entry, one + begin, two ? two + begin : nullptr, size, result);
            take(size, result, [position = shape.begin + begin](std::size_t k) { return position + k; }, found);
        }
    }

    template <class Found>
    void go_through_others(const PartialPlan& plan, const Entry& entry, Found& found) {
        const PartialColumns::Shape& shape = columns_.shape(entry.shape);
        const std::size_t from = skipped(entry.shape), count = shape.count - from;
        if (count == 0) return;
        if (result_.size() < count) result_.resize(count);
        const SequenceSums::Cells cells = plan.cells_of(entry);
        if (!cells.cells.empty()) {
            sequences_.evaluate(columns_, shape, {from, count}, cells, result_.data());
        } else {
            sequences_.enter_labels(labels_);
            sequences_.meet(columns_, shape);
            sequences_.evaluate(columns_, shape, {from, count}, result_.data());
        }
        for (std::size_t k = 0; k < count; ++k) result_[k] *= options_.depth_decay;
        take(count, result_.data(), [position = shape.begin + from](std::size_t k) { return position + k; }, found);
        work_ += count * cells.cells.size();
    }

    // How many subtrees of a shape only elements before `first` hold.
    std::size_t skipped(std::uint32_t number) {
        const PartialColumns::Shape& shape = columns_.shape(number);
        std::uint32_t& skip = skip_[number];
        while (skip < shape.count && columns_.last(shape.begin + skip) < first_) ++skip;
        return skip;
    }

    const ArenaMap& map_;
    const Arena& arena_;
    const PartialColumns& columns_;
    PartialOptions options_;
    const Control& control_;
    SequenceSums sequences_;
    double bare_;
    NodeOrder order_;
    PartialPlanner::Met met_;
    std::vector<std::uint32_t> skip_;  // per shape: subtrees that only elements before first_ hold
    std::size_t first_ = 0;
    PartialPlanner planner_;
    PlanShelf<PartialPlan> plans_;  // by production
    PartialPlan scratch_;
    std::vector<Values> values_;  // per slot
    // Where the values of the node at hand are kept: in a table by place, or listed, or not at all.
    double* table_ = nullptr;
    Values* few_ = nullptr;
    std::size_t first_position_ = 0;  // of subtrees with its label
    BufferPool buffers_;
    std::vector<double> result_;
    std::vector<Symbol> labels_;        // of the children
    std::vector<std::uint8_t> listed_;  // nothing is counted: each subtree is reported
    std::vector<SequenceSums::Child> children_;
    std::size_t work_ = 0;
};

inline auto PartialColumns::visitor(const ArenaMap& map, const Bags& rows, const Prepared&,
                                    const Control& control) const {
    return [this, &map, &rows, features = FeatureCounts(feature_count()),
            matcher = PartialMatcher(map, rows, *this, options_, control)](std::size_t element, std::size_t first,
                                                                           auto bulk, auto active) mutable {
        const double bare = options_.bare();
        const auto symbols = static_cast<std::uint32_t>(symbols_);
        const auto nodes = rows.numbers_of(element);
        const auto occurrences = rows.counts_of(element);
        features.count(nodes, occurrences, [&](Node node) { return feature(map.arena, map.labels, node); });
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
        matcher.match(nodes, first, [&](std::size_t k) {
            return [&active, count = occurrences[k]](std::size_t position, double value) {
                active(position, count * value);
            };
        });
    };
}

inline auto PartialColumns::node_visitor(const ArenaMap& map, const Bags& rows, const Control& control) const {
    return [this, &map, &rows, matcher = PartialMatcher(map, rows, *this, options_, control)](
               std::size_t element, auto bulk, auto active) mutable {
        const double bare = options_.bare();
        const auto numbers = rows.numbers_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const bool leaf = map.arena.is_leaf(numbers[k]);
            const Symbol label = map.labels[numbers[k]];
            if (label == kNone || (leaf && !options_.leaves)) continue;
            bulk(k, label, bare);
            if (options_.leaves)
                bulk(k, static_cast<std::uint32_t>(symbols_ + label), leaf ? bare * options_.terminal_factor : bare);
        }
        matcher.match(numbers, 0, [&](std::size_t k) {
            return [&active, k](std::size_t position, double value) { active(k, position, value); };
        });
    };
}

}  // namespace sapwood
