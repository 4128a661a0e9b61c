// Places of trees that match a pattern: sets of places, combined step by step.
//
// A pattern without variables is a tree itself, so it needs no backtracking: for "A over B" take all places that match
// B, go from each to where an A could be, and keep those that match A. Each step is one pass over the places of a tree,
// whatever the pattern. The steps come in postfix order; Python makes them (trees/patterns.py).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

enum class PatternOp : std::int32_t {
    label,   // places whose label is in row `argument` of the table
    both,    // of the last two sets, what is in both
    either,  // what is in either
    none,    // what is not in the last one
    child,   // places with a child in the last set; the argument says which child
    parent,  // places whose parent is in it; the argument says which child they are
    below,   // places with a descendant in it; the argument says which child each step on the way down is
    above,   // places with an ancestor in it
    sister,  // places with a sister in it
    next_sister,
    previous_sister,
    later_sister,
    earlier_sister,
    next,  // places right before a place in it: the next word is that one's first
    previous,
    later,
    earlier,
    count,
};

struct PatternStep {
    PatternOp op;
    std::int32_t argument;  // of children: 0 is any, n the n-th, -n the n-th from the end, kOnlyChild an only one
};

inline constexpr std::int32_t kOnlyChild = std::numeric_limits<std::int32_t>::min();

class PatternSearch {
  public:
    // Rows of the table: which labels pass each test. A tree that lacks all labels of a required row has no match.
    PatternSearch(const Arena& arena, std::span<const PatternStep> steps, std::span<const std::uint8_t> table,
                  std::span<const std::uint32_t> required)
        : arena_(arena), steps_(steps), table_(table), labels_(arena.symbols.size()) {
        std::size_t depth = 0;
        for (const PatternStep& step : steps) {
            if (step.op < PatternOp::label || step.op >= PatternOp::count)
                throw std::invalid_argument("unknown step of a pattern");
            const bool binary = step.op == PatternOp::both || step.op == PatternOp::either;
            const std::size_t taken = step.op == PatternOp::label ? 0 : binary ? 2 : 1;
            if (depth < taken) throw std::invalid_argument("a step of a pattern without operands");
            if (step.op == PatternOp::label && !is_row(step.argument))
                throw std::invalid_argument("a pattern without its labels");
            depth += 1 - taken;
            sets_.resize(std::max(sets_.size(), depth));
        }
        if (depth != 1) throw std::invalid_argument("the steps of a pattern do not give one set");
        find_holders(required);
    }

    // Calls found(place, node) for every match in a tree; places are counted in pre-order.
    template <class Found>
    void search(Node root, Found found) {
        if (holds_[root] != all_) return;
        enter(root);
        std::size_t depth = 0;
        for (const PatternStep& step : steps_) depth = apply(step, depth);
        for (std::size_t p = 0; p < nodes_.size(); ++p)
            if (sets_[0][p]) found(p, nodes_[p]);
    }

  private:
    using Set = std::vector<std::uint8_t>;

    bool is_row(std::int64_t row) const {
        return row >= 0 && (static_cast<std::size_t>(row) + 1) * labels_ <= table_.size();
    }

    // Which of the required rows have a label somewhere in each subtree.
    void find_holders(std::span<const std::uint32_t> required) {
        const std::size_t rows = std::min<std::size_t>(required.size(), 8);
        all_ = static_cast<std::uint8_t>((1u << rows) - 1);
        Set of_label(labels_);
        for (std::size_t k = 0; k < rows; ++k) {
            if (!is_row(required[k])) throw std::invalid_argument("a pattern without its labels");
            for (std::size_t s = 0; s < labels_; ++s)
                of_label[s] |= static_cast<std::uint8_t>((table_[required[k] * labels_ + s] != 0) << k);
        }
        holds_.resize(arena_.size());
        for (Node node = 0; node < arena_.size(); ++node) {
            std::uint8_t held = of_label[arena_.label(node)];
            for (const Node child : arena_.children(node)) held |= holds_[child];
            holds_[node] = held;
        }
    }

    void enter(Node root) {
        nodes_.clear(), parents_.clear(), numbers_.clear(), first_.clear(), ends_.clear();
        leaves_ = 0;
        stack_.assign(1, {root, 0, 0});
        while (!stack_.empty()) {
            const Entry entry = stack_.back();
            stack_.pop_back();
            const auto place = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(entry.node);
            parents_.push_back(entry.parent);
            numbers_.push_back(entry.number);
            first_.push_back(leaves_);
            const auto kids = arena_.children(entry.node);
            leaves_ += kids.empty();
            for (std::size_t k = kids.size(); k-- > 0;)
                stack_.push_back({kids[k], place, static_cast<std::uint32_t>(k)});
        }
        first_.push_back(leaves_);
        ends_.resize(nodes_.size());
        for (std::size_t p = nodes_.size(); p-- > 0;) {
            // All that is below comes later, and so is done.
            ends_[p] = std::max<std::uint32_t>(ends_[p], static_cast<std::uint32_t>(p) + 1);
            if (p > 0) ends_[parents_[p]] = std::max(ends_[parents_[p]], ends_[p]);
        }
    }

    std::uint32_t siblings(std::size_t p) const {
        return static_cast<std::uint32_t>(arena_.children(nodes_[parents_[p]]).size());
    }
    // Whether a place that is not the root is the child that is asked for.
    bool is_child(std::size_t p, std::int32_t which) const {
        if (which == 0) return true;
        if (which == kOnlyChild) return siblings(p) == 1;
        if (which > 0) return numbers_[p] + 1 == static_cast<std::uint32_t>(which);
        return siblings(p) - numbers_[p] == static_cast<std::uint32_t>(-which);
    }
    // The next sister of a place that is not the root, or 0.
    std::size_t sister_of(std::size_t p) const { return ends_[p] < ends_[parents_[p]] ? ends_[p] : 0; }
    std::uint32_t last(std::size_t p) const { return first_[ends_[p]] - 1; }

    std::size_t apply(const PatternStep& step, std::size_t depth);
    void move(const PatternStep& step, const Set& from, Set& to);
    void move_in_words(PatternOp op, const Set& from, Set& to);

    struct Entry {
        Node node;
        std::uint32_t parent, number;
    };

    const Arena& arena_;
    std::span<const PatternStep> steps_;
    std::span<const std::uint8_t> table_;
    std::size_t labels_;
    Set holds_;  // per subtree: the required rows that it has a label of
    std::uint8_t all_ = 0;
    // Of the tree at hand, per place: its subtree, its parent, which child it is, and the words before it.
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> parents_, numbers_, first_, ends_;
    std::uint32_t leaves_ = 0;
    std::vector<Entry> stack_;
    std::vector<Set> sets_;
    Set moved_, marks_;
    std::vector<std::uint32_t> counts_;
};

inline std::size_t PatternSearch::apply(const PatternStep& step, std::size_t depth) {
    const std::size_t n = nodes_.size();
    if (step.op == PatternOp::label) {
        const auto row = table_.subspan(static_cast<std::size_t>(step.argument) * labels_, labels_);
        sets_[depth].resize(n);
        for (std::size_t p = 0; p < n; ++p) sets_[depth][p] = row[arena_.label(nodes_[p])] != 0;
        return depth + 1;
    }
    Set& top = sets_[depth - 1];
    switch (step.op) {
        case PatternOp::both:
            for (std::size_t p = 0; p < n; ++p) sets_[depth - 2][p] &= top[p];
            return depth - 1;
        case PatternOp::either:
            for (std::size_t p = 0; p < n; ++p) sets_[depth - 2][p] |= top[p];
            return depth - 1;
        case PatternOp::none:
            for (std::size_t p = 0; p < n; ++p) top[p] = !top[p];
            return depth;
        default:
            moved_.assign(n, 0);
            move(step, top, moved_);
            top.swap(moved_);
            return depth;
    }
}

// Sets `to` at all places that have a place of `from` where the step says.
inline void PatternSearch::move(const PatternStep& step, const Set& from, Set& to) {
    const std::size_t n = nodes_.size();
    switch (step.op) {
        case PatternOp::child:
            for (std::size_t p = 1; p < n; ++p)
                if (from[p] && is_child(p, step.argument)) to[parents_[p]] = 1;
            return;
        case PatternOp::parent:
            for (std::size_t p = 1; p < n; ++p) to[p] = from[parents_[p]] && is_child(p, step.argument);
            return;
        case PatternOp::below:
            for (std::size_t p = n; p-- > 1;)
                if ((from[p] || to[p]) && is_child(p, step.argument)) to[parents_[p]] = 1;
            return;
        case PatternOp::above:
            for (std::size_t p = 1; p < n; ++p)
                to[p] = (from[parents_[p]] || to[parents_[p]]) && is_child(p, step.argument);
            return;
        case PatternOp::sister:
            counts_.assign(n, 0);
            for (std::size_t p = 1; p < n; ++p) counts_[parents_[p]] += from[p];
            for (std::size_t p = 1; p < n; ++p) to[p] = counts_[parents_[p]] > from[p];
            return;
        case PatternOp::next_sister:
            for (std::size_t p = 1; p < n; ++p)
                if (const std::size_t q = sister_of(p)) to[p] = from[q];
            return;
        case PatternOp::previous_sister:
            for (std::size_t p = 1; p < n; ++p)
                if (const std::size_t q = sister_of(p)) to[q] = from[p];
            return;
        case PatternOp::later_sister:
            for (std::size_t p = n; p-- > 1;)
                if (const std::size_t q = sister_of(p)) to[p] = from[q] || to[q];
            return;
        case PatternOp::earlier_sister:
            for (std::size_t p = 1; p < n; ++p)
                if (const std::size_t q = sister_of(p)) to[q] = from[p] || to[p];
            return;
        default:
            move_in_words(step.op, from, to);
    }
}

// The same for places that are compared by the words they cover.
inline void PatternSearch::move_in_words(PatternOp op, const Set& from, Set& to) {
    const std::size_t n = nodes_.size();
    const bool marked = op == PatternOp::next || op == PatternOp::previous;
    std::uint32_t latest = 0, earliest = leaves_;
    if (marked) marks_.assign(leaves_ + 2, 0);
    for (std::size_t p = 0; p < n; ++p) {
        if (!from[p]) continue;
        latest = std::max(latest, first_[p]);
        earliest = std::min(earliest, last(p));
        if (marked) marks_[op == PatternOp::next ? first_[p] : last(p) + 1] = 1;
    }
    for (std::size_t p = 0; p < n; ++p) {
        // Words that follow one are counted from 1 in the marks of those that come before.
        if (op == PatternOp::next) to[p] = last(p) + 1 < leaves_ && marks_[last(p) + 1];
        if (op == PatternOp::previous) to[p] = marks_[first_[p]] && first_[p] > 0;
        if (op == PatternOp::later) to[p] = last(p) < latest;
        if (op == PatternOp::earlier) to[p] = first_[p] > earliest;
    }
}

}  // namespace sapwood
