// A subtree model as what every complete subtree is worth: one look-up per distinct subtree of what is scored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/scoring.hpp"
#include "kernels/subtree.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

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
                worth_[node * outputs + o] =
                    arena.is_leaf(node) ? 0.0 : worth_[node * outputs + o] * columns.weights()[node];
        // After all of them one that stands for what the model has never seen, so that nothing depends on a guess.
        worth_.resize(worth_.size() + outputs, 0.0);
    }

    std::size_t outputs() const { return outputs_; }
    std::size_t bytes() const { return worth_.capacity() * sizeof(double); }

    // The numbers that subtrees of another arena have in this one; kNone for those it does not have.
    class Translation {
      public:
        Translation(const SubtreeIndex& index, const Arena& rows, const UsedSubtrees& used)
            : there(used.nodes().size(), kNone) {
            const auto nodes = used.nodes();
            if (&rows == &index.arena_) {
                std::copy(nodes.begin(), nodes.end(), there.begin());
                return;
            }
            find(index.arena_, rows, used, LabelMap(rows, index.arena_, nodes));
        }

        std::vector<Node> there;  // per place

      private:
        // Where a subtree will be looked for follows from its labels, before any of it is found: so that memory can be
        // asked for ahead of time.
        void find(const Arena& columns, const Arena& rows, const UsedSubtrees& used, const LabelMap& symbols) {
            constexpr Node kWanted = kNone - 1;
            constexpr std::size_t kAhead = 12;
            const auto nodes = used.nodes();
            std::vector<std::uint32_t> hash(nodes.size());
            std::size_t widest = 0;
            for (std::size_t k = 0; k < nodes.size(); ++k) {
                const Symbol label = symbols(rows.label(nodes[k]));
                const auto children = rows.children(nodes[k]);
                bool known = label != kNone;
                Arena::Hash own(label);
                for (const Node child : children) {
                    const std::size_t place = used.place(child);
                    own.add(hash[place]);
                    known &= there[place] == kWanted;
                }
                hash[k] = own.value();
                if (!known) continue;
                there[k] = kWanted;
                widest = std::max(widest, children.size());
            }
            std::vector<Node> kids(widest);
            for (std::size_t k = 0; k < nodes.size(); ++k) {
                if (const std::size_t next = k + kAhead; next < nodes.size() && there[next] == kWanted)
                    columns.prefetch(hash[next], rows.children(nodes[next]).size());
                if (there[k] == kNone) continue;
                const auto children = rows.children(nodes[k]);
                std::size_t count = 0;
                while (count < children.size() && (kids[count] = there[used.place(children[count])]) != kNone) ++count;
                there[k] = count < children.size()
                               ? kNone
                               : columns.find_node(symbols(rows.label(nodes[k])), {kids.data(), count}, hash[k]);
            }
        }
    };

    class Reader {
      public:
        Reader(const SubtreeIndex& index, const Translation& translation, const Control&)
            : index_(index), translation_(translation), unseen_(static_cast<Node>(index.arena_.size())) {}

        void add(std::size_t place, double* out) const {
            const double* worth = index_.worth_.data() + std::min(translation_.there[place], unseen_) * index_.outputs_;
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
