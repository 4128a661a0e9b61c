// The smoothed partial-tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = sigma * mu * lambda^2                            if either is a leaf (times the terminal factor if both are)
//               = sigma * mu * (lambda^2 + sum over I, J of lambda^(gaps of I and J) * prod D(child pairs))   otherwise
//
// where sigma compares the labels: by word similarity if both are *lexical*, otherwise 1 for equal labels and 0 for
// others. A node is lexical if its label is a known word and it is a leaf (or, on request, anywhere).
//
// What the partial-tree kernel does per label is done here per *key*: the label, or one key for all lexical nodes whose
// words are of one kind (words of different kinds are never alike). So the child slots that may match are fixed for a
// pair of shapes (a key with the keys of the children), and are worked out once for all column subtrees of a shape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "lexicon.hpp"
#include "members.hpp"
#include "parallel.hpp"
#include "partial.hpp"

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
    static constexpr bool kReportsRanges = true;  // lexical members of a kind are reported together

    struct Shape {
        std::size_t begin, count;        // positions of its subtrees
        std::uint32_t place;             // place of the first of them
        std::size_t first_label, arity;  // the keys of its children
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

    Prepared prepare(const WordLens& lens, const Bags& rows) const {
        Prepared result;
        result.cache = std::make_shared<SimilarityCache>(lens.features.size());
        result.features = map_bags(rows, feature_count(), [&](Node node) -> std::uint32_t {
            const std::uint32_t key = key_of(lens.arena, node, lens.labels[node], lens.vocabulary);
            if (key >= lexical_) return kNone;
            return lens.arena.is_leaf(node) ? lexical_ + key : key;
        });
        return result;
    }
    auto visitor(const WordLens& lens, const Bags& rows, const Prepared& prepared, const Control& control) const;

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
    // The shapes of the lexical members of a kind: these numbers, in order of their places, which start at a position.
    struct Kind {
        std::uint32_t first_shape = 0, last_shape = 0;
        std::size_t begin = 0;
        std::size_t words = 0;  // where those of the kind begin in the lists of words
    };
    const Kind& kind(std::uint32_t number) const { return kind_[number]; }
    std::size_t kinds() const { return kind_.size(); }
    // Of the subtrees of a lexical shape: the places of their words in their group.
    const std::uint32_t* word_places(const Shape& shape) const {
        return word_place_.data() + (shape.begin - first_lexical_);
    }
    // The lexical members with a word, by their shapes: which of the subtrees of each.
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

    bool is_member(const Arena& arena, Node node) const { return is_lexical(key_[node]) || !arena.is_leaf(node); }

    // Numbers the shapes of all members: equal numbers mean the same key over the same keys.
    std::vector<std::uint32_t> number_shapes(const Arena& arena, std::span<const Node> members) const {
        std::vector<std::uint32_t> number(arena.size(), kNone);
        std::vector<Node> samples;
        detail::IndexTable table;
        for (const Node node : members) {
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
            if (last[node] != kNone && is_member(arena, node)) member_.push_back(node);
        const std::vector<std::uint32_t> shape = number_shapes(arena, member_);
        std::sort(member_.begin(), member_.end(), [&](Node a, Node b) {
            if (key_[a] != key_[b]) return key_[a] < key_[b];
            if (shape[a] != shape[b]) return shape[a] < shape[b];
            return last[a] != last[b] ? last[a] < last[b] : a < b;
        });
        key_count_.assign(std::size_t{lexical_} + kinds_, 0);
        place_.assign(arena.size(), 0);
        position_.assign(arena.size(), kNone);
        for (std::size_t position = 0; position < member_.size(); ++position) {
            const Node node = member_[position];
            place_[node] = static_cast<std::uint32_t>(++key_count_[key_[node]]);
            position_[node] = static_cast<std::uint32_t>(position);
            last_.push_back(last[node]);
            if (position == 0 || shape[node] != shape[member_[position - 1]])
                shapes_.push_back({position, 0, place_[node], 0, 0, 0, 0});
            ++shapes_.back().count;
        }
    }

    void index_children(const Arena& arena) {
        for (std::uint32_t number = 0; number < shapes_.size(); ++number) {
            Shape& shape = shapes_[number];
            const auto sample = arena.children(member_[shape.begin]);
            shape.first_label = child_key_.size();
            shape.arity = sample.size();
            shape.stride = shape.count;
            shape.child_places = child_place_.size();
            child_place_.resize(child_place_.size() + sample.size() * shape.count);
            for (const Node child : sample) {
                child_key_.push_back(key_[child]);
                add_to_list(key_[member_[shape.begin]], key_[child], number);
            }
            for (std::size_t k = 0; k < shape.count; ++k) {
                const auto kids = arena.children(member_[shape.begin + k]);
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
            const std::uint32_t key = key_[member_[shapes_[number].begin]];
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
                    const std::uint32_t word = vocabulary.word(arena.label(member_[shape.begin + k]));
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
    std::vector<Node> member_;
    std::vector<std::uint32_t> place_, last_, child_place_;
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: no member
    std::vector<std::size_t> key_count_;
    std::vector<Shape> shapes_;
    std::vector<Symbol> child_key_;
    std::vector<List> list_;
    detail::IndexTable lists_;
    std::uint32_t kinds_ = 0;
    std::size_t first_lexical_ = 0;  // lexical members have the positions from here on
    std::vector<Kind> kind_;
    std::vector<std::uint32_t> word_place_;
    std::vector<std::size_t> run_begin_;  // per word of every kind
    std::vector<Run> run_;
    std::vector<std::uint32_t> run_number_;
    std::shared_ptr<const WordGroups> words_;
};

// Walks one row element bottom up and adds up D per column subtree.
class SmoothedMatcher {
  public:
    SmoothedMatcher(const WordLens& lens, const SmoothedColumns& columns, const SmoothedColumns::Prepared& prepared,
                    const SmoothedOptions& options, const Control& control)
        : lens_(lens), arena_(lens.arena), columns_(columns), prepared_(prepared), options_(options.partial),
          control_(control), sequences_(options.partial, control),
          bare_(options_.depth_decay * options_.decay * options_.decay), key_(arena_.size(), kNone),
          slot_(arena_.size(), kNone), sum_(columns.positions(), 0.0), seen_row_(columns.shapes(), 0),
          seen_node_(columns.shapes(), 0), from_(columns.shapes(), 0), compared_kind_(columns.kinds(), 0) {}

    // Calls found(position, value): the sum over the bag's nodes of count * D for lexical members, and of count * mu *
    // (sum over sequences) for others.
    template <class Found>
    void match(std::span<const Node> nodes, std::span<const double> counts, std::size_t first, Found found) {
        ++row_;
        touched_.clear();
        compared_.clear();
        enter(nodes);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node node = nodes[k];
            if (slot_[node] == kNone) continue;
            if (columns_.is_lexical(key_[node])) {
                compare_word(node, counts[k], first);
            } else {
                evaluate(node, counts[k], first);
            }
            for (const Node child : arena_.children(node))
                if (slot_[child] != kNone && --state_[slot_[child]].parents == 0) release(child);
            if (state_[slot_[node]].parents == 0) release(node);
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
        }
        for (const std::uint32_t number : touched_) {
            const SmoothedColumns::Shape& shape = columns_.shape(number);
            for (std::size_t k = from_[number]; k < shape.count; ++k) hand_over(shape.begin + k, found);
        }
        for (const std::uint32_t number : compared_) {
            const std::size_t begin = columns_.kind(number).begin;
            const std::size_t end = begin + columns_.count(columns_.lexical() + number);
            compared_kind_[number] = 0;
            if constexpr (requires { found.range(begin, std::span<const double>()); }) {
                const std::span<double> sums = std::span(sum_).subspan(begin, end - begin);
                found.range(begin, sums);
                std::fill(sums.begin(), sums.end(), 0.0);
            } else {
                for (std::size_t position = begin; position < end; ++position) hand_over(position, found);
            }
        }
    }

  private:
    struct State {
        std::size_t parents = 0;
        std::vector<double> values;  // D against every column subtree with the same key, by place
    };

    template <class Found>
    void hand_over(std::size_t position, Found& found) {
        if (sum_[position] != 0.0) found(position, sum_[position]);
        sum_[position] = 0.0;
    }

    // Only internal nodes and lexical leaves have a State: other leaves are the same against all.
    void enter(std::span<const Node> nodes) {
        used_ = 0;
        for (const Node node : nodes) {
            key_[node] = columns_.key_of(arena_, node, lens_.labels[node], lens_.vocabulary);
            if (arena_.is_leaf(node) && !columns_.is_lexical(key_[node])) continue;
            if (used_ == state_.size()) state_.emplace_back();
            slot_[node] = static_cast<std::uint32_t>(used_);
            state_[used_++].parents = 0;
            for (const Node child : arena_.children(node))
                if (slot_[child] != kNone) ++state_[slot_[child]].parents;
        }
    }

    double* take(State& state, std::size_t size) {
        if (state.values.capacity() == 0 && !pool_.empty()) {
            state.values = std::move(pool_.back());
            pool_.pop_back();
        }
        state.values.resize(size);
        work_ += size;
        return state.values.data();
    }

    void find_children(Node node) {
        keys_.clear();
        children_.clear();
        for (const Node child : arena_.children(node)) {
            keys_.push_back(key_[child]);
            if (slot_[child] != kNone) children_.push_back({state_[slot_[child]].values.data(), 0.0, 0.0});
            else children_.push_back({nullptr, bare_ * options_.terminal_factor, bare_});
        }
        sequences_.enter(keys_, children_);
    }

    // A node that is not lexical: the partial-tree kernel.
    void evaluate(Node node, double count, std::size_t first) {
        State& state = state_[slot_[node]];
        const std::size_t places = columns_.count(key_[node]);
        double* values = state.parents > 0 ? take(state, places + 1) : nullptr;
        if (values) std::fill(values, values + places + 1, bare_);
        if (places == 0) return;
        find_children(node);
        ++visit_;
        for (const std::uint32_t child : keys_)
            for (const std::uint32_t number : columns_.shapes_with(key_[node], child)) {
                if (seen_node_[number] == visit_) continue;
                seen_node_[number] = visit_;
                const SmoothedColumns::Shape& shape = columns_.shape(number);
                if (seen_row_[number] != row_) touched_.push_back(number);
                const std::size_t from = from_of(number, first), length = shape.count - from;
                if (length == 0 || !sequences_.meet(columns_, shape)) continue;
                const double* result = sums(shape, {from, length});
                double* sum = sum_.data() + shape.begin + from;
                for (std::size_t k = 0; k < length; ++k) sum[k] += count * result[k];
                if (!values) continue;
                double* mine = values + shape.place + from;
                for (std::size_t k = 0; k < length; ++k) mine[k] += result[k];
            }
    }

    // The first subtree of a shape that an element from `first` on holds.
    std::size_t from_of(std::uint32_t number, std::size_t first) {
        if (seen_row_[number] != row_) {
            seen_row_[number] = row_;
            from_[number] = first == 0 ? 0 : columns_.first_index(columns_.shape(number), first);
        }
        return from_[number];
    }

    // mu * (sum over sequences) for some subtrees of the shape that was met.
    const double* sums(const SmoothedColumns::Shape& shape, SequenceSums::Chosen chosen) {
        if (result_.size() < chosen.count) result_.resize(chosen.count);
        sequences_.evaluate(columns_, shape, chosen, result_.data());
        for (std::size_t k = 0; k < chosen.count; ++k) result_[k] *= options_.depth_decay;
        work_ += chosen.count * keys_.size() + 8;
        return result_.data();
    }

    // A lexical node against all lexical column subtrees of its kind.
    void compare_word(Node node, double count, std::size_t first) {
        const std::uint32_t number = key_[node] - columns_.lexical();
        const std::size_t places = columns_.count(key_[node]);
        double* values = take(state_[slot_[node]], places + 1);
        if (places == 0) {
            values[0] = 0.0;
            return;
        }
        if (!compared_kind_[number]) {
            compared_kind_[number] = 1;
            compared_.push_back(number);
        }
        const std::uint32_t word = lens_.vocabulary.word(arena_.label(node));
        const Similarities& found = prepared_.cache->get(word, own_, [&](Similarities& result) {
            columns_.words().compare(lens_.features.features(word), lens_.features.weights(word), number, 1.0, scratch_,
                                     result);
        });
        const bool leaf = arena_.is_leaf(node);
        if (!leaf) find_children(node);
        const SmoothedColumns::Kind& kind = columns_.kind(number);
        if (found.dense) {
            values[0] = 0.0;
            for (std::uint32_t at = kind.first_shape; at < kind.last_shape; ++at) {
                const SmoothedColumns::Shape& shape = columns_.shape(at);
                const std::size_t from = from_of(at, first);
                if (from == shape.count) continue;
                weigh(shape, {from, shape.count - from}, leaf, found.values.data(), 1.0, count, values);
            }
            return;
        }
        std::fill(values, values + places + 1, 0.0);
        for (const Similarities::Hit& hit : found.hits)
            for (const SmoothedColumns::Run& run : columns_.runs(kind, hit.place)) {
                const std::uint32_t* end = columns_.numbers_of_runs() + run.end;
                const std::uint32_t* begin = columns_.numbers_of_runs() + run.begin;
                if (first > 0) begin = std::lower_bound(begin, end, from_of(run.shape, first));
                if (begin == end) continue;
                const SequenceSums::Chosen chosen{0, static_cast<std::size_t>(end - begin), begin};
                weigh(columns_.shape(run.shape), chosen, leaf, nullptr, hit.value, count, values);
            }
        work_ += found.hits.size();
    }

    // D of a lexical node against lexical subtrees of one shape: what lies below times how alike the words are, which is
    // by the places of words, or the same for all.
    void weigh(const SmoothedColumns::Shape& shape, SequenceSums::Chosen chosen, bool leaf, const double* alike,
               double same, double count, double* values) {
        double* mine = values + shape.place;
        double* sum = sum_.data() + shape.begin;
        const std::uint32_t* word = columns_.word_places(shape);
        double bare = leaf && shape.arity == 0 ? bare_ * options_.terminal_factor : bare_;
        const double* below = nullptr;
        if (!leaf && shape.arity > 0 && sequences_.meet(columns_, shape)) {
            if (sequences_.uniform()) bare += sums(shape, {chosen[0], 1})[0];
            else below = sums(shape, chosen);
        }
        work_ += chosen.count;
        if (chosen.list) {
            for (std::size_t k = 0; k < chosen.count; ++k) {
                const double value = (below ? bare + below[k] : bare) * same;
                mine[chosen.list[k]] = value;
                sum[chosen.list[k]] += count * value;
            }
            return;
        }
        mine += chosen.from;
        sum += chosen.from;
        word += chosen.from;
        if (below) {
            for (std::size_t k = 0; k < chosen.count; ++k) mine[k] = (bare + below[k]) * alike[word[k]];
        } else {
            for (std::size_t k = 0; k < chosen.count; ++k) mine[k] = bare * alike[word[k]];
        }
        for (std::size_t k = 0; k < chosen.count; ++k) sum[k] += count * mine[k];
    }

    void release(Node node) {
        if (state_[slot_[node]].values.capacity() > 0) pool_.push_back(std::move(state_[slot_[node]].values));
        state_[slot_[node]].values = {};
        slot_[node] = kNone;
    }

    const WordLens& lens_;
    const Arena& arena_;
    const SmoothedColumns& columns_;
    const SmoothedColumns::Prepared& prepared_;
    PartialOptions options_;
    const Control& control_;
    SequenceSums sequences_;
    double bare_;
    std::vector<std::uint32_t> key_;   // per subtree of the arena
    std::vector<std::uint32_t> slot_;  // per subtree of the arena: its State while it is alive
    std::vector<State> state_;
    std::size_t used_ = 0;
    std::vector<std::vector<double>> pool_;
    std::vector<double> sum_, result_, scratch_;
    std::vector<std::size_t> seen_row_, seen_node_, from_;
    std::size_t row_ = 0, visit_ = 0, work_ = 0;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> compared_;  // kinds that sum_ holds something of
    std::vector<char> compared_kind_;
    std::vector<Symbol> keys_;
    std::vector<SequenceSums::Child> children_;
    Similarities own_;
};

inline auto SmoothedColumns::visitor(const WordLens& lens, const Bags& rows, const Prepared& prepared,
                                     const Control& control) const {
    return [this, &rows, &prepared, matcher = SmoothedMatcher(lens, *this, prepared, options_, control)](
               std::size_t element, std::size_t first, auto bulk, auto member) mutable {
        const PartialOptions& options = options_.partial;
        const double bare = options.depth_decay * options.decay * options.decay;
        const auto numbers = prepared.features.numbers_of(element);
        const auto counts = prepared.features.counts_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const bool leaf = numbers[k] >= lexical_;
            const double weight = bare * counts[k];
            bulk(numbers[k], leaf ? weight * options.terminal_factor : weight);
            bulk(leaf ? numbers[k] - lexical_ : numbers[k] + lexical_, weight);
        }
        matcher.match(rows.numbers_of(element), rows.counts_of(element), first, member);
    };
}

}  // namespace sapwood
