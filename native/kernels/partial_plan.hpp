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
#include <vector>

#include "core/visited_set.hpp"
#include "kernels/partial.hpp"
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
    struct Run {  // subtrees of rare shapes that ask the same
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
    std::size_t members = 0;    // subtrees of all these shapes

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
    // shape_weight: per shape x outputs, the sum of the weights of its subtrees; seen: for all shapes. All of this must
    // outlive the planner.
    PartialPlanner(const PartialColumns& columns, const std::vector<double>& shape_weight, std::size_t outputs,
                   VisitedSet& seen)
        : columns_(columns), shape_weight_(shape_weight), outputs_(outputs), seen_(seen) {}

    // For nodes with these labels (kNone matches nothing). listed: per child, whether it is bare with all subtrees of
    // the model but a few. Returns how much work that was, in comparisons of labels.
    std::size_t make(Symbol label, std::span<const Symbol> children, std::span<const std::uint8_t> listed,
                     SequenceSums& sequences, PartialPlan& plan) {
        plan.clear();
        plan.worth.assign(outputs_, 0.0);
        seen_.clear();
        std::size_t work = 0;
        used_groups_ = 0;
        sequences.enter_labels(children);
        for (const Symbol child : children) {
            if (child == kNone) continue;
            for (const std::uint32_t number : columns_.shapes_with(label, child))
                if (seen_.insert(number)) work += add(number, listed, sequences, plan);
        }
        put_runs(plan);
        return work;
    }

  private:
    static constexpr std::size_t kRare = 16;  // subtrees of a shape, below which they are gone through with others
    static constexpr std::size_t kGroups = 256;

    // Rare shapes that ask the same of the same children.
    struct Group {
        std::array<std::uint16_t, 2> mine;
        double link;
        std::size_t members;
        std::vector<PartialPlan::Entry> entries;
    };

    std::size_t add(std::uint32_t number, std::span<const std::uint8_t> listed, SequenceSums& sequences,
                    PartialPlan& plan) {
        const PartialColumns::Shape& shape = columns_.shape(number);
        plan.members += shape.count;
        PartialPlan::Entry entry;
        entry.shape = number;
        cells_.clear();
        links_.clear();
        const bool found = sequences.find(columns_.child_labels(shape), cells_, links_);
        if (!found || cells_.size() > 2) {
            entry.list = static_cast<std::uint32_t>(plan.lists.size());
            PartialPlan::List list{static_cast<std::uint32_t>(plan.cells.size()), 0,
                                   static_cast<std::uint32_t>(plan.links.size()), 0};
            if (found) {
                list.cells = static_cast<std::uint32_t>(cells_.size());
                list.links = static_cast<std::uint32_t>(links_.size());
                plan.cells.insert(plan.cells.end(), cells_.begin(), cells_.end());
                plan.links.insert(plan.links.end(), links_.begin(), links_.end());
            }
            plan.lists.push_back(list);
        } else {
            for (std::size_t c = 0; c < cells_.size(); ++c) {
                entry.mine[c] = static_cast<std::uint16_t>(cells_[c].i);
                entry.theirs[c] = static_cast<std::uint16_t>(cells_[c].j);
            }
            if (!links_.empty()) entry.link = sequences.weight(links_[0]);
        }
        const PartialOptions& options = columns_.options();
        if (found && std::all_of(cells_.begin(), cells_.end(), [&](const auto& cell) { return listed[cell.i] != 0; })) {
            const double bare = options.depth_decay * options.decay * options.decay;
            entry.bare = options.depth_decay * sequences.sum({cells_, links_}, [&](const auto&) { return bare; });
            for (std::size_t o = 0; o < outputs_; ++o)
                plan.worth[o] += entry.bare * shape_weight_[number * outputs_ + o];
            plan.counted.push_back(entry);
        } else if (entry.list != kNone) {
            plan.others.push_back(entry);
        } else if (Group* group = shape.count < kRare ? group_of(entry) : nullptr) {
            group->entries.push_back(entry);
            group->members += shape.count;
        } else {
            plan.whole.push_back(entry);
        }
        return 8 + shape.arity + links_.size();
    }

    // Null if there are so many that looking for one would take long.
    Group* group_of(const PartialPlan::Entry& entry) {
        for (std::size_t g = 0; g < used_groups_; ++g)
            if (groups_[g].mine == entry.mine && groups_[g].link == entry.link) return &groups_[g];
        if (used_groups_ == kGroups) return nullptr;
        if (used_groups_ == groups_.size()) groups_.emplace_back();
        Group& group = groups_[used_groups_++];
        group.mine = entry.mine;
        group.link = entry.link;
        group.members = 0;
        group.entries.clear();
        return &group;
    }

    void put_runs(PartialPlan& plan) {
        for (std::size_t g = 0; g < used_groups_; ++g) {
            const Group& group = groups_[g];
            plan.runs.push_back({group.mine, static_cast<std::uint32_t>(plan.numbers.size()),
                                 static_cast<std::uint32_t>(group.members), group.link});
            for (const PartialPlan::Entry& entry : group.entries) {
                const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                for (std::uint32_t k = 0; k < shape.count; ++k) plan.numbers.push_back(shape.begin + k);
            }
            for (std::size_t c = 0; c < 2 && group.mine[c] != PartialPlan::kNoPair; ++c)
                for (const PartialPlan::Entry& entry : group.entries) {
                    const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                    const std::uint32_t* places = columns_.child_places(shape, entry.theirs[c]);
                    plan.numbers.insert(plan.numbers.end(), places, places + shape.count);
                }
        }
    }

    const PartialColumns& columns_;
    const std::vector<double>& shape_weight_;
    std::size_t outputs_;
    VisitedSet& seen_;
    std::vector<SequenceSums::Cell> cells_;
    std::vector<SequenceSums::Link> links_;
    std::vector<Group> groups_;
    std::size_t used_groups_ = 0;
};

}  // namespace sapwood
