// The columns of the smoothed partial-tree kernel: its subtrees by key and shape, and the words in them by kind. What
// the kernel is, and how rows are matched with them, is in kernels/smoothed.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/active_subtrees.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/partial.hpp"
#include "kernels/similarity_cache.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct SmoothedOptions {
    PartialOptions partial;  // leaves always count
    bool leaves_only;        // whether only leaves are lexical
};

// Columns prepared for matching: the distinct internal subtrees and lexical leaves, those of one key together, within a
// key those of one shape together, within a shape in order of the last element that holds them. The place of a subtree
// is its rank within its key, from 1; place 0 stands for a leaf that is not lexical.
class SmoothedColumns {
  public:
    static constexpr bool kReportsRanges = true;  // lexical active subtrees of a kind are reported together

    struct Shape {
        std::size_t begin, count;          // positions of its subtrees
        std::uint32_t place;               // place of the first of them
        std::size_t first_label, arity;    // the keys of its children
        std::size_t child_places, stride;  // the places of the children: stride per slot, slot after slot
    };
    struct Prepared {
        Bags features;
        std::shared_ptr<SimilarityCache> cache;
    };

    SmoothedColumns(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary, const WordFeatures& features,
                    const SmoothedOptions& options)
        : options_(options), lexical_(static_cast<std::uint32_t>(arena.symbols.size())) {
        key_.assign(arena.size(), kNone);
        for (const Node node : bags.numbers) {
            key_[node] = key_of(arena, node, arena.label(node), vocabulary);
            if (key_[node] >= lexical_) kinds_ = std::max(kinds_, key_[node] - lexical_ + 1);
        }
        collect(arena, bags);
        index_children(arena);
        index_words(arena, vocabulary, features);
    }

    // The key of a node whose label has this number here: the label, or that of its word's kind.
    std::uint32_t key_of(const Arena& arena, Node node, Symbol label, const Vocabulary& vocabulary) const {
        const std::uint32_t word = vocabulary.word(arena.label(node));
        if (word == kNone || (options_.leaves_only && !arena.is_leaf(node))) return label;
        return lexical_ + vocabulary.kind(word);
    }
    // Whether a key is that of lexical nodes.
    bool is_lexical(std::uint32_t key) const { return key >= lexical_ && key != kNone; }

    // The bulk: nodes that are not lexical, internal ones under their label, leaves under the label after all those.
    std::size_t feature_count() const { return 2 * std::size_t{lexical_}; }
    Bags features(const Arena& arena, const Bags& bags) const {
        return map_bags(bags, feature_count(), [&](Node node) -> std::uint32_t {
            if (is_lexical(key_[node])) return kNone;
            return arena.is_leaf(node) ? lexical_ + key_[node] : key_[node];
        });
    }
    std::size_t positions() const { return last_.size(); }
    const std::vector<std::uint32_t>& positions_of_nodes() const { return position_; }

    Prepared prepare(const WordMap& map, const Bags& rows) const {
        Prepared result;
        result.cache = std::make_shared<SimilarityCache>(map.features.size());
        result.features = map_bags(rows, feature_count(), [&](Node node) -> std::uint32_t {
            const std::uint32_t key = key_of(map.arena, node, map.labels[node], map.vocabulary);
            if (key >= lexical_) return kNone;
            return map.arena.is_leaf(node) ? lexical_ + key : key;
        });
        return result;
    }
    auto visitor(const WordMap& map, const Bags& rows, const Prepared& prepared, const Control& control) const;

    // Lexical nodes have the keys from here on, one per kind of words.
    std::uint32_t lexical() const { return lexical_; }
    std::size_t count(std::uint32_t key) const { return key < key_count_.size() ? key_count_[key] : 0; }
    std::size_t shapes() const { return shapes_.size(); }
    const Shape& shape(std::uint32_t number) const { return shapes_[number]; }
    std::span<const Symbol> child_labels(const Shape& shape) const {
        return std::span(child_key_).subspan(shape.first_label, shape.arity);
    }
    const std::uint32_t* child_places(const Shape& shape, std::size_t slot) const {
        return child_place_.data() + shape.child_places + slot * shape.stride;
    }
    std::size_t last(std::size_t position) const { return last_[position]; }
    std::size_t first_index(const Shape& shape, std::size_t first) const {
        const auto begin = last_.begin() + static_cast<std::ptrdiff_t>(shape.begin);
        return std::lower_bound(begin, begin + static_cast<std::ptrdiff_t>(shape.count), first) - begin;
    }
    // The shapes with this key that have a child with that key.
    std::span<const std::uint32_t> shapes_with(std::uint32_t key, std::uint32_t child) const {
        const std::uint32_t list = find_list(key, child);
        if (list == kNone) return {};
        return list_[list].shapes;
    }

    // Words in groups by kind.
    const WordGroups& words() const { return *words_; }
    std::size_t rows_at_once() const { return words_->rows_at_once(); }
    // The shapes of the lexical active subtrees of a kind: these numbers, in order of their places, which start at a
    // position.
    struct Kind {
        std::uint32_t first_shape = 0, last_shape = 0;
        std::size_t begin = 0;
        std::size_t words = 0;  // where those of the kind begin in the lists of words
    };
    const Kind& kind(std::uint32_t number) const { return kind_[number]; }
    std::size_t kinds() const { return kind_.size(); }
    // A place of words before which no word of a kind is in an element from `first` on.
    std::size_t first_word(std::uint32_t number, std::size_t first) const {
        const Kind& one = kind_[number];
        // Leaves alone are one shape, with a word each; words stand in their order.
        const bool leaves = one.last_shape - one.first_shape == 1 && shapes_[one.first_shape].arity == 0;
        return leaves ? first_index(shapes_[one.first_shape], first) + 1 : 1;
    }
    // Of the subtrees of a lexical shape: the places of their words in their group.
    const std::uint32_t* word_places(const Shape& shape) const {
        return word_place_.data() + (shape.begin - first_lexical_);
    }
    // The lexical active subtrees with a word, by their shapes: which of the subtrees of each.
    struct Run {
        std::uint32_t shape;
        std::uint32_t begin, end;  // in numbers_of_runs()
    };
    std::span<const Run> runs(const Kind& kind, std::uint32_t word_place) const {
        const std::size_t at = kind.words + word_place - 1;
        return std::span(run_).subspan(run_begin_[at], run_begin_[at + 1] - run_begin_[at]);
    }
    const std::uint32_t* numbers_of_runs() const { return run_number_.data(); }

  private:
    struct List {
        std::uint32_t key, child;
        std::vector<std::uint32_t> shapes;
    };

    static std::uint32_t hash(std::uint32_t key, std::uint32_t child) {
        const std::uint64_t state = detail::mix(key, child);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    std::uint32_t find_list(std::uint32_t key, std::uint32_t child) const {
        return lists_.find(hash(key, child), [&](std::uint32_t number) {
            return list_[number].key == key && list_[number].child == child;
        });
    }

    bool is_active(const Arena& arena, Node node) const { return is_lexical(key_[node]) || !arena.is_leaf(node); }

    // Numbers the shapes of all active subtrees: equal numbers mean the same key over the same keys.
    std::vector<std::uint32_t> number_shapes(const Arena& arena, std::span<const Node> active) const {
        std::vector<std::uint32_t> number(arena.size(), kNone);
        std::vector<Node> samples;
        detail::IndexTable table;
        for (const Node node : active) {
            const auto kids = arena.children(node);
            std::uint64_t state = detail::mix(detail::hash_seed(), key_[node]);
            for (const Node child : kids) state = detail::mix(state, key_[child]);
            const auto code = static_cast<std::uint32_t>(state ^ (state >> 32));
            number[node] = table.find(code, [&](std::uint32_t other) {
                const auto theirs = arena.children(samples[other]);
                if (key_[samples[other]] != key_[node] || theirs.size() != kids.size()) return false;
                for (std::size_t k = 0; k < kids.size(); ++k)
                    if (key_[theirs[k]] != key_[kids[k]]) return false;
                return true;
            });
            if (number[node] != kNone) continue;
            number[node] = static_cast<std::uint32_t>(samples.size());
            table.insert(code, number[node]);
            samples.push_back(node);
        }
        return number;
    }

    void collect(const Arena& arena, const Bags& bags) {
        const std::vector<std::uint32_t> last = last_holders(arena, bags);
        for (Node node = 0; node < arena.size(); ++node)
            if (last[node] != kNone && is_active(arena, node)) active_.push_back(node);
        const std::vector<std::uint32_t> shape = number_shapes(arena, active_);
        std::sort(active_.begin(), active_.end(), [&](Node a, Node b) {
            if (key_[a] != key_[b]) return key_[a] < key_[b];
            if (shape[a] != shape[b]) return shape[a] < shape[b];
            return last[a] != last[b] ? last[a] < last[b] : a < b;
        });
        key_count_.assign(std::size_t{lexical_} + kinds_, 0);
        place_.assign(arena.size(), 0);
        position_.assign(arena.size(), kNone);
        for (std::size_t position = 0; position < active_.size(); ++position) {
            const Node node = active_[position];
            place_[node] = static_cast<std::uint32_t>(++key_count_[key_[node]]);
            position_[node] = static_cast<std::uint32_t>(position);
            last_.push_back(last[node]);
            if (position == 0 || shape[node] != shape[active_[position - 1]])
                shapes_.push_back({position, 0, place_[node], 0, 0, 0, 0});
            ++shapes_.back().count;
        }
    }

    void index_children(const Arena& arena) {
        for (std::uint32_t number = 0; number < shapes_.size(); ++number) {
            Shape& shape = shapes_[number];
            const auto sample = arena.children(active_[shape.begin]);
            shape.first_label = child_key_.size();
            shape.arity = sample.size();
            shape.stride = shape.count;
            shape.child_places = child_place_.size();
            child_place_.resize(child_place_.size() + sample.size() * shape.count);
            for (const Node child : sample) {
                child_key_.push_back(key_[child]);
                add_to_list(key_[active_[shape.begin]], key_[child], number);
            }
            for (std::size_t k = 0; k < shape.count; ++k) {
                const auto kids = arena.children(active_[shape.begin + k]);
                for (std::size_t slot = 0; slot < kids.size(); ++slot)
                    child_place_[shape.child_places + slot * shape.count + k] = place_[kids[slot]];
            }
        }
    }

    void add_to_list(std::uint32_t key, std::uint32_t child, std::uint32_t shape) {
        std::uint32_t list = find_list(key, child);
        if (list == kNone) {
            list = static_cast<std::uint32_t>(list_.size());
            list_.push_back({key, child, {}});
            lists_.insert(hash(key, child), list);
        }
        auto& shapes = list_[list].shapes;
        if (shapes.empty() || shapes.back() != shape) shapes.push_back(shape);
    }

    void index_words(const Arena& arena, const Vocabulary& vocabulary, const WordFeatures& features) {
        first_lexical_ = positions();
        kind_.resize(kinds_);
        for (std::uint32_t number = 0; number < shapes_.size(); ++number) {
            const std::uint32_t key = key_[active_[shapes_[number].begin]];
            if (!is_lexical(key)) continue;
            first_lexical_ = std::min(first_lexical_, shapes_[number].begin);
            Kind& kind = kind_[key - lexical_];
            if (kind.last_shape == 0) {
                kind.first_shape = number;
                kind.begin = shapes_[number].begin;
            }
            kind.last_shape = number + 1;
        }
        std::vector<std::uint32_t> words;
        std::vector<std::size_t> ends;
        std::vector<std::uint32_t> place(features.size(), 0);  // per word: its place in its group
        word_place_.resize(positions() - first_lexical_);
        run_begin_.push_back(0);
        for (Kind& kind : kind_) {
            kind.words = words.size();
            std::vector<std::vector<Run>> runs;  // per word of the kind
            for (std::uint32_t number = kind.first_shape; number < kind.last_shape; ++number) {
                const Shape& shape = shapes_[number];
                for (std::size_t k = 0; k < shape.count; ++k) {
                    const std::uint32_t word = vocabulary.word(arena.label(active_[shape.begin + k]));
                    if (place[word] == 0) {
                        words.push_back(word);
                        place[word] = static_cast<std::uint32_t>(words.size() - kind.words);
                        runs.emplace_back();
                    }
                    word_place_[shape.begin + k - first_lexical_] = place[word];
                    auto& own = runs[place[word] - 1];
                    if (own.empty() || own.back().shape != number) own.push_back({number, 0, 0});
                    ++own.back().end;
                }
            }
            ends.push_back(words.size());
            for (auto& own : runs) {
                for (Run& run : own) {
                    const auto begin = static_cast<std::uint32_t>(run_number_.size());
                    run_number_.resize(begin + run.end);
                    run = {run.shape, begin, begin};
                    run_.push_back(run);
                }
                run_begin_.push_back(run_.size());
            }
            fill_runs(kind);
        }
        words_ = std::make_shared<WordGroups>(features, words, ends);
    }

    void fill_runs(const Kind& kind) {
        // Shapes come in order, so every word is at the first of its runs that is not over yet.
        std::vector<std::size_t> at(run_begin_.begin() + static_cast<std::ptrdiff_t>(kind.words), run_begin_.end() - 1);
        for (std::uint32_t number = kind.first_shape; number < kind.last_shape; ++number) {
            const Shape& shape = shapes_[number];
            for (std::size_t k = 0; k < shape.count; ++k) {
                std::size_t& run = at[word_places(shape)[k] - 1];
                if (run_[run].shape != number) ++run;
                run_number_[run_[run].end++] = static_cast<std::uint32_t>(k);
            }
        }
    }

    SmoothedOptions options_;
    std::uint32_t lexical_;
    std::vector<std::uint32_t> key_;  // per subtree of the arena
    std::vector<Node> active_;
    std::vector<std::uint32_t> place_, last_, child_place_;
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: not active
    std::vector<std::size_t> key_count_;
    std::vector<Shape> shapes_;
    std::vector<Symbol> child_key_;
    std::vector<List> list_;
    detail::IndexTable lists_;
    std::uint32_t kinds_ = 0;
    std::size_t first_lexical_ = 0;  // lexical active subtrees have the positions from here on
    std::vector<Kind> kind_;
    std::vector<std::uint32_t> word_place_;
    std::vector<std::size_t> run_begin_;  // per word of every kind
    std::vector<Run> run_;
    std::vector<std::uint32_t> run_number_;
    std::shared_ptr<const WordGroups> words_;
};

}  // namespace sapwood
