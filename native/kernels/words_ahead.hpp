// Dot products of the vectors of row words with those of column words, for some rows at once: the vectors of the
// columns are then read from memory once for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/lexicon.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class WordsAhead {
  public:
    // A word of a row that is compared with a group of column words; no group: with none.
    struct Asked {
        std::uint32_t group = kNone, word = kNone;
        Node node = kNone;
    };

    // Compares the words of this and some of the next elements. asked(node) says with what the word at a node is
    // compared, from(group) the first place of a group that matters to any of these elements.
    template <class AskedAt, class From>
    void look(const Arena& arena, const Bags& rows, std::size_t element, const WordGroups& groups,
              const WordFeatures& features, const Control& control, AskedAt asked, From from) {
        if (!groups.has_vectors() || (element >= begin_ && element < end_)) return;
        for (const Asked& one : asked_) products_[one.node] = kNowhere;
        asked_.clear();
        products_.resize(arena.size(), kNowhere);
        std::size_t room = 0;
        begin_ = end_ = element;
        // Threads take so many elements at a time: what is beyond them is another's.
        const std::size_t block = groups.rows_at_once(), last = std::min(rows.size(), (element / block + 1) * block);
        for (; end_ < last && room < kRoom; ++end_)
            for (const Node node : rows.numbers_of(end_)) {
                const Asked one = asked(node);
                if (one.group == kNone || products_[node] != kNowhere || !features.vectors.known(one.word)) continue;
                products_[node] = 0;
                asked_.push_back({one.group, one.word, node});
                room += groups.vectors(one.group).stride();
            }
        if (room_.size() < room) room_.resize(room);
        std::stable_sort(asked_.begin(), asked_.end(),
                         [](const Asked& a, const Asked& b) { return a.group < b.group; });
        std::size_t used = 0;
        for (std::size_t begin = 0, next; begin < asked_.size(); begin = next) {
            const VectorGroup& columns = groups.vectors(asked_[begin].group);
            if (features.vectors.width() != columns.width()) throw std::invalid_argument("vectors of different widths");
            // Fewer at once where they are compared with many, so that this can be interrupted.
            const std::size_t most = std::max<std::size_t>(kSteps / (columns.stride() * columns.width()), 6);
            vectors_.clear();
            for (next = begin; next < asked_.size() && asked_[next].group == asked_[begin].group; ++next) {
                if (next - begin == most) break;
                const auto vector = features.vectors.of(asked_[next].word);
                vectors_.insert(vectors_.end(), vector.begin(), vector.end());
                products_[asked_[next].node] = used + (next - begin) * columns.stride();
            }
            control.check();
            columns.multiply(vectors_, from(asked_[begin].group) - 1, room_.data() + used);
            used += (next - begin) * columns.stride();
        }
    }

    // The products of the word at a node; null if it was not asked for.
    const float* products(Node node) const {
        if (products_.empty() || products_[node] == kNowhere) return nullptr;
        return room_.data() + products_[node];
    }

  private:
    // Products that are kept at once, about, and steps between checks.
    static constexpr std::size_t kRoom = std::size_t{4} << 20, kSteps = std::size_t{1} << 28;
    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

    std::size_t begin_ = 0, end_ = 0;
    std::vector<Asked> asked_;
    std::vector<std::size_t> products_;  // per subtree of the arena: where its products begin
    std::vector<float> room_, vectors_;
};

}  // namespace sapwood
