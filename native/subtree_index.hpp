// A subtree model as what every complete subtree is worth: one look-up per distinct subtree of what is scored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "lens.hpp"
#include "parallel.hpp"
#include "scoring.hpp"
#include "subtree.hpp"

namespace sapwood {

class SubtreeIndex {
  public:
    static constexpr bool kQuick = true;

    // weights: elements x outputs, row major. The arena must outlive the index and not change.
    SubtreeIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs, double decay)
        : arena_(arena), outputs_(outputs), worth_(subtree_weights(arena, bags, weights, outputs)) {
        const SubtreeColumns columns(arena, bags, decay);
        // A leaf by itself is no fragment.
        for (Node node = 0; node < arena.size(); ++node)
            for (std::size_t o = 0; o < outputs; ++o)
                worth_[node * outputs + o] = arena.is_leaf(node) ? 0.0 : worth_[node * outputs + o] * columns.weights()[node];
        // After all of them one that stands for what the model has never seen, so that nothing depends on a guess.
        worth_.resize(worth_.size() + outputs, 0.0);
    }

    std::size_t outputs() const { return outputs_; }
    std::size_t bytes() const { return worth_.capacity() * sizeof(double); }

    // The numbers that subtrees of another arena have in this one; kNone for those it does not have.
    class Translation {
      public:
        Translation(const SubtreeIndex& index, const Arena& rows, std::span<const Node> nodes)
            : arena(rows), there(nodes.empty() ? 0 : std::size_t{nodes.back()} + 1, kNone) {
            if (&rows == &index.arena_) {
                for (const Node node : nodes) there[node] = node;
                return;
            }
            const LabelLens symbols(rows, index.arena_);
            std::vector<Node> kids;
            for (const Node node : nodes) {
                kids.clear();
                for (const Node child : rows.children(node)) {
                    if (there[child] == kNone) break;
                    kids.push_back(there[child]);
                }
                if (kids.size() < rows.children(node).size()) continue;
                const Symbol label = symbols(rows.label(node));
                if (label != kNone) there[node] = index.arena_.find_node(label, kids);
            }
        }

        const Arena& arena;
        std::vector<Node> there;
    };

    class Reader {
      public:
        Reader(const SubtreeIndex& index, const Translation& translation, const Control&)
            : index_(index), translation_(translation), unseen_(static_cast<Node>(index.arena_.size())) {}

        void add(Node node, double* out) const {
            const double* worth = index_.worth_.data() + std::min(translation_.there[node], unseen_) * index_.outputs_;
            for (std::size_t o = 0; o < index_.outputs_; ++o) out[o] += worth[o];
        }

      private:
        const SubtreeIndex& index_;
        const Translation& translation_;
        Node unseen_;  // kNone is larger
    };

  private:
    const Arena& arena_;
    std::size_t outputs_;
    std::vector<double> worth_;  // per subtree of the arena, and for all others, x outputs
};

}  // namespace sapwood
