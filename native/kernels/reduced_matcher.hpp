// The grammar-driven kernel of row elements against prepared columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "kernels/alignments.hpp"
#include "kernels/grammar_analysis.hpp"
#include "kernels/reduced_columns.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Which words of the columns are like a word of the rows, and how much.
struct WordLinks {
    std::unordered_map<Symbol, std::pair<std::size_t, std::size_t>> rows;  // word -> begin, end
    std::vector<Symbol> words;
    std::vector<double> values;
};

// The numbers that labels and forms of a grammar analysis of the rows have in the columns. May be filled again for
// other elements.
class GrammarMap {
  public:
    struct Label {
        Symbol own = kNone;  // the same label there
        std::uint32_t family = kNone, group = kNone;
        const ReducedColumns::Group* candidates = nullptr;  // subtrees there that may be aligned with this label
    };

    GrammarMap() = default;
    explicit GrammarMap(const GrammarAnalysis& analysis)
        : labels_(analysis.arena().symbols.size()),
          label_round_(labels_.size(), 0),
          shape_round_(analysis.arena().production_count(), 0),
          variants_(analysis.form_count(), kNone) {}

    // own(node) gives the label that a row subtree has in the columns.
    template <class Own>
    void connect(const GrammarAnalysis& analysis, const ReducedColumns& columns, std::span<const Node> nodes, Own own) {
        ++round_;
        const Arena& arena = analysis.arena();
        for (const Node node : nodes) {
            const Symbol label = arena.label(node);
            if (label_round_[label] == round_) continue;
            label_round_[label] = round_;
            const GrammarAnalysis::Label& seen = analysis.label(label);
            Label& mine = labels_[label];
            mine.own = own(node);
            const auto there = [&](std::uint32_t number) {
                return analysis.is_own_label(number) ? mine.own : columns.find_family(analysis.family_name(number));
            };
            mine.family = there(seen.family);
            mine.group = there(seen.group);
            mine.candidates = mine.group == kNone ? nullptr : columns.find_group(mine.group);
        }
        std::vector<std::uint32_t> groups;
        for (const Node node : nodes) {
            if (!analysis.is_phrasal(node)) continue;
            const Production production = arena.production_of(node);
            if (shape_round_[production] == round_) continue;
            shape_round_[production] = round_;
            const GrammarAnalysis::Shape& shape = analysis.shape(production);
            const Symbol left = labels_[arena.label(node)].own;
            for (std::size_t f = shape.first_form; f < shape.first_form + shape.forms; ++f) {
                groups.clear();
                bool known = left != kNone;
                for (const std::uint32_t label : analysis.form_labels(analysis.form(f))) {
                    groups.push_back(labels_[label].group);
                    known &= groups.back() != kNone;
                }
                variants_[f] = known ? columns.find_variants(left, groups) : kNone;
            }
        }
    }

    const Label& label(Symbol symbol) const { return labels_[symbol]; }
    std::uint32_t variants(std::size_t form) const { return variants_[form]; }

  private:
    std::vector<Label> labels_;  // per label of the rows
    std::vector<std::uint32_t> label_round_, shape_round_;
    std::vector<std::uint32_t> variants_;  // per form of the rows
    std::uint32_t round_ = 0;
};

// out[k] = factor * weight[k] * the product over slots of table[place of child k there]
SAPWOOD_VECTOR static void gather_products(double* __restrict out, const double* __restrict weight, double factor,
                                           const double* const* tables, const std::uint32_t* const* places,
                                           std::size_t slots, std::size_t count) {
    std::size_t s = 0;
    if (slots >= 2) {
        const double *a = tables[0], *b = tables[1];
        const std::uint32_t *i = places[0], *j = places[1];
        for (std::size_t k = 0; k < count; ++k) out[k] = factor * weight[k] * a[i[k]] * b[j[k]];
        s = 2;
    } else {
        for (std::size_t k = 0; k < count; ++k) out[k] = factor * weight[k];
    }
    for (; s < slots; ++s) {
        const double* table = tables[s];
        const std::uint32_t* place = places[s];
        for (std::size_t k = 0; k < count; ++k) out[k] *= table[place[k]];
    }
}

// Walks one row element bottom up. For every row node that may be aligned with column subtrees it keeps phi against all
// of them, by place, as long as parents need it.
class ReducedMatcher {
  public:
    // `slots` has one entry per subtree of the rows, all kNone; take_scratch() gives it back.
    ReducedMatcher(const GrammarAnalysis& analysis, const ReducedColumns& columns, const GrammarMap& grammar_map,
                   const WordLinks* links, const Control& control, std::vector<std::uint32_t> slots)
        : analysis_(analysis),
          arena_(analysis.arena()),
          columns_(columns),
          grammar_map_(grammar_map),
          links_(links),
          control_(control),
          options_(columns.options()),
          slot_(std::move(slots)) {}

    std::vector<std::uint32_t> take_scratch() { return std::move(slot_); }

    // Reports pre-terminals as bulk(feature, weight) and phrases as active(position, value); columns that only elements
    // before `first` hold may be left out.
    template <class Report, class Found>
    void match(std::span<const Node> nodes, std::span<const double> counts, std::size_t first, Report bulk,
               Found active) {
        first_ = first;
        count_parents(nodes);
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node node = nodes[k];
            if (arena_.is_leaf(node)) continue;
            if (analysis_.is_preterminal(node)) {
                match_tag(node, counts[k], bulk);
                continue;
            }
            evaluate(node, counts[k], active);
            for (const Node child : arena_.children(node))
                if (slot_[child] != kNone && --state_[slot_[child]].parents == 0) release(child);
            if (slot_[node] != kNone && state_[slot_[node]].parents == 0) release(node);
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
        }
    }

  private:
    static constexpr std::size_t kLane = 256;   // variants worked on together
    static constexpr std::size_t kNarrow = 16;  // the same where a table per lane is kept

    struct Base;
    struct State {
        std::size_t parents = 0;
        std::vector<double> values;                           // phi by place; empty: that of a bare label
        Base* base = nullptr;                                 // what the values are where no fragment is shared
        std::vector<std::span<const std::uint32_t>> changed;  // positions of the others
        std::size_t begin = 0;                                // position of place 0
    };
    // phi of a row label against its group where no word and no fragment below is shared, and tables that hold it.
    struct Base {
        std::vector<double> values;
        std::vector<std::vector<double>> spare;

        std::vector<double> table() {
            if (spare.empty()) return values;
            std::vector<double> taken = std::move(spare.back());
            spare.pop_back();
            return taken;
        }
    };
    struct Patch {
        Base* base;
        std::vector<double> table;
        std::size_t begin, end;  // of patched_
    };

    void count_parents(std::span<const Node> nodes) {
        used_ = 0;
        for (const Node node : nodes) {
            if (arena_.is_leaf(node) || !analysis_.is_phrasal(node)) continue;
            if (used_ == state_.size()) state_.emplace_back();
            slot_[node] = static_cast<std::uint32_t>(used_);
            state_[used_++].parents = 0;
            for (const Node child : arena_.children(node))
                if (slot_[child] != kNone) ++state_[slot_[child]].parents;
        }
    }

    void release(Node node) {
        State& state = state_[slot_[node]];
        if (state.base) {
            const double* bare = state.base->values.data();
            for (const auto positions : state.changed) {
                for (const std::uint32_t at : positions) state.values[at - state.begin] = bare[at - state.begin];
                work_ += positions.size();
            }
            state.base->spare.push_back(std::move(state.values));
            state.values = {};
            state.base = nullptr;
            state.changed.clear();
        }
        slot_[node] = kNone;
    }

    // Similarity of two tags of one family.
    static double similar(const TagWeights& weights, bool equal) { return equal ? weights.same : weights.different; }

    template <class Visit>
    void for_each_link(Symbol word, Visit visit) const {
        if (options_.lexical == Lexical::similar) {
            const auto found = links_->rows.find(word);
            if (found == links_->rows.end()) return;
            for (std::size_t k = found->second.first; k < found->second.second; ++k)
                visit(links_->words[k], links_->values[k]);
        } else if (const Symbol same = grammar_map_.label(word).own; same != kNone) {
            visit(same, 1.0);
        }
    }

    template <class Report>
    void match_tag(Node node, double count, Report bulk) {
        const Symbol tag = arena_.label(node);
        const GrammarMap::Label& mine = grammar_map_.label(tag);
        if (mine.family == kNone) return;
        const TagWeights& weights = analysis_.tag_weights(analysis_.label(tag).set);
        const double factor = options_.decay * count;
        if (options_.lexical == Lexical::ignore) {
            for (const ReducedColumns::Tag& other : columns_.tags_of(mine.family))
                bulk(other.feature, factor * similar(weights, other.label == mine.own));
            return;
        }
        for_each_link(arena_.label(arena_.children(node)[0]), [&](Symbol word, double similarity) {
            for (const ReducedColumns::Tag& other : columns_.tags_over(word))
                if (other.family == mine.family)
                    bulk(other.feature, factor * similarity * similar(weights, other.label == mine.own));
        });
    }

    // Whether a row label stands in a set of tags whose elements may be aligned.
    bool mutates(const GrammarAnalysis::Label& seen) const { return !analysis_.is_own_label(seen.group); }

    double aligned_tags(const GrammarAnalysis::Label& seen, bool equal, double similarity) const {
        const TagWeights& weights = analysis_.tag_weights(seen.set);
        if (mutates(seen)) return similar(weights, equal) * (1.0 + options_.decay * similarity);
        return 1.0 + options_.decay * weights.same * similarity;
    }

    Base& base(Symbol label, bool preterminal) {
        Base& base = bases_[2 * std::uint64_t{label} + preterminal];
        const GrammarMap::Label& mine = grammar_map_.label(label);
        if (!base.values.empty() || mine.candidates->count == 0) return base;
        const GrammarAnalysis::Label& seen = analysis_.label(label);
        const TagWeights& weights = analysis_.tag_weights(seen.set);
        base.values.resize(mine.candidates->count);
        for (std::size_t k = 0; k < base.values.size(); ++k) {
            const std::size_t position = mine.candidates->begin + k;
            const bool equal = columns_.label_at(position) == mine.own, tag = columns_.preterminal_at(position);
            if (preterminal && tag)
                base.values[k] = aligned_tags(seen, equal, options_.lexical == Lexical::ignore ? 1.0 : 0.0);
            else if (preterminal != tag && mutates(seen))
                base.values[k] = equal ? weights.bare_same : weights.bare_different;
            else
                base.values[k] = equal ? 1.0 : 0.0;
        }
        return base;
    }

    // A table of phi for a pre-terminal: the base, changed where words are similar.
    const double* patched(Node node) {
        const Symbol tag = arena_.label(node);
        Base& base = this->base(tag, true);
        if (options_.lexical == Lexical::ignore) return base.values.data();
        const GrammarMap::Label& mine = grammar_map_.label(tag);
        const GrammarAnalysis::Label& seen = analysis_.label(tag);
        const std::size_t begin = patched_.size();
        for_each_link(arena_.label(arena_.children(node)[0]), [&](Symbol word, double similarity) {
            for (const ReducedColumns::Tag& other : columns_.tags_over(word)) {
                if (other.group != mine.group || other.place == kNone) continue;
                patched_.push_back({other.place, aligned_tags(seen, other.label == mine.own, similarity)});
            }
        });
        if (patched_.size() == begin) return base.values.data();
        patches_.push_back({&base, base.table(), begin, patched_.size()});
        std::vector<double>& table = patches_.back().table;
        for (std::size_t k = begin; k < patched_.size(); ++k) table[patched_[k].place] = patched_[k].value;
        return table.data();
    }

    void unpatch() {
        for (Patch& patch : patches_) {
            for (std::size_t k = patch.begin; k < patch.end; ++k)
                patch.table[patched_[k].place] = patch.base->values[patched_[k].place];
            patch.base->spare.push_back(std::move(patch.table));
        }
        patches_.clear();
        patched_.clear();
    }

    template <class Found>
    void evaluate(Node node, double count, Found active) {
        const GrammarAnalysis::Shape& shape = analysis_.shape(arena_.production_of(node));
        bool any = false;
        for (std::size_t f = shape.first_form; f < shape.first_form + shape.forms; ++f)
            any |= grammar_map_.variants(f) != kNone;
        if (!any) return;
        find_tables(arena_.children(node));
        const ReducedColumns::Group& group = *grammar_map_.label(arena_.label(node)).candidates;
        State& state = state_[slot_[node]];
        const std::size_t from = columns_.first_place(group, first_);
        double* mine = nullptr;
        if (state.parents > 0) {
            state.base = &base(arena_.label(node), false);
            state.values = state.base->table();
            state.begin = group.begin;
            mine = state.values.data();
        }
        // D against a run of variants: into the row's sum and, where parents need it, into phi.
        const auto add = [count, mine, active, begin = group.begin](const std::uint32_t* owners, const double* values,
                                                                    std::size_t size) {
            if (mine) {
                for (std::size_t k = 0; k < size; ++k) {
                    mine[owners[k] - begin] += values[k];
                    active(owners[k], count * values[k]);
                }
            } else {
                for (std::size_t k = 0; k < size; ++k) active(owners[k], count * values[k]);
            }
        };
        for (std::size_t f = shape.first_form; f < shape.first_form + shape.forms; ++f) {
            if (grammar_map_.variants(f) == kNone) continue;
            const ReducedColumns::Variants& variants = columns_.variants(grammar_map_.variants(f));
            const GrammarAnalysis::Form& form = analysis_.form(f);
            const auto owners = columns_.owners(variants);
            const std::size_t start =
                from == 0 ? 0
                          : static_cast<std::size_t>(
                                std::lower_bound(owners.begin(), owners.end(), group.begin + from) - owners.begin());
            if (mine && start < owners.size()) state.changed.push_back(owners.subspan(start));
            if (shape.listed)
                products(form, variants, start, add);
            else if (start < variants.count)
                sums(shape, form, variants, start, add);
            for (const ReducedColumns::Unlisted& other : columns_.unlisted(variants)) {
                if (mine) state.changed.push_back(columns_.unlisted_shape(other.shape).positions);
                one_by_one(shape, form, other, group.begin + from, add);
            }
        }
        unpatch();
    }

    void find_tables(std::span<const Node> children) {
        tables_.clear();
        for (const Node child : children) {
            if (grammar_map_.label(arena_.label(child)).candidates == nullptr) {
                tables_.push_back(nullptr);
            } else if (slot_[child] != kNone && !state_[slot_[child]].values.empty()) {
                tables_.push_back(state_[slot_[child]].values.data());
            } else if (!arena_.is_leaf(child) && analysis_.is_preterminal(child)) {
                tables_.push_back(patched(child));
            } else {
                tables_.push_back(base(arena_.label(child), false).values.data());
            }
        }
    }

    // All listed embeddings of a form against all listed variants.
    template <class Add>
    void products(const GrammarAnalysis::Form& form, const ReducedColumns::Variants& variants, std::size_t start,
                  Add add) {
        const std::uint32_t* owners = columns_.owners(variants).data();
        chosen_.resize(form.length);
        places_.resize(form.length);
        double lane[kLane];
        for (std::size_t e = 0; e < form.embeddings; ++e) {
            const std::uint32_t* slots = analysis_.slots(form, e);
            for (std::size_t t = 0; t < form.length; ++t) chosen_[t] = tables_[slots[t]];
            for (std::size_t at = start; at < variants.count; at += kLane) {
                const std::size_t count = std::min(kLane, variants.count - at);
                for (std::size_t t = 0; t < form.length; ++t) places_[t] = columns_.places(variants, t) + at;
                gather_products(lane, columns_.weights(variants) + at, options_.decay * form.weight, chosen_.data(),
                                places_.data(), form.length, count);
                add(owners + at, lane, count);
            }
            work_ += (variants.count - start) * form.length + 8;
        }
    }

    Reduction reduction(const GrammarAnalysis::Shape& shape, const GrammarAnalysis::Form& form) const {
        return {analysis_.child_labels(shape),
                analysis_.deletion(shape),
                shape.head,
                analysis_.form_labels(form).data(),
                form.length,
                form.head};
    }

    // All embeddings of a form that are not listed here, against all listed variants.
    template <class Add>
    void sums(const GrammarAnalysis::Shape& shape, const GrammarAnalysis::Form& form,
              const ReducedColumns::Variants& variants, std::size_t start, Add add) {
        const std::uint32_t* owners = columns_.owners(variants).data();
        double lane[kNarrow], gathered[kNarrow];
        for (std::size_t at = start; at < variants.count; at += kNarrow) {
            const std::size_t count = std::min(kNarrow, variants.count - at);
            alignments_.left_only(
                reduction(shape, form), count,
                [&](std::size_t i, std::size_t t) {
                    const std::uint32_t* places = columns_.places(variants, t) + at;
                    for (std::size_t k = 0; k < count; ++k) gathered[k] = tables_[i][places[k]];
                    return gathered;
                },
                lane);
            const double* weights = columns_.weights(variants) + at;
            for (std::size_t k = 0; k < count; ++k) lane[k] *= options_.decay * weights[k];
            add(owners + at, lane, count);
            work_ += shape.arity * form.length * kNarrow;
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
        }
    }

    // A form here, listed or not, against subtrees whose embeddings are not listed.
    template <class Add>
    void one_by_one(const GrammarAnalysis::Shape& shape, const GrammarAnalysis::Form& form,
                    const ReducedColumns::Unlisted& other, std::size_t from, Add add) {
        const ReducedColumns::UnlistedShape& theirs = columns_.unlisted_shape(other.shape);
        const Reduction right{columns_.child_labels(theirs),
                              columns_.deletion(theirs),
                              theirs.head,
                              columns_.form_labels(other),
                              form.length,
                              other.head};
        const auto begin = std::lower_bound(theirs.positions.begin(), theirs.positions.end(), from);
        for (auto at = begin; at != theirs.positions.end(); ++at) {
            const std::uint32_t* places = theirs.places.data() + (at - theirs.positions.begin()) * theirs.arity;
            const double value =
                options_.decay * alignments_.both(reduction(shape, form), right,
                                                  [&](std::size_t i, std::size_t j) { return tables_[i][places[j]]; });
            add(&*at, &value, 1);
            work_ += shape.arity * theirs.arity * form.length;
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
        }
    }

    struct Patched {
        std::uint32_t place;
        double value;
    };

    const GrammarAnalysis& analysis_;
    const Arena& arena_;
    const ReducedColumns& columns_;
    const GrammarMap& grammar_map_;
    const WordLinks* links_;
    const Control& control_;
    ReducedOptions options_;
    Alignments alignments_;
    std::vector<std::uint32_t> slot_;  // per subtree of the rows: its State while it is alive
    std::vector<State> state_;
    std::size_t used_ = 0, first_ = 0, work_ = 0;
    std::unordered_map<std::uint64_t, Base> bases_;  // per row label, of pre-terminals and of others
    std::vector<Patch> patches_;
    std::vector<Patched> patched_;
    std::vector<const double*> tables_, chosen_;  // per child of the row node; per child of the form
    std::vector<const std::uint32_t*> places_;
};

}  // namespace sapwood
