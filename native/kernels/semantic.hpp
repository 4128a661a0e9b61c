// The semantic syntactic tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = decay * leaf_weight * sigma(word1, word2)            for pre-terminals with equal labels
//               = decay * prod over children (1 + D(child1, child2))   for other nodes with equal productions
//               = 0                                                    otherwise
//
// As in the subset-tree kernel, productions are counted in bulk and only pairs with something in common below are
// looked at. A pre-terminal is compared with the words under the same label: if few are like it, only their parents are
// visited; if many are, the parents' values are multiplied in one sweep over all subtrees of a production.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/semantic_columns.hpp"
#include "kernels/word_block.hpp"
#include "kernels/words_ahead.hpp"

namespace sapwood {

// Walks one row element bottom up and reports, for every row node, the active subtrees it has something in common with.
class SemanticMatcher {
  public:
    SemanticMatcher(const WordMap& map, const SemanticColumns& columns, const SemanticColumns::Prepared& prepared,
                    const SemanticOptions& options, const Control& control)
        : map_(map),
          arena_(map.arena),
          columns_(columns),
          prepared_(prepared),
          control_(control),
          decay_(options.decay),
          word_scale_(options.decay * options.leaf_weight),
          negative_(columns.words().negative() || map.features.negative()),
          slot_(arena_.size(), kNone),
          from_(columns.classes(), 1),
          summed_(columns.classes(), 0),
          sum_(columns.positions(), 0.0) {}

    // Compares the words of this and some of the next elements at once, where they have vectors. `first` is as for
    // match.
    void look_ahead(const Bags& rows, std::size_t element, std::size_t first) {
        begin_at(first);
        ahead_.look(
            arena_, rows, element, columns_.words(), map_.features, control_,
            [&](Node node) -> WordsAhead::Asked {
                const std::uint32_t tag = prepared_.entry[node] == kNone ? kNone : columns_.tag(map_.labels[node]);
                if (tag == kNone) return {};
                return {columns_.words_of(tag), map_.vocabulary.word_under(arena_, node)};
            },
            [&](std::uint32_t group) { return first_place(columns_.tag_of(group)); });
    }

    // Calls bulk(feature, value) and active(position, value). For pre-terminals value is count * D, for other active
    // subtrees count * (D - decay). Active subtrees that only elements before `first` hold may be left out; this is
    // fast if `first` never decreases from call to call.
    //
    // With a block, words that are like many others are not reported but added to row `row` of the block.
    template <class Bulk, class Active>
    void match(std::span<const Node> nodes, std::span<const double> counts, std::size_t first, Bulk bulk, Active active,
               WordBlock* block = nullptr, std::size_t row = 0) {
        begin_at(first);
        block_ = block;
        row_ = row;
        const auto emit = [&](std::size_t position, double value) {
            const std::uint32_t feature = columns_.feature(position);
            if (feature == kNone)
                active(position, value);
            else
                bulk(feature, value);
        };
        enter(nodes);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node node = nodes[k];
            if (slot_[node] == kNone) continue;
            if (prepared_.entry[node] != kNone)
                compare_word(node, counts[k], emit);
            else
                evaluate(node, counts[k], emit);
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
            for (const Node child : arena_.children(node))
                if (slot_[child] != kNone && --state_[slot_[child]].parents == 0) release(child);
            if (state_[slot_[node]].parents == 0) release(node);
        }
        for (const std::uint32_t number : summed_list_) {
            summed_[number] = 0;
            const std::size_t base = columns_.position(number, 0);
            for (std::size_t place = from_[number]; place < columns_.places(number); ++place) {
                if (sum_[base + place] != 0.0) emit(base + place, sum_[base + place]);
                sum_[base + place] = 0.0;
            }
        }
        summed_list_.clear();
    }

  private:
    using Entry = SemanticColumns::Entry;

    void begin_at(std::size_t first) {
        if (first < first_) std::fill(from_.begin(), from_.end(), 1);
        first_ = first;
    }

    struct State {
        std::size_t parents = 0;
        std::vector<double> values;  // D against every active subtree of the production; while it is needed
        KnownSimilarities similar;   // of a pre-terminal
        Similarities own;
    };
    struct Step {  // one child: what it multiplies into which active subtrees
        std::span<const Entry> entries;
        const double* values;  // D by place of the child, those before `from` left out; null: the same factor for all
        double factor;
        std::size_t from;
    };

    // Gives a State to every node that may have something in common with a column, and counts its parents.
    void enter(std::span<const Node> nodes) {
        used_ = 0;
        for (const Node node : nodes) {
            if (arena_.is_leaf(node)) continue;
            bool needed = columns_.tag(map_.labels[node]) != kNone;
            if (prepared_.entry[node] == kNone) {
                if (columns_.places(map_.productions[node]) == 0) continue;
                needed = false;
                for (const Node child : arena_.children(node)) {
                    needed |= !arena_.is_leaf(child);
                    if (slot_[child] != kNone) ++state_[slot_[child]].parents;
                }
            }
            if (!needed) continue;
            if (used_ == state_.size()) state_.emplace_back();
            slot_[node] = static_cast<std::uint32_t>(used_);
            state_[used_++].parents = 0;
        }
    }

    template <class Emit>
    void compare_word(Node node, double count, Emit emit) {
        const std::uint32_t tag = columns_.tag(map_.labels[node]);
        const std::uint32_t word = map_.vocabulary.word_under(arena_, node);
        State& state = state_[slot_[node]];
        // Nothing is gained by keeping what the words of one row alone are like. Words with vectors are occurrences,
        // which come once.
        const std::uint32_t entry = prepared_.entry[node];
        const bool vectors = columns_.words().has_vectors(), once = block_ && !prepared_.repeated[entry];
        std::size_t from = 0;
        if (vectors || once)
            from = first_place(tag);
        else if (first_ > 0)
            from = columns_.first_place(tag, std::min<std::size_t>(first_, prepared_.first_row[entry]));
        const auto make = [&](Similarities& result) {
            columns_.words().compare(map_.features, word, columns_.words_of(tag), word_scale_,
                                     std::max<std::size_t>(from, 1), scratch_, result, ahead_.products(node));
            work_ += result.values.size() + result.hits.size();
        };
        state.similar = prepared_.cache->get(entry, !vectors && !once, from, state.own, room_, make);
        const KnownSimilarities& found = state.similar;
        const std::size_t base = columns_.position(tag, 0);
        if (!found.dense) {
            for (const Similarities::Hit& hit : found.hits) emit(base + hit.place, count * hit.value);
            work_ += found.hits.size();
            return;
        }
        if (block_)
            block_->add(tag, row_, count, first_place(tag), found, state.own);
        else
            add_sum(tag, count, found.values, found.from, 0.0);
    }

    // Adds count * (value - less) to the sums of a class; values before the place `left_out` are left out.
    void add_sum(std::uint32_t number, double count, const double* values, std::size_t left_out, double less) {
        const std::size_t from = first_place(number), places = columns_.places(number);
        if (!summed_[number]) {
            summed_[number] = 1;
            summed_list_.push_back(number);
        }
        double* sum = sum_.data() + columns_.position(number, 0);
        for (std::size_t place = from; place < places; ++place) sum[place] += count * (values[place - left_out] - less);
        work_ += places - from;
    }

    // The first active subtree of a class that some element from first_ on holds.
    std::size_t first_place(std::uint32_t number) {
        std::size_t& from = from_[number];
        const std::size_t base = columns_.position(number, 0), places = columns_.places(number);
        while (from < places && columns_.last(base + from) < first_) ++from;
        return from;
    }

    template <class Emit>
    void evaluate(Node node, double count, Emit emit) {
        const Production production = map_.productions[node];
        const std::size_t places = columns_.places(production), from = first_place(production);
        const bool sweep = find_steps(node, production, from);
        State& state = state_[slot_[node]];
        if (state.values.empty() && !pool_.empty()) {
            state.values = std::move(pool_.back());
            pool_.pop_back();
        }
        if (state.values.size() < places) state.values.resize(places);
        double* values = state.values.data();
        values[0] = decay_;
        std::fill(values + from, values + places, decay_);
        work_ += places - from;
        touched_.clear();
        for (const Step& step : steps_) {
            work_ += step.entries.size();
            if (sweep)
                multiply(step, values);
            else
                multiply_listing(step, values);
        }
        if (sweep) {
            add_sum(production, count, values, 0, decay_);
            return;
        }
        if (negative_) {
            // A product may come back to the decay and be listed again.
            std::sort(touched_.begin(), touched_.end());
            touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        }
        const std::size_t base = columns_.position(production, 0);
        for (const std::uint32_t place : touched_) emit(base + place, count * (values[place] - decay_));
    }

    // The children of a node with the active subtrees that have something in common with them there. Returns whether
    // some child concerns all active subtrees.
    bool find_steps(Node node, Production production, std::size_t from) {
        steps_.clear();
        bool sweep = false;
        const auto kids = arena_.children(node);
        for (std::size_t at = 0; at < kids.size(); ++at) {
            const Node child = kids[at];
            if (arena_.is_leaf(child)) continue;
            const SemanticColumns::Slot& slot = columns_.slot(production, at);
            const State* state = slot_[child] == kNone ? nullptr : &state_[slot_[child]];
            if (prepared_.entry[child] == kNone) {
                const double* below = state ? state->values.data() : nullptr;
                if (map_.productions[child] != kNone)
                    add_step(columns_.entries(slot, map_.productions[child]), from, below, 1.0 + decay_);
            } else if (state && state->similar.dense) {
                sweep |= slot.covers;
                add_step(columns_.word_entries(slot), from, state->similar.values, 0.0, state->similar.from);
            } else if (state) {
                add_runs(columns_.runs(slot), state->similar.hits, from);
            }
        }
        return sweep;
    }

    void add_runs(std::span<const SemanticColumns::Run> runs, std::span<const Similarities::Hit> hits,
                  std::size_t from) {
        auto run = runs.begin();
        for (const Similarities::Hit& hit : hits) {
            run = std::lower_bound(run, runs.end(), hit.place,
                                   [](const SemanticColumns::Run& r, std::uint32_t place) { return r.place < place; });
            if (run == runs.end()) return;
            if (run->place == hit.place) add_step(columns_.run_entries(*run), from, nullptr, 1.0 + hit.value);
        }
    }

    void add_step(std::span<const Entry> entries, std::size_t from, const double* values, double factor,
                  std::size_t left_out = 0) {
        const auto begin = std::lower_bound(entries.begin(), entries.end(), from,
                                            [](const Entry& entry, std::size_t place) { return entry.place < place; });
        entries = entries.subspan(static_cast<std::size_t>(begin - entries.begin()));
        if (!entries.empty()) steps_.push_back({entries, values, factor, left_out});
    }

    static void multiply(const Step& step, double* value) {
        if (const double* child = step.values) {
            for (const Entry& entry : step.entries) value[entry.place] *= 1.0 + child[entry.child - step.from];
        } else {
            for (const Entry& entry : step.entries) value[entry.place] *= step.factor;
        }
    }

    // The same, and lists the active subtrees whose value was the bare decay before.
    void multiply_listing(const Step& step, double* value) {
        const std::size_t before = touched_.size();
        touched_.resize(before + step.entries.size());
        std::uint32_t* touched = touched_.data() + before;
        const double decay = decay_;
        for (const Entry& entry : step.entries) {
            const double old = value[entry.place];
            *touched = entry.place;
            touched += old == decay;
            value[entry.place] = old * (step.values ? 1.0 + step.values[entry.child - step.from] : step.factor);
        }
        touched_.resize(static_cast<std::size_t>(touched - touched_.data()));
    }

    void release(Node node) {
        State& state = state_[slot_[node]];
        if (!state.values.empty()) {
            pool_.push_back(std::move(state.values));
            state.values = {};
        }
        slot_[node] = kNone;
    }

    const WordMap& map_;
    const Arena& arena_;
    const SemanticColumns& columns_;
    const SemanticColumns::Prepared& prepared_;
    const Control& control_;
    double decay_, word_scale_;
    bool negative_;
    std::vector<std::uint32_t> slot_;  // per subtree of the arena: its State while it is alive
    std::vector<State> state_;
    std::size_t used_ = 0;
    std::vector<std::vector<double>> pool_;
    std::vector<Step> steps_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::size_t> from_;  // per class
    std::vector<char> summed_;       // per class: whether sum_ holds something of it
    std::vector<std::uint32_t> summed_list_;
    std::vector<double> sum_;  // per position
    std::vector<double> scratch_;
    std::size_t first_ = 0, work_ = 0;
    WordsAhead ahead_;
    SimilarityCache::Room room_;
    WordBlock* block_ = nullptr;  // of this row; may be null
    std::size_t row_ = 0;
};

// Walks rows one by one; with holders of words the rows of a block are finished together.
class SemanticVisitor {
  public:
    SemanticVisitor(const WordMap& map, const SemanticColumns& columns, const Bags& rows,
                    const SemanticColumns::Prepared& prepared, const SemanticOptions& options, const Control& control,
                    const Holders* holders, std::size_t elements)
        : columns_(columns),
          rows_(rows),
          prepared_(prepared),
          decay_(options.decay),
          matcher_(map, columns, prepared, options, control),
          holders_(holders),
          block_(holders ? columns.classes() : 0, holders ? elements : 0) {}

    template <class Bulk, class Active>
    void operator()(std::size_t element, std::size_t first, Bulk bulk, Active active) {
        const auto numbers = prepared_.features.numbers_of(element);
        const auto counts = prepared_.features.counts_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) bulk(numbers[k], decay_ * counts[k]);
        matcher_.look_ahead(rows_, element, first);
        matcher_.match(rows_.numbers_of(element), rows_.counts_of(element), first, bulk, active,
                       holders_ ? &block_ : nullptr, element % kBlockRows);
    }

    void finish(double* values, std::size_t stride, std::size_t begin, std::size_t end, std::size_t first) {
        if (!holders_) return;
        block_.finish(
            *holders_, first, values, stride, end - begin,
            [&](std::uint32_t number) { return columns_.position(number, 0); },
            [&](std::uint32_t number) { return columns_.places(number); });
    }

  private:
    const SemanticColumns& columns_;
    const Bags& rows_;
    const SemanticColumns::Prepared& prepared_;
    double decay_;
    SemanticMatcher matcher_;
    const Holders* holders_;
    WordBlock block_;
};

inline auto SemanticColumns::visitor(const WordMap& map, const Bags& rows, const Prepared& prepared,
                                     const Control& control) const {
    return SemanticVisitor(map, *this, rows, prepared, options_, control, nullptr, 0);
}

inline auto SemanticColumns::block_visitors(const Bags& column_bags, const WordMap& map, const Bags& rows,
                                            const Prepared& prepared, const Control& control) const {
    // Words with vectors are occurrences, too many to keep what all words of a block are worth; and for a few rows
    // blocks would not pay.
    std::shared_ptr<const Holders> holders;
    if (!words_->has_vectors() && rows.size() >= kBlockRows / 2)
        holders = std::make_shared<const Holders>(column_bags, positions(), [&](Node node) -> std::size_t {
            const std::uint32_t number = class_[node];
            return number == kNone || number < productions_ ? kNone : position(number, active_.place[node]);
        });
    return [this, &map, &rows, &prepared, &control, holders, elements = column_bags.size()] {
        return SemanticVisitor(map, *this, rows, prepared, options_, control, holders.get(), elements);
    };
}

}  // namespace sapwood
