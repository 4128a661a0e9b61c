// The order in which the nodes of an element are best worked on, where each needs what was found for its children.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// Internal nodes with their children just before them, the tallest child first: then few of them are alive at a time.
// Those that are have a slot each, where the caller may keep what it found.
class NodeOrder {
  public:
    explicit NodeOrder(const Arena& arena) : arena_(arena), slot_(arena.size(), kNone) {}

    // Takes the nodes of an element, children before their parents. All nodes of the last one must be done.
    void enter(std::span<const Node> nodes) {
        used_ = 0;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (arena_.is_leaf(nodes[k])) continue;
            if (used_ == state_.size()) state_.emplace_back();
            slot_[nodes[k]] = static_cast<std::uint32_t>(used_);
            State& state = state_[used_++];
            state = {k, 0, kNone, 0, false};
            for (const Node child : arena_.children(nodes[k])) {
                if (slot_[child] == kNone) continue;
                State& below = state_[slot_[child]];
                ++below.parents;
                if (below.height < state.height) continue;
                state.height = below.height + 1;
                state.tallest = child;
            }
        }
        arrange(nodes);
    }

    // Places of the internal nodes among those that were taken.
    std::span<const std::size_t> order() const { return order_; }
    std::size_t slots() const { return used_; }
    std::uint32_t slot(Node node) const { return slot_[node]; }  // kNone for leaves
    // Whether a node that is not done yet has this one as a child.
    bool wanted(std::uint32_t slot) const { return state_[slot].parents > 0; }

    // Call this after each node; release(slot) is called for all that are no longer needed.
    template <class Release>
    void done(Node node, Release release) {
        for (const Node child : arena_.children(node))
            if (slot_[child] != kNone && --state_[slot_[child]].parents == 0) leave(child, release);
        if (state_[slot_[node]].parents == 0) leave(node, release);
    }

  private:
    struct State {
        std::size_t index;    // among the nodes that were taken
        std::size_t parents;  // that are not done yet
        Node tallest;         // among its internal children
        std::uint32_t height;
        bool ordered;
    };
    struct Step {
        Node node;
        std::size_t next;  // child to look at: 0 is the tallest, k the k-th
    };

    template <class Release>
    void leave(Node node, Release release) {
        release(slot_[node]);
        slot_[node] = kNone;
    }

    void arrange(std::span<const Node> nodes) {
        order_.clear();
        for (std::size_t k = nodes.size(); k-- > 0;) {
            if (slot_[nodes[k]] == kNone || state_[slot_[nodes[k]]].ordered) continue;
            state_[slot_[nodes[k]]].ordered = true;
            path_.assign(1, {nodes[k], 0});
            while (!path_.empty()) {
                const auto kids = arena_.children(path_.back().node);
                const State& state = state_[slot_[path_.back().node]];
                if (path_.back().next > kids.size()) {
                    order_.push_back(state.index);
                    path_.pop_back();
                    continue;
                }
                const std::size_t next = path_.back().next++;
                const Node child = next == 0 ? state.tallest : kids[next - 1];
                if (child == kNone || slot_[child] == kNone || state_[slot_[child]].ordered) continue;
                state_[slot_[child]].ordered = true;
                path_.push_back({child, 0});
            }
        }
    }

    const Arena& arena_;
    std::vector<std::uint32_t> slot_;  // per subtree of the arena
    std::vector<State> state_;         // per slot
    std::size_t used_ = 0;
    std::vector<Step> path_;
    std::vector<std::size_t> order_;
};

}  // namespace sapwood
