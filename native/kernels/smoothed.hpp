// The smoothed partial-tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = sigma * mu * lambda^2                            if either is a leaf (times the terminal factor
//                                                                  if both are)
//               = sigma * mu * (lambda^2 + sum over I, J of lambda^(gaps of I and J) * prod D(child pairs))   otherwise
//
// where sigma compares the labels: by word similarity if both are *lexical*, otherwise 1 for equal labels and 0 for
// others. A node is lexical if its label is a known word and it is a leaf (or, on request, anywhere).
//
// What the partial-tree kernel does per label is done here per *key*: the label, or one key for all lexical nodes whose
// words are of one kind (words of different kinds are never similar). So the child slots that may match are fixed for a
// pair of shapes (a key with the keys of the children), and are worked out once for all column subtrees of a shape.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/plan_cache.hpp"
#include "kernels/sequences.hpp"
#include "kernels/smoothed_columns.hpp"
#include "kernels/words_ahead.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Walks one row element bottom up and adds up D per column subtree.
class SmoothedMatcher {
  public:
    SmoothedMatcher(const WordMap& map, const SmoothedColumns& columns, const SmoothedColumns::Prepared& prepared,
                    const SmoothedOptions& options, const Control& control)
        : map_(map),
          arena_(map.arena),
          columns_(columns),
          prepared_(prepared),
          options_(options.partial),
          control_(control),
          sequences_(options.partial, control),
          bare_(options_.depth_decay * options_.decay * options_.decay),
          key_(arena_.size(), kNone),
          slot_(arena_.size(), kNone),
          sum_(columns.positions(), 0.0),
          seen_row_(columns.shapes(), 0),
          seen_node_(columns.shapes(), 0),
          from_(columns.shapes(), 0),
          compared_kind_(columns.kinds(), 0),
          plans_(kRoom) {}

    // Compares the words of this and some of the next elements at once, where they have vectors. `first` is as for
    // match.
    void look_ahead(const Bags& rows, std::size_t element, std::size_t first) {
        ahead_.look(
            arena_, rows, element, columns_.words(), map_.features, control_,
            [&](Node node) -> WordsAhead::Asked {
                const std::uint32_t key = columns_.key_of(arena_, node, map_.labels[node], map_.vocabulary);
                if (!columns_.is_lexical(key) || columns_.count(key) == 0) return {};
                return {key - columns_.lexical(), map_.vocabulary.word(arena_.label(node))};
            },
            [&](std::uint32_t number) { return columns_.first_word(number, first); });
    }

    // Calls found(position, value): the sum over the bag's nodes of count * D for lexical active subtrees, and of count
    // * mu * (sum over sequences) for others.
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
            key_[node] = columns_.key_of(arena_, node, map_.labels[node], map_.vocabulary);
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
            if (slot_[child] != kNone)
                children_.push_back({state_[slot_[child]].values.data(), 0.0, 0.0});
            else
                children_.push_back({nullptr, bare_ * options_.terminal_factor, bare_});
        }
        sequences_.enter_labels(keys_);
        sequences_.enter_values(children_);
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
        return weaken(chosen);
    }
    // The same with pairs of children that were found before.
    const double* sums(const SmoothedColumns::Shape& shape, SequenceSums::Chosen chosen,
                       const SequenceSums::Cells& found) {
        if (result_.size() < chosen.count) result_.resize(chosen.count);
        sequences_.evaluate(columns_, shape, chosen, found, result_.data());
        return weaken(chosen);
    }
    const double* weaken(SequenceSums::Chosen chosen) {
        for (std::size_t k = 0; k < chosen.count; ++k) result_[k] *= options_.depth_decay;
        work_ += chosen.count * keys_.size() + 8;
        return result_.data();
    }

    // What a lexical node with some keys below it has to do with each shape of its kind.
    struct Plan {
        enum How : std::uint32_t { same_for_all, by_subtree, too_many_pairs };
        struct Entry {
            double same = 0.0;  // what is the same for all subtrees of the shape
            How how = same_for_all;
            std::uint32_t cell = 0,
                          link = 0;  // where the pairs of children with equal keys begin; they end at the next entry's
        };
        std::vector<Entry> entries;  // one more than there are shapes
        std::vector<SequenceSums::Cell> cells;
        std::vector<SequenceSums::Link> links;
        SequenceSums::Cells cells_of(const Entry& entry) const {
            const Entry& next = *(&entry + 1);
            return {std::span(cells).subspan(entry.cell, next.cell - entry.cell),
                    std::span(links).subspan(entry.link, next.link - entry.link)};
        }
        std::size_t size() const { return 6 * entries.size() + 4 * cells.size() + links.size(); }
    };

    // The plan for the node whose children were found, made if there is none yet.
    const Plan& find_plan(Node node, const SmoothedColumns::Kind& kind) {
        plan_key_.assign(1, key_[node]);
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            plan_key_.push_back(keys_[i]);
            plan_key_.push_back(children_[i].table != nullptr);
        }
        return plans_.get(plan_key_, [&](Plan& plan) { make(plan, kind); });
    }

    void make(Plan& plan, const SmoothedColumns::Kind& kind) {
        plan.entries.assign(kind.last_shape - kind.first_shape + 1, {});
        plan.cells.clear();
        plan.links.clear();
        for (std::uint32_t at = kind.first_shape; at < kind.last_shape; ++at) {
            const SmoothedColumns::Shape& shape = columns_.shape(at);
            Plan::Entry& entry = plan.entries[at - kind.first_shape];
            Plan::Entry& next = plan.entries[at - kind.first_shape + 1];
            entry.same = bare_;
            if (!sequences_.find(columns_.child_labels(shape), plan.cells, plan.links)) {
                entry.how = Plan::too_many_pairs;
                plan.cells.resize(entry.cell);
                plan.links.resize(entry.link);
            }
            next.cell = static_cast<std::uint32_t>(plan.cells.size());
            next.link = static_cast<std::uint32_t>(plan.links.size());
            if (next.cell > entry.cell) {
                entry.how = Plan::by_subtree;
                if (const SequenceSums::Cells cells = plan.cells_of(entry); sequences_.uniform(cells)) {
                    entry.same += sums(shape, {0, 1}, cells)[0];
                    entry.how = Plan::same_for_all;
                    plan.cells.resize(next.cell = entry.cell);
                    plan.links.resize(next.link = entry.link);
                }
            }
            work_ += 8 + shape.arity;
        }
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
        const std::uint32_t word = map_.vocabulary.word(arena_.label(node));
        const bool keep = !columns_.words().has_vectors();
        const KnownSimilarities found = prepared_.cache->get(word, keep, 0, own_, room_, [&](Similarities& result) {
            const std::size_t from = keep ? 1 : columns_.first_word(number, first);
            columns_.words().compare(map_.features, word, number, 1.0, from, scratch_, result, ahead_.products(node));
        });
        const bool leaf = arena_.is_leaf(node);
        if (!leaf) find_children(node);
        const SmoothedColumns::Kind& kind = columns_.kind(number);
        if (found.dense) {
            values[0] = 0.0;
            const Plan* plan = leaf ? nullptr : &find_plan(node, kind);
            for (std::uint32_t at = kind.first_shape; at < kind.last_shape; ++at) {
                const SmoothedColumns::Shape& shape = columns_.shape(at);
                const std::size_t from = first == 0 ? 0 : from_of(at, first);
                if (from == shape.count) continue;
                const SequenceSums::Chosen chosen{from, shape.count - from};
                if (!plan) {
                    weigh(shape, chosen, own_value(shape, leaf), nullptr, found.values, 1.0, count, values);
                    continue;
                }
                const Plan::Entry& entry = plan->entries[at - kind.first_shape];
                const double* below = nullptr;
                if (entry.how == Plan::by_subtree)
                    below = sums(shape, chosen, plan->cells_of(entry));
                else if (entry.how == Plan::too_many_pairs && sequences_.meet(columns_, shape))
                    below = sums(shape, chosen);
                weigh(shape, chosen, entry.same, below, found.values, 1.0, count, values);
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
                const SmoothedColumns::Shape& shape = columns_.shape(run.shape);
                const SequenceSums::Chosen chosen{0, static_cast<std::size_t>(end - begin), begin};
                double same = own_value(shape, leaf);
                const double* below = nullptr;
                if (!leaf && shape.arity > 0 && sequences_.meet(columns_, shape)) {
                    if (sequences_.uniform())
                        same += sums(shape, {chosen[0], 1})[0];
                    else
                        below = sums(shape, chosen);
                }
                weigh(shape, chosen, same, below, nullptr, hit.value, count, values);
            }
        work_ += found.hits.size();
    }

    // mu * lambda^2, by whether the node and the subtrees of a shape are leaves.
    double own_value(const SmoothedColumns::Shape& shape, bool leaf) const {
        return leaf && shape.arity == 0 ? bare_ * options_.terminal_factor : bare_;
    }

    // D of a lexical node against lexical subtrees of one shape: `same` and what lies below, times how similar the
    // words are, which is by the places of words, or the same for all.
    void weigh(const SmoothedColumns::Shape& shape, SequenceSums::Chosen chosen, double same, const double* below,
               const double* similar, double similarity, double count, double* values) {
        double* mine = values + shape.place;
        double* sum = sum_.data() + shape.begin;
        const std::uint32_t* word = columns_.word_places(shape);
        work_ += chosen.count;
        if (chosen.list) {
            for (std::size_t k = 0; k < chosen.count; ++k) {
                const double value = (below ? same + below[k] : same) * similarity;
                mine[chosen.list[k]] = value;
                sum[chosen.list[k]] += count * value;
            }
            return;
        }
        mine += chosen.from;
        sum += chosen.from;
        word += chosen.from;
        if (below) {
            for (std::size_t k = 0; k < chosen.count; ++k) mine[k] = (same + below[k]) * similar[word[k]];
        } else {
            for (std::size_t k = 0; k < chosen.count; ++k) mine[k] = same * similar[word[k]];
        }
        for (std::size_t k = 0; k < chosen.count; ++k) sum[k] += count * mine[k];
    }

    void release(Node node) {
        if (state_[slot_[node]].values.capacity() > 0) pool_.push_back(std::move(state_[slot_[node]].values));
        state_[slot_[node]].values = {};
        slot_[node] = kNone;
    }

    const WordMap& map_;
    const Arena& arena_;
    const SmoothedColumns& columns_;
    const SmoothedColumns::Prepared& prepared_;
    PartialOptions options_;
    const Control& control_;
    SequenceSums sequences_;
    static constexpr std::size_t kRoom = std::size_t{1} << 22;  // numbers that plans may hold, roughly

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
    PlanCache<Plan> plans_;
    std::vector<std::uint32_t> plan_key_;
    Similarities own_;
    SimilarityCache::Room room_;
    WordsAhead ahead_;
};

inline auto SmoothedColumns::visitor(const WordMap& map, const Bags& rows, const Prepared& prepared,
                                     const Control& control) const {
    return [this, &rows, &prepared, matcher = SmoothedMatcher(map, *this, prepared, options_, control)](
               std::size_t element, std::size_t first, auto bulk, auto active) mutable {
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
        matcher.look_ahead(rows, element, first);
        matcher.match(rows.numbers_of(element), rows.counts_of(element), first, active);
    };
}

}  // namespace sapwood
