// Fragments that keep productions whole, grown one production at a time.
//
// A fragment starts as a bare production. Its children are *slots*, numbered in order of appearance; growing puts a
// production into a slot, whose children become new slots at the end. If slots are only ever filled in ascending
// order, every fragment is reached in exactly one way. A fragment fits a node in at most one way, so all places where
// it fits are a table: one row per node it hangs from, one column per open slot.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

struct TooManyFragmentsError : std::runtime_error {
    TooManyFragmentsError() : std::runtime_error("too many fragments") {}
};

// The last production of a fragment, and the fragment before it; a chain of these is a fragment.
struct FragmentStep {
    std::uint32_t before;  // kNone for the first
    std::uint32_t slot;
    Production production;
};

// Nodes that fragments are matched with, seen by common production numbers.
struct FragmentSide {
    const Arena& arena;
    std::span<const Production> productions;  // per node; kNone: unknown to the other side
};

// A slot that may still be filled, and how many productions deep a filling would be.
struct OpenSlot {
    std::uint32_t number, depth;
};

// The rows of one side: the nodes that the fragment hangs from, and what stands in each open slot (kNone: a leaf).
struct FragmentRows {
    std::vector<Node> roots, fillings;
};

// A fragment with the places where it can still grow.
template <std::size_t Sides>
struct GrownFragment {
    std::uint32_t step = kNone;
    std::uint32_t slots = 0;  // numbered so far
    std::size_t size = 0;     // productions
    std::vector<OpenSlot> open;
    FragmentRows rows[Sides];
};

// Puts a production into the open slot `at` of a fragment, or starts one from nodes in `start` that have it. Rows that
// cannot grow further are left out, and so are slots that hold leaves everywhere on some side.
template <std::size_t Sides>
class FragmentGrower {
  public:
    using Grown = GrownFragment<Sides>;

    FragmentGrower(const FragmentSide (&sides)[Sides], std::size_t height_limit)
        : sides_(sides), height_limit_(height_limit) {}

    Grown start(std::uint32_t step, std::size_t arity, const std::span<const Node> (&roots)[Sides]) {
        Grown grown;
        grown.step = step;
        grown.size = 1;
        open_.clear();
        append_slots(grown, arity, 2);
        for (std::size_t side = 0; side < Sides; ++side) {
            roots_[side].assign(roots[side].begin(), roots[side].end());
            fillings_[side].clear();
            if (!open_.empty())
                for (const Node root : roots[side]) append_children(side, root);
        }
        compact(grown);
        return grown;
    }

    Grown grow(const Grown& from, std::size_t at, Production production, std::uint32_t step, std::size_t arity) {
        Grown grown;
        grown.step = step;
        grown.size = from.size + 1;
        grown.slots = from.slots;
        const std::size_t width = from.open.size();
        open_.assign(from.open.begin() + static_cast<std::ptrdiff_t>(at) + 1, from.open.end());
        const std::size_t before = open_.size();
        append_slots(grown, arity, from.open[at].depth + 1);
        for (std::size_t side = 0; side < Sides; ++side) {
            const FragmentRows& rows = from.rows[side];
            roots_[side].clear();
            fillings_[side].clear();
            for (std::size_t i = 0; i < rows.roots.size(); ++i) {
                const Node* row = rows.fillings.data() + i * width;
                if (row[at] == kNone || sides_[side].productions[row[at]] != production) continue;
                roots_[side].push_back(rows.roots[i]);
                fillings_[side].insert(fillings_[side].end(), row + at + 1, row + width);
                if (open_.size() > before) append_children(side, row[at]);
            }
        }
        compact(grown);
        return grown;
    }

  private:
    void append_slots(Grown& grown, std::size_t arity, std::uint32_t depth) {
        for (std::size_t i = 0; i < arity; ++i, ++grown.slots)
            if (height_limit_ == 0 || depth <= height_limit_) open_.push_back({grown.slots, depth});
    }

    void append_children(std::size_t side, Node node) {
        const Arena& arena = sides_[side].arena;
        for (const Node child : arena.children(node)) fillings_[side].push_back(arena.is_leaf(child) ? kNone : child);
    }

    void compact(Grown& grown) {
        const std::size_t width = open_.size();
        std::vector<bool> useful(width, true);
        for (std::size_t side = 0; side < Sides; ++side)
            for (std::size_t j = 0; j < width; ++j) {
                if (!useful[j]) continue;
                bool filled = false;
                for (std::size_t i = 0; i < roots_[side].size() && !filled; ++i)
                    filled = fillings_[side][i * width + j] != kNone;
                useful[j] = filled;
            }
        for (std::size_t j = 0; j < width; ++j)
            if (useful[j]) grown.open.push_back(open_[j]);
        for (std::size_t side = 0; side < Sides; ++side) {
            FragmentRows& rows = grown.rows[side];
            for (std::size_t i = 0; i < roots_[side].size(); ++i) {
                const std::size_t begin = rows.fillings.size();
                bool alive = false;
                for (std::size_t j = 0; j < width; ++j) {
                    if (!useful[j]) continue;
                    rows.fillings.push_back(fillings_[side][i * width + j]);
                    alive |= rows.fillings.back() != kNone;
                }
                if (alive)
                    rows.roots.push_back(roots_[side][i]);
                else
                    rows.fillings.resize(begin);
            }
        }
    }

    const FragmentSide (&sides_)[Sides];
    std::size_t height_limit_;
    std::vector<OpenSlot> open_;
    std::vector<Node> roots_[Sides], fillings_[Sides];
};

// Writes fragments down as trees: what is cut off, and words, are leaves.
class FragmentWriter {
  public:
    // `productions` is the arena that the production numbers of the steps belong to.
    FragmentWriter(const Arena& productions, Arena& out)
        : source_(productions), out_(out), symbols_(productions.symbols.size(), kNone) {}

    Node leaf(Symbol label) { return out_.leaf(symbol(label)); }

    Node write(const std::vector<FragmentStep>& steps, std::uint32_t last) {
        chain_.clear();
        for (std::uint32_t at = last; at != kNone; at = steps[at].before) chain_.push_back(at);
        slots_.clear();
        begins_.clear();
        for (auto at = chain_.rbegin(); at != chain_.rend(); ++at) {
            begins_.push_back(slots_.size());
            for (const Node child : source_.children(source_.sample(steps[*at].production)))
                slots_.push_back(leaf(source_.label(child)));
        }
        Node node = kNone;
        for (std::size_t i = 0; i < chain_.size(); ++i) {  // from the last production to the first
            const FragmentStep& step = steps[chain_[i]];
            const std::size_t begin = begins_[chain_.size() - 1 - i];
            const Node sample = source_.sample(step.production);
            node = out_.node(symbol(source_.label(sample)),
                             std::span(slots_).subspan(begin, source_.children(sample).size()));
            if (step.before != kNone) slots_[step.slot] = node;
        }
        return node;
    }

  private:
    Symbol symbol(Symbol label) {
        Symbol& known = symbols_[label];
        if (known == kNone) known = out_.symbols.intern(source_.symbols.text(label));
        return known;
    }

    const Arena& source_;
    Arena& out_;
    std::vector<Symbol> symbols_;
    std::vector<std::uint32_t> chain_;
    std::vector<Node> slots_;
    std::vector<std::size_t> begins_;
};

}  // namespace sapwood
