// Words inside trees, and how similar they are: sigma(v, w) is the dot product of a left feature vector of v and a
// right feature vector of w, both sparse. Concepts, dimensions of a vector space or plain rows of a table all have this
// form. Words may have dense vectors as well, whose similarity is added.
//
// Column words are kept in groups (only words of one group are ever compared) with an inverted index from features to
// words, so that the similarities of a row word to a whole group cost by what it has in common with its words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/word_vectors.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// One sparse vector per word, and a dense one if there are any. A word without either is like nothing.
class WordFeatures {
  public:
    WordFeatures() = default;
    WordFeatures(std::span<const std::uint64_t> ends, std::span<const std::uint32_t> features,
                 std::span<const double> weights, WordVectors dense = {})
        : vectors(std::move(dense)),
          ends_(ends.begin(), ends.end()),
          features_(features.begin(), features.end()),
          weights_(weights.begin(), weights.end()) {
        for (const double weight : weights_) negative_ |= weight < 0.0;
        negative_ |= !vectors.empty() && vectors.measure.sharpness == 0.0;
    }

    WordVectors vectors;

    std::size_t size() const { return ends_.size(); }
    std::size_t begin(std::uint32_t word) const { return word == 0 ? 0 : ends_[word - 1]; }
    std::size_t count(std::uint32_t word) const { return ends_[word] - begin(word); }
    std::span<const std::uint32_t> features(std::uint32_t word) const {
        return std::span(features_).subspan(begin(word), count(word));
    }
    std::span<const double> weights(std::uint32_t word) const {
        return std::span(weights_).subspan(begin(word), count(word));
    }
    // Whether some entry is negative, so that similarities may be.
    bool negative() const { return negative_; }

  private:
    std::vector<std::uint64_t> ends_;
    std::vector<std::uint32_t> features_;
    std::vector<double> weights_;
    bool negative_ = false;
};

// Which labels of an arena are words, numbered in order of appearance, and which labels name phrases.
class Vocabulary {
  public:
    Vocabulary() = default;

    // The words under pre-terminals: nodes whose only child is a leaf and whose label is no phrase.
    template <class IsPhrase>
    static Vocabulary of_preterminals(const Arena& arena, const Bags& bags, IsPhrase is_phrase) {
        Vocabulary result(arena);
        std::vector<char> asked(arena.symbols.size(), 0);
        for (const Node node : bags.numbers) {
            const auto kids = arena.children(node);
            if (kids.size() != 1 || !arena.is_leaf(kids[0])) continue;
            const Symbol label = arena.label(node);
            if (!asked[label]) {
                asked[label] = 1;
                result.phrase_[label] = is_phrase(arena.symbols.text(label));
            }
            if (!result.phrase_[label]) result.add(arena.label(kids[0]));
        }
        return result;
    }

    // The labels of leaves, or of all nodes.
    static Vocabulary of_labels(const Arena& arena, const Bags& bags, bool leaves_only) {
        Vocabulary result(arena);
        for (const Node node : bags.numbers)
            if (!leaves_only || arena.is_leaf(node)) result.add(arena.label(node));
        return result;
    }

    // The same for an arena made by isolate(), whose labels are the numbers of the original ones.
    Vocabulary isolated(const Arena& alone) const {
        Vocabulary result(alone);
        for (Symbol symbol = 0; symbol < alone.symbols.size(); ++symbol) {
            Symbol original;
            std::memcpy(&original, alone.symbols.text(symbol).data(), sizeof original);
            result.phrase_[symbol] = phrase_[original];
            result.word_[symbol] = word_[original];
        }
        result.kind_ = kind_;
        return result;
    }

    // Only the words that are marked, numbered anew, and all of one kind.
    Vocabulary only(std::span<const bool> marked) const {
        Vocabulary result = *this;
        result.words_.clear();
        result.kind_.clear();
        std::fill(result.word_.begin(), result.word_.end(), kNone);
        for (std::size_t k = 0; k < words_.size(); ++k)
            if (marked[k]) result.add(words_[k]);
        return result;
    }

    // The same words in kinds, one number per word: words of different kinds are never similar.
    Vocabulary in_kinds(std::span<const std::uint32_t> kinds) const {
        Vocabulary result = *this;
        result.kind_.assign(kinds.begin(), kinds.end());
        return result;
    }
    std::uint32_t kind(std::uint32_t word) const { return kind_.empty() ? 0 : kind_[word]; }

    // The words, by their number.
    const std::vector<Symbol>& words() const { return words_; }
    // The number of a word, kNone for other labels.
    std::uint32_t word(Symbol label) const { return word_[label]; }

    // The number of the word under a pre-terminal; kNone for any other node.
    std::uint32_t word_under(const Arena& arena, Node node) const {
        const auto kids = arena.children(node);
        if (kids.size() != 1 || !arena.is_leaf(kids[0]) || phrase_[arena.label(node)]) return kNone;
        return word_[arena.label(kids[0])];
    }

  private:
    explicit Vocabulary(const Arena& arena) : phrase_(arena.symbols.size(), 0), word_(arena.symbols.size(), kNone) {}

    void add(Symbol label) {
        if (word_[label] != kNone) return;
        word_[label] = static_cast<std::uint32_t>(words_.size());
        words_.push_back(label);
    }

    std::vector<char> phrase_;         // per label of the arena
    std::vector<std::uint32_t> word_;  // per label of the arena
    std::vector<Symbol> words_;
    std::vector<std::uint32_t> kind_;  // per word; empty: all of one
};

// The map of the rows to the arena of the columns, with the words of the rows.
class WordMap : public ArenaMap {
  public:
    WordMap(const Arena& rows, const Arena& columns, const Bags& bags, const Vocabulary& vocabulary,
            const WordFeatures& features)
        : ArenaMap(rows, columns, bags), vocabulary(vocabulary), features(features) {}

    const Vocabulary& vocabulary;
    const WordFeatures& features;  // the left vectors
};

// The similarities of one row word to the words of a group: all of them by place, or only the few that are not 0.
struct Similarities {
    struct Hit {
        std::uint32_t place;
        double value;
    };
    bool dense = false;
    std::vector<double> values;  // by place, if dense; places count from 1
    std::vector<Hit> hits;       // otherwise, by ascending place
};

// The column words in groups.
class WordGroups {
  public:
    // Group after group: `words` holds the numbers of the words of all groups, in order of their places.
    WordGroups(const WordFeatures& features, std::span<const std::uint32_t> words, std::span<const std::size_t> ends) {
        std::size_t width = 0;
        for (const std::uint32_t word : words)
            for (const std::uint32_t feature : features.features(word))
                width = std::max<std::size_t>(width, feature + 1);
        std::vector<std::uint32_t> local(width, kNone);
        std::size_t begin = 0;
        for (std::uint32_t group = 0; group < ends.size(); ++group) {
            const auto members = words.subspan(begin, ends[group] - begin);
            add_group(group, features, members, local);
            if (!features.vectors.empty()) vectors_.emplace_back(features.vectors, members);
            begin = ends[group];
        }
        negative_ = features.negative();
    }

    std::size_t size(std::uint32_t group) const { return sizes_[group]; }
    bool negative() const { return negative_; }
    bool has_vectors() const { return !vectors_.empty(); }
    const VectorGroup& vectors(std::uint32_t group) const { return vectors_[group]; }
    // Rows that one thread takes at a time: with vectors more, since theirs are compared at once.
    std::size_t rows_at_once() const { return has_vectors() ? 32 : 16; }

    // scale * sigma(row word, w) for every word w of a group, words before the place `from` left out. `sums` is
    // scratch, all zero between calls. `products` are those of the word's vector, if they are known.
    void compare(const WordFeatures& rows, std::uint32_t word, std::uint32_t group, double scale, std::size_t from,
                 std::vector<double>& sums, Similarities& result, const float* products = nullptr) const {
        const auto features = rows.features(word);
        const auto weights = rows.weights(word);
        const std::size_t places = sizes_[group] + 1;
        std::size_t cost = 0;
        lists_.clear();
        for (std::size_t k = 0; k < features.size(); ++k) {
            const std::uint32_t list = find(group, features[k]);
            if (list == kNone) continue;
            cost += list_[list].end - list_[list].begin;
            lists_.push_back({list, scale * weights[k]});
        }
        result.hits.clear();
        if (has_vectors() && rows.vectors.width() != vectors_[group].width())
            throw std::invalid_argument("vectors of different widths");
        const bool compared = has_vectors() && rows.vectors.known(word);
        result.dense = compared || cost * kDenseShare > places;
        if (result.dense) {
            // What stands before the first place that is asked for stays whatever it was.
            result.values.resize(places);
            const auto first = static_cast<std::ptrdiff_t>(std::min(from, places));
            std::fill(result.values.begin() + first, result.values.end(), 0.0);
            add_dense(from, places, result.values.data());
            if (compared) {
                if (!products) {
                    if (products_.size() < vectors_[group].stride()) products_.resize(vectors_[group].stride());
                    vectors_[group].multiply(rows.vectors.of(word), from - 1, products_.data());
                    products = products_.data();
                }
                vectors_[group].add(products, scale, from - 1, result.values.data() + 1);
            }
            return;
        }
        result.values.clear();
        if (sums.size() < places) sums.resize(places, 0.0);
        add_lists(from, sums.data(), [&](std::uint32_t place) { result.hits.push_back({place, 0.0}); });
        std::sort(result.hits.begin(), result.hits.end(),
                  [](const auto& a, const auto& b) { return a.place < b.place; });
        std::size_t kept = 0;
        for (const Similarities::Hit& hit : result.hits) {
            // A word reached through several features is listed several times; its sum is taken once.
            if (sums[hit.place] != 0.0) result.hits[kept++] = {hit.place, sums[hit.place]};
            sums[hit.place] = 0.0;
        }
        result.hits.resize(kept);
    }

  private:
    // Above this share of a group's words a plain array is faster than a list.
    static constexpr std::size_t kDenseShare = 4;
    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

    struct List {
        std::uint32_t group, feature;
        std::size_t begin, end;
        std::size_t dense;  // where its weights by place begin, if many words have the feature; otherwise kNowhere
    };
    struct Use {
        std::uint32_t list;
        double weight;
    };

    static std::uint32_t hash(std::uint32_t group, std::uint32_t feature) {
        const std::uint64_t state = detail::mix(group, feature);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    std::uint32_t find(std::uint32_t group, std::uint32_t feature) const {
        return table_.find(hash(group, feature), [&](std::uint32_t number) {
            return list_[number].group == group && list_[number].feature == feature;
        });
    }

    void add_group(std::uint32_t group, const WordFeatures& features, std::span<const std::uint32_t> members,
                   std::vector<std::uint32_t>& local) {
        const std::size_t first = list_.size();
        for (const std::uint32_t word : members)
            for (const std::uint32_t feature : features.features(word)) {
                if (local[feature] == kNone) {
                    local[feature] = static_cast<std::uint32_t>(list_.size());
                    table_.insert(hash(group, feature), local[feature]);
                    list_.push_back({group, feature, 0, 0, kNowhere});
                }
                ++list_[local[feature]].end;
            }
        std::size_t total = place_.size();
        for (std::size_t k = first; k < list_.size(); ++k) {
            const std::size_t length = list_[k].end;
            list_[k].begin = list_[k].end = total;
            total += length;
        }
        place_.resize(total);
        weight_.resize(total);
        for (std::uint32_t place = 1; place <= members.size(); ++place) {
            const auto own = features.features(members[place - 1]);
            const auto weights = features.weights(members[place - 1]);
            for (std::size_t k = 0; k < own.size(); ++k) {
                const std::size_t at = list_[local[own[k]]].end++;
                place_[at] = place;
                weight_[at] = weights[k];
            }
        }
        for (std::size_t k = first; k < list_.size(); ++k) {
            List& list = list_[k];
            local[list.feature] = kNone;
            if ((list.end - list.begin) * kDenseShare < members.size()) continue;
            list.dense = by_place_.size();
            by_place_.resize(list.dense + members.size() + 1, 0.0);
            for (std::size_t at = list.begin; at < list.end; ++at) by_place_[list.dense + place_[at]] += weight_[at];
        }
        sizes_.push_back(members.size());
    }

    void add_dense(std::size_t from, std::size_t places, double* sums) const {
        for (const Use& use : lists_) {
            const List& list = list_[use.list];
            if (list.dense == kNowhere) {
                for (std::size_t k = list.end; k-- > list.begin && place_[k] >= from;)
                    sums[place_[k]] += use.weight * weight_[k];
            } else if (from < places) {
                add_scaled(sums + from, by_place_.data() + list.dense + from, use.weight, places - from);
            }
        }
    }

    template <class Reached>
    void add_lists(std::size_t from, double* sums, Reached reached) const {
        for (const Use& use : lists_) {
            const List& list = list_[use.list];
            // Places ascend, so that those before `from` are the last ones met from behind.
            for (std::size_t k = list.end; k-- > list.begin && place_[k] >= from;) {
                sums[place_[k]] += use.weight * weight_[k];
                reached(place_[k]);
            }
        }
    }

    std::vector<List> list_;
    detail::IndexTable table_;
    std::vector<std::uint32_t> place_;
    std::vector<double> weight_;
    std::vector<double> by_place_;
    std::vector<std::size_t> sizes_;
    std::vector<VectorGroup> vectors_;  // per group, if words have vectors
    bool negative_ = false;
    static thread_local inline std::vector<Use> lists_;
    static thread_local inline std::vector<float> products_;
};

}  // namespace sapwood
