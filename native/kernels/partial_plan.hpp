// What nodes with the same labels make of the shapes of a partial-tree model, worked out once for all of them.
//
// A shape (a label over labels) matters to a node if they share the label of a child. Nearly all that do have one or
// two pairs of children with equal labels, and for those the sum over sequences of children is short:
//
//     one pair     D1
//     two pairs    D1 + D2 + link * D1 * D2      (link: decay for every gap, or 0 if they cannot both be in a sequence)
//
// Most shapes have one subtree. Those that ask the same of the same children of the node are gone through together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/hash_tables.hpp"
#include "core/visited_set.hpp"
#include "kernels/partial_columns.hpp"
#include "kernels/sequences.hpp"
#include "trees/arena.hpp"

namespace sapwood {

struct PartialPlan {
    static constexpr std::uint16_t kNoPair = 0xFFFF;

    struct Entry {  // a shape that shares the label of a child
        std::uint32_t shape = 0;
        std::uint32_t list = kNone;  // where its pairs are listed; kNone: there are one or two, and they stand here
        std::array<std::uint16_t, 2> mine{kNoPair, kNoPair},
            theirs{kNoPair, kNoPair};  // children that have equal labels
        double link = 0.0;
        double bare = 0.0;  // depth decay * the sum over sequences if all children that match are bare

        bool has_one() const { return list == kNone && mine[1] == kNoPair; }
        bool has_two() const { return mine[1] != kNoPair; }
    };
    struct List {                           // all pairs of a shape
        std::uint32_t cell = 0, cells = 0;  // no cells: too many to be listed
        std::uint32_t link = 0, links = 0;
    };
    struct Run {  // subtrees of rare shapes that ask the same, in their order
        std::array<std::uint16_t, 2> mine;
        std::uint32_t at,
            count;  // in numbers: their positions, the places of their first children, those of the second
        double link;

        bool has_two() const { return mine[1] != kNoPair; }
    };

    std::vector<Entry> counted;  // shapes that are worth one number, but for a few subtrees
    std::vector<Entry> whole;    // shapes to be gone through: with one or two pairs,
    std::vector<Run> runs;       // the same for rare shapes,
    std::vector<Entry> others;   // and with more pairs
    std::vector<std::uint32_t> numbers;
    std::vector<List> lists;
    std::vector<SequenceSums::Cell> cells;
    std::vector<SequenceSums::Link> links;
    std::vector<double> worth;  // per output: of all that is counted
    std::size_t members = 0;    // at least as many as all these shapes have subtrees, those left out included

    SequenceSums::Cells cells_of(const Entry& entry) const {
        const List& list = lists[entry.list];
        return {std::span(cells).subspan(list.cell, list.cells), std::span(links).subspan(list.link, list.links)};
    }
    std::size_t size() const {
        return 8 * (counted.size() + whole.size() + others.size()) + 6 * runs.size() + numbers.size() +
               4 * lists.size() + 4 * cells.size() + links.size() + 2 * worth.size();
    }
    void clear() {
        counted.clear();
        whole.clear();
        runs.clear();
        others.clear();
        numbers.clear();
        lists.clear();
        cells.clear();
        links.clear();
        worth.clear();
        members = 0;
    }
};

class PartialPlanner {
  public:
    // shape_weight: per shape x outputs, the sum of the weights of its subtrees. All of this must outlive the planner.
    PartialPlanner(const PartialColumns& columns, std::span<const double> shape_weight, std::size_t outputs)
        : columns_(columns), shape_weight_(shape_weight), outputs_(outputs) {}

    // What the nodes have met of each shape: scratch space, which costs as much to make as there are shapes.
    class Met {
      public:
        explicit Met(std::size_t shapes) : seen_(shapes), pairs_(shapes) {}

      private:
        friend class PartialPlanner;
        struct Pairs {
            std::uint32_t count;
            std::array<std::uint16_t, 2> mine, theirs;  // the first two
        };
        VisitedSet seen_;
        std::vector<Pairs> pairs_;
        std::vector<std::uint32_t> shapes_;
    };

    // For nodes with these labels (kNone matches nothing). listed: per child, whether it is bare with all subtrees of
    // the model but a few. Shapes that only elements before `first` hold are left out. Returns how much work that was,
    // in comparisons of labels.
    std::size_t make(Symbol label, std::span<const Symbol> children, std::span<const std::uint8_t> listed,
                     SequenceSums& sequences, Met& met, PartialPlan& plan, std::size_t first = 0) {
        plan.clear();
        plan.worth.assign(outputs_, 0.0);
        used_groups_ = 0;
        group_table_.clear();
        sequences.enter_labels(children);
        sequences.expect(children.size() + columns_.widest());
        std::size_t work = meet(label, children, sequences, met, plan, first);
        for (const std::uint32_t number : met.shapes_) work += add(number, met.pairs_[number], listed, sequences, plan);
        put_runs(plan);
        return work;
    }

  private:
    static constexpr std::size_t kRare = 16;  // subtrees of a shape, below which they are gone through with others

    // Rare shapes that ask the same of the same children.
    struct Member {
        std::uint32_t shape;
        std::array<std::uint16_t, 2> theirs;
    };
    struct Group {
        std::uint64_t key;  // what they ask
        std::array<std::uint16_t, 2> mine;
        double link;
        std::size_t subtrees;
        std::vector<Member> members;
    };

    // Finds the shapes that share a child label, and the first two pairs of children of each.
    std::size_t meet(Symbol label, std::span<const Symbol> children, const SequenceSums& sequences, Met& met,
                     PartialPlan& plan, std::size_t first) {
        met.seen_.clear();
        met.shapes_.clear();
        std::size_t work = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (children[i] == kNone || sequences.first_with(children[i]) != i + 1) continue;
            const auto [holders, subtrees] = columns_.holders(label, children[i]);
            plan.members += subtrees;
            auto holder = holders.begin();
            if (first > 0)
                holder = std::partition_point(holder, holders.end(), [&](const PartialColumns::Holder& one) {
                    return columns_.shape(one.shape).last < first;
                });
            for (; holder != holders.end(); ++holder) {
                Met::Pairs& pairs = met.pairs_[holder->shape];
                if (met.seen_.insert(holder->shape)) {
                    met.shapes_.push_back(holder->shape);
                    pairs.count = 0;
                }
                for (std::size_t at = i + 1; at != 0; at = sequences.next_like(at - 1)) {
                    if (pairs.count < 2) {
                        pairs.mine[pairs.count] = static_cast<std::uint16_t>(at - 1);
                        pairs.theirs[pairs.count] = static_cast<std::uint16_t>(holder->slot);
                    }
                    if (++pairs.count > 2) break;
                }
                ++work;
            }
        }
        return work;
    }

    std::size_t add(std::uint32_t number, Met::Pairs& pairs, std::span<const std::uint8_t> listed,
                    SequenceSums& sequences, PartialPlan& plan) {
        const PartialColumns::Shape& shape = columns_.shape(number);
        PartialPlan::Entry entry;
        entry.shape = number;
        if (pairs.count > 2 || sequences.is_wide(shape.arity)) return add_many(entry, shape, listed, sequences, plan);
        std::uint32_t gaps = 0;  // between two pairs, from 1 on; 0: they cannot both be in a sequence
        if (pairs.count == 2) {
            if (pairs.theirs[1] < pairs.theirs[0]) {
                std::swap(pairs.mine[0], pairs.mine[1]);
                std::swap(pairs.theirs[0], pairs.theirs[1]);
            }
            if (pairs.mine[0] < pairs.mine[1] && pairs.theirs[0] < pairs.theirs[1] &&
                columns_.options().max_subsequence != 1) {
                gaps = pairs.mine[1] - pairs.mine[0] + pairs.theirs[1] - pairs.theirs[0] - 1U;
                entry.link = sequences.weight(gaps - 1);
            }
        }
        std::copy_n(pairs.mine.begin(), pairs.count, entry.mine.begin());
        std::copy_n(pairs.theirs.begin(), pairs.count, entry.theirs.begin());
        if (listed[entry.mine[0]] != 0 && (!entry.has_two() || listed[entry.mine[1]] != 0)) {
            const double bare = columns_.options().bare();
            count(entry, entry.has_two() ? bare + bare + entry.link * (bare * bare) : bare, plan);
        } else if (shape.count < kRare) {
            Group& group = group_of(entry, gaps);
            group.members.push_back({number, entry.theirs});
            group.subtrees += shape.count;
        } else {
            plan.whole.push_back(entry);
        }
        return 8;
    }

    // A shape with more pairs than two.
    std::size_t add_many(PartialPlan::Entry& entry, const PartialColumns::Shape& shape,
                         std::span<const std::uint8_t> listed, SequenceSums& sequences, PartialPlan& plan) {
        PartialPlan::List list{static_cast<std::uint32_t>(plan.cells.size()), 0,
                               static_cast<std::uint32_t>(plan.links.size()), 0};
        entry.list = static_cast<std::uint32_t>(plan.lists.size());
        const bool found = sequences.find(columns_.child_labels(shape), plan.cells, plan.links);
        if (found) {
            list.cells = static_cast<std::uint32_t>(plan.cells.size()) - list.cell;
            list.links = static_cast<std::uint32_t>(plan.links.size()) - list.link;
        } else {
            plan.cells.resize(list.cell);
            plan.links.resize(list.link);
        }
        plan.lists.push_back(list);
        const SequenceSums::Cells cells = plan.cells_of(entry);
        if (found &&
            std::all_of(cells.cells.begin(), cells.cells.end(), [&](const auto& cell) { return listed[cell.i] != 0; }))
            count(entry, sequences.sum(cells, [&](const auto&) { return columns_.options().bare(); }), plan);
        else
            plan.others.push_back(entry);
        return 8 + shape.arity + list.links;
    }

    // sum: over sequences, if all children that match are bare.
    void count(PartialPlan::Entry& entry, double sum, PartialPlan& plan) const {
        entry.bare = columns_.options().depth_decay * sum;
        for (std::size_t o = 0; o < outputs_; ++o)
            plan.worth[o] += entry.bare * shape_weight_[entry.shape * outputs_ + o];
        plan.counted.push_back(entry);
    }

    Group& group_of(const PartialPlan::Entry& entry, std::uint32_t gaps) {
        const std::uint64_t key = (std::uint64_t{entry.mine[0]} << 32) | (std::uint64_t{entry.mine[1]} << 16) | gaps;
        if (used_groups_ > 0 && groups_[recent_].key == key) return groups_[recent_];
        const auto hash = static_cast<std::uint32_t>(detail::mix(key, 0));
        recent_ = group_table_.find(hash, [&](std::uint32_t number) { return groups_[number].key == key; });
        if (recent_ != kNone) return groups_[recent_];
        recent_ = static_cast<std::uint32_t>(used_groups_);
        group_table_.insert(hash, recent_);
        if (used_groups_ == groups_.size()) groups_.emplace_back();
        Group& group = groups_[used_groups_++];
        group.key = key;
        group.mine = entry.mine;
        group.link = entry.link;
        group.subtrees = 0;
        group.members.clear();
        return group;
    }

    void put_runs(PartialPlan& plan) {
        // What was left out must not change their order.
        std::sort(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(used_groups_),
                  [](const Group& a, const Group& b) { return a.key < b.key; });
        recent_ = 0;
        std::size_t total = 0;
        for (std::size_t g = 0; g < used_groups_; ++g)
            total += groups_[g].subtrees * (groups_[g].mine[1] == PartialPlan::kNoPair ? 2 : 3);
        plan.numbers.resize(total);
        std::uint32_t* to = plan.numbers.data();
        for (std::size_t g = 0; g < used_groups_; ++g) {
            const Group& group = groups_[g];
            plan.runs.push_back({group.mine, static_cast<std::uint32_t>(to - plan.numbers.data()),
                                 static_cast<std::uint32_t>(group.subtrees), group.link});
            for (const Member& member : group.members) {
                const PartialColumns::Shape& shape = columns_.shape(member.shape);
                for (std::uint32_t k = 0; k < shape.count; ++k) *to++ = shape.begin + k;
            }
            for (std::size_t c = 0; c < 2 && group.mine[c] != PartialPlan::kNoPair; ++c)
                for (const Member& member : group.members) {
                    const PartialColumns::Shape& shape = columns_.shape(member.shape);
                    const std::uint32_t* places = columns_.child_places(shape, member.theirs[c]);
                    for (std::uint32_t k = 0; k < shape.count; ++k) *to++ = places[k];
                }
        }
    }

    const PartialColumns& columns_;
    std::span<const double> shape_weight_;
    std::size_t outputs_;
    std::vector<Group> groups_;
    std::size_t used_groups_ = 0;
    std::uint32_t recent_ = 0;        // the group that was last asked for
    detail::IndexTable group_table_;  // by key
};

}  // namespace sapwood
