// A fixed list of fragments, and how often elements hold each of them.
//
// Fragments are trees whose leaves are words or cut-off labels. Those that keep productions whole are stored in a trie
// of the steps in which they grow (see explain/fragments.hpp), so that all that fit a node are found in one walk.
// Complete subtrees are looked up by their number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "explain/fragments.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Counts in compressed rows; columns within a row are ascending.
struct FragmentCounts {
    std::vector<std::uint64_t> ends{0};
    std::vector<std::uint32_t> columns;
    std::vector<double> counts;
};

// find(map, node, columns) appends the columns of all fragments that hang from a row node.
template <class Find>
FragmentCounts count_fragments(const ArenaMap& map, const Bags& rows, std::size_t width, const Control& control,
                               Find find) {
    // Elements share subtrees, so what a subtree holds is found once.
    constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
    std::vector<std::size_t> begin(map.arena.size(), kUnknown), end(map.arena.size(), 0);
    std::vector<std::uint32_t> held;
    std::vector<double> total(width, 0.0);
    std::vector<bool> present(width, false);
    FragmentCounts result;
    std::vector<std::uint32_t> row;
    std::size_t work = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        row.clear();
        const auto numbers = rows.numbers_of(i);
        const auto counts = rows.counts_of(i);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const Node node = numbers[k];
            if (begin[node] == kUnknown) {
                begin[node] = held.size();
                find(node, held);
                end[node] = held.size();
            }
            for (std::size_t h = begin[node]; h < end[node]; ++h) {
                const std::uint32_t column = held[h];
                if (!present[column]) {
                    present[column] = true;
                    row.push_back(column);
                }
                total[column] += counts[k];
            }
            if ((work += 1 + end[node] - begin[node]) > 1000000) {
                control.check();
                work = 0;
            }
        }
        std::sort(row.begin(), row.end());
        for (const std::uint32_t column : row) {
            result.columns.push_back(column);
            result.counts.push_back(total[column]);
            total[column] = 0.0;
            present[column] = false;
        }
        result.ends.push_back(result.columns.size());
    }
    return result;
}

class SubtreeVocabulary {
  public:
    SubtreeVocabulary(Arena arena, std::span<const Node> roots, const Control&)
        : arena_(std::move(arena)), width_(roots.size()) {
        column_.assign(arena_.size(), kNone);
        for (std::size_t i = 0; i < roots.size(); ++i) column_[roots[i]] = static_cast<std::uint32_t>(i);
    }

    FragmentCounts count(const Arena& arena, const Bags& rows, const Control& control) const {
        const ArenaMap map(arena, arena_, rows);
        return count_fragments(map, rows, width_, control, [&](Node node, std::vector<std::uint32_t>& columns) {
            const Node known = map.node(node);
            if (known != kNone && column_[known] != kNone) columns.push_back(column_[known]);
        });
    }

  private:
    Arena arena_;
    std::size_t width_;
    std::vector<std::uint32_t> column_;
};

class FragmentVocabulary {
  public:
    // Throws TooManyFragmentsError where shared subtrees make fragments too large to be written out: a few distinct
    // ones may stand for exponentially many nodes.
    FragmentVocabulary(Arena arena, std::span<const Node> roots, const Control& control)
        : arena_(std::move(arena)), width_(roots.size()) {
        const std::size_t most = kRepeats * (arena_.size() + arena_.edge_count()) + kSmall;
        std::size_t written = 0, work = 0;
        std::vector<Node> slots;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (arena_.is_leaf(roots[i])) continue;  // a bare leaf is no fragment
            std::uint32_t at = step(kNone, 0, arena_.production_of(roots[i]));
            const auto children = arena_.children(roots[i]);
            slots.assign(children.begin(), children.end());
            for (std::size_t slot = 0; slot < slots.size(); ++slot) {
                const Node node = slots[slot];
                if (arena_.is_leaf(node)) continue;
                at = step(at, static_cast<std::uint32_t>(slot), arena_.production_of(node));
                const auto kids = arena_.children(node);
                slots.insert(slots.end(), kids.begin(), kids.end());
                if (slots.size() > most || states_.size() > most || written + slots.size() > kMostWritten)
                    throw TooManyFragmentsError();
                if ((work += 1 + kids.size()) > 1000000) {
                    control.check();
                    work = 0;
                }
            }
            written += slots.size();
            states_[at].column = static_cast<std::uint32_t>(i);
        }
    }

    FragmentCounts count(const Arena& arena, const Bags& rows, const Control& control) const {
        const ArenaMap map(arena, arena_, rows);
        std::vector<Node> slots;
        std::vector<Frame> frames;
        std::size_t work = 0;
        const auto enter = [&](std::uint32_t state, Node node, std::vector<std::uint32_t>& columns) {
            if (states_[state].column != kNone) columns.push_back(states_[state].column);
            frames.push_back({state, 0, slots.size()});
            if (states_[state].slots.empty()) return;
            for (const Node child : map.arena.children(node)) slots.push_back(child);
        };
        return count_fragments(map, rows, width_, control, [&](Node root, std::vector<std::uint32_t>& columns) {
            if (map.arena.is_leaf(root) || map.productions[root] == kNone) return;
            const std::uint32_t start = find(kNone, 0, map.productions[root]);
            if (start == kNone) return;
            slots.clear();
            enter(start, root, columns);
            while (!frames.empty()) {
                if (++work > 1000000) {
                    control.check();
                    work = 0;
                }
                Frame& frame = frames.back();
                const std::vector<std::uint32_t>& fillable = states_[frame.state].slots;
                if (frame.next == fillable.size()) {
                    slots.resize(frame.before);
                    frames.pop_back();
                    continue;
                }
                const std::uint32_t slot = fillable[frame.next++];
                const Node node = slots[slot];
                if (map.arena.is_leaf(node) || map.productions[node] == kNone) continue;
                const std::uint32_t state = find(frame.state, slot, map.productions[node]);
                if (state != kNone) enter(state, node, columns);
            }
        });
    }

  private:
    struct State {
        std::uint32_t before, slot;
        Production production;
        std::uint32_t column = kNone;
        std::vector<std::uint32_t> slots;  // that some fragment fills next
    };
    struct Frame {
        std::uint32_t state, next;
        std::size_t before;  // length of the slots without this state's own
    };

    static std::uint32_t hash(std::uint32_t before, std::uint32_t slot, Production production) {
        const std::uint64_t mixed = detail::mix((std::uint64_t{before} << 32) | production, slot);
        return static_cast<std::uint32_t>(mixed ^ (mixed >> 32));
    }

    std::uint32_t find(std::uint32_t before, std::uint32_t slot, Production production) const {
        return table_.find(hash(before, slot, production), [&](std::uint32_t number) {
            const State& state = states_[number];
            return state.before == before && state.slot == slot && state.production == production;
        });
    }

    std::uint32_t step(std::uint32_t before, std::uint32_t slot, Production production) {
        std::uint32_t state = find(before, slot, production);
        if (state != kNone) return state;
        state = static_cast<std::uint32_t>(states_.size());
        states_.push_back({before, slot, production, kNone, {}});
        table_.insert(hash(before, slot, production), state);
        if (before != kNone) {
            auto& slots = states_[before].slots;
            if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
        }
        return state;
    }

    // What fragments may take: so many times the distinct subtrees that they are stored as, in each and in all
    // together, and so many nodes in all of them.
    static constexpr std::size_t kRepeats = 64, kSmall = 1000000, kMostWritten = 1000000000;

    Arena arena_;
    std::size_t width_;
    std::vector<State> states_;
    detail::IndexTable table_;
};

// Per tree: the number of its nodes with children, and its height in edges.
struct FragmentSizes {
    std::vector<double> sizes, heights;
};

inline FragmentSizes measure(const Arena& arena, std::span<const Node> roots) {
    std::vector<double> size(arena.size(), 0.0), height(arena.size(), 0.0);
    for (Node node = 0; node < arena.size(); ++node) {
        if (arena.is_leaf(node)) continue;
        size[node] = 1.0;
        for (const Node child : arena.children(node)) {
            size[node] += size[child];
            height[node] = std::max(height[node], height[child] + 1.0);
        }
    }
    FragmentSizes result;
    for (const Node root : roots) {
        result.sizes.push_back(size[root]);
        result.heights.push_back(height[root]);
    }
    return result;
}

}  // namespace sapwood
