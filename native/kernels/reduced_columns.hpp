// Columns of the grammar-driven kernel: distinct subtrees arranged by the forms that their productions can take.
//
//     D(n1, n2) = lambda * M(tag1, tag2) * similarity(word1, word2)              for pre-terminals
//               = lambda * sum over common forms and over the embeddings e1, e2 of the form in both productions of
//                          lambda1^(deleted children) * prod over kept children phi(child1, child2)
//                                                                              for phrases with equal labels
//               = 0                                                            otherwise
//
// phi is 1 + D for children with equal labels. If tags mutate inside productions, labels of one *group* (a set of tags,
// or a single label) may be aligned, and phi = M (1 + lambda * similarity) for pre-terminals.
//
// Every embedding of a form in a subtree is a *variant*: a list of children in the order of the form. Variants with the
// same label and the same groups of children stand together, so that a row node is compared with all of them by
// multiplying gathered numbers. A production with too many embeddings to list keeps its forms only;
// its members are compared one by one by dynamic programming.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kernels/grammar_analysis.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class ReducedColumns {
  public:
    struct Variants {                      // subtrees in one form
        std::size_t begin = 0, count = 0;  // in the arrays of owners and weights
        std::size_t slots = 0;             // where the places of the children start: count per child of the form
        std::uint32_t length = 0;
        std::size_t unlisted = 0, unlisted_count = 0;  // forms of productions whose embeddings are not listed
    };
    struct Group {                         // of subtrees that may be aligned
        std::size_t begin = 0, count = 0;  // positions
    };
    struct Unlisted {
        std::uint32_t shape;
        std::size_t labels;
        std::uint32_t head;
    };
    struct UnlistedShape {
        std::size_t children, arity;  // of child_labels and deletion
        std::uint32_t head;
        std::vector<std::uint32_t> positions;  // of its subtrees, ascending
        std::vector<std::uint32_t> places;     // of their children: arity per subtree
    };
    struct Tag {  // a distinct pre-terminal
        std::uint32_t family, group;
        Symbol label;
        std::uint32_t place;  // in its group; kNone: never a child
        std::uint32_t feature;
    };

    // `local` must have one entry per subtree of the arena; take_scratch() gives it back for the next use.
    ReducedColumns(const GrammarAnalysis& analysis, const Bags& bags, const ReducedOptions& options,
                   std::vector<std::uint32_t> local)
        : options_(options), symbols_(analysis.arena().symbols.size()), local_(std::move(local)) {
        collect(analysis, bags);
        arrange(analysis);
        index_variants(analysis);
        index_tags(analysis);
        for (std::size_t family = symbols_; family < analysis.group_count(); ++family)
            families_.intern(analysis.family_name(static_cast<std::uint32_t>(family)));
    }

    std::size_t feature_count() const { return features_; }
    // The bulk: pre-terminals, or tags alone where words do not count.
    Bags features(const Arena&, const Bags& bags) const {
        return map_bags(bags, features_, [&](Node node) { return feature_[local_[node]]; });
    }
    std::uint32_t feature(Node node) const { return feature_[local_[node]]; }
    std::size_t positions() const { return last_.size(); }
    // Only phrases are members. Made once for all on demand, for it is as long as the arena.
    std::vector<std::uint32_t> positions_of_nodes() const {
        std::vector<std::uint32_t> result(local_.size(), kNone);
        for (std::size_t k = 0; k < nodes_.size(); ++k)
            if (phrasal_[k]) result[nodes_[k]] = position_[k];
        return result;
    }
    std::uint32_t position(Node node) const { return phrasal_[local_[node]] ? position_[local_[node]] : kNone; }
    std::vector<std::uint32_t> take_scratch() { return std::move(local_); }

    // The number here of a family of the rows, or kNone.
    std::uint32_t find_family(std::string_view name) const {
        const Symbol found = families_.find(name);
        return found == kNone ? kNone : static_cast<std::uint32_t>(symbols_ + found);
    }
    // The variants with this label and these groups of children, or kNone.
    std::uint32_t find_variants(Symbol label, std::span<const std::uint32_t> groups) const {
        return table_.find(hash(label, groups), [&](std::uint32_t number) { return is_key(number, label, groups); });
    }

    const Variants& variants(std::uint32_t number) const { return variants_[number]; }
    std::span<const std::uint32_t> owners(const Variants& v) const { return {owner_.data() + v.begin, v.count}; }
    const double* weights(const Variants& v) const { return weight_.data() + v.begin; }
    const std::uint32_t* places(const Variants& v, std::size_t slot) const {
        return place_.data() + v.slots + slot * v.count;
    }
    std::span<const Unlisted> unlisted(const Variants& v) const {
        return {unlisted_.data() + v.unlisted, v.unlisted_count};
    }
    const UnlistedShape& unlisted_shape(std::uint32_t number) const { return unlisted_shapes_[number]; }
    std::span<const std::uint32_t> child_labels(const UnlistedShape& shape) const {
        return {child_labels_.data() + shape.children, shape.arity};
    }
    std::span<const double> deletion(const UnlistedShape& shape) const {
        return {deletion_.data() + shape.children, shape.arity};
    }
    const std::uint32_t* form_labels(const Unlisted& form) const { return form_labels_.data() + form.labels; }

    // The subtrees of a group of labels; null if there are none.
    const Group* find_group(std::uint32_t number) const {
        const auto found = group_number_.find(number);
        return found == group_number_.end() ? nullptr : &groups_[found->second];
    }
    Symbol label_at(std::size_t position) const { return label_[position]; }
    bool preterminal_at(std::size_t position) const { return preterminal_[position] != 0; }
    // Index in its group of the first subtree that some element >= first holds.
    std::size_t first_place(const Group& group, std::size_t first) const {
        if (first == 0) return 0;
        const auto begin = last_.begin() + static_cast<std::ptrdiff_t>(group.begin);
        return static_cast<std::size_t>(
            std::lower_bound(begin, begin + static_cast<std::ptrdiff_t>(group.count), first) - begin);
    }

    // The pre-terminals over a word of the columns.
    std::span<const Tag> tags_over(Symbol word) const {
        const auto found = tags_over_.find(word);
        if (found == tags_over_.end()) return {};
        return {tags_.data() + found->second.begin, found->second.count};
    }
    // The tags of a family, by their features; only where words do not count.
    std::span<const Tag> tags_of(std::uint32_t family) const {
        const auto found = tags_of_.find(family);
        if (found == tags_of_.end()) return {};
        return found->second;
    }

    const ReducedOptions& options() const { return options_; }

  private:
    static std::uint32_t hash(Symbol label, std::span<const std::uint32_t> groups) {
        std::uint64_t state = detail::mix(detail::hash_seed(), label);
        for (const std::uint32_t group : groups) state = detail::mix(state, group);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    bool is_key(std::uint32_t number, Symbol label, std::span<const std::uint32_t> groups) const {
        const std::size_t begin = key_begin_[number], size = key_begin_[number + 1] - begin;
        return size == groups.size() + 1 && keys_[begin] == label &&
               std::equal(groups.begin(), groups.end(), keys_.begin() + static_cast<std::ptrdiff_t>(begin) + 1);
    }

    // The distinct subtrees in use, and the last element that holds each.
    void collect(const GrammarAnalysis& analysis, const Bags& bags) {
        const Arena& arena = analysis.arena();
        if (bags.size() == 1) {
            nodes_.assign(bags.numbers.begin(), bags.numbers.end());
            for (std::size_t k = 0; k < nodes_.size(); ++k) local_[nodes_[k]] = static_cast<std::uint32_t>(k);
            last_of_.assign(nodes_.size(), 0);
        } else {
            std::fill(local_.begin(), local_.end(), kNone);
            for (const Node node : bags.numbers) local_[node] = 0;
            for (Node node = 0; node < local_.size(); ++node)
                if (local_[node] != kNone) {
                    local_[node] = static_cast<std::uint32_t>(nodes_.size());
                    nodes_.push_back(node);
                }
            last_of_.resize(nodes_.size());
            for (std::size_t i = 0; i < bags.size(); ++i)
                for (const Node node : bags.numbers_of(i)) last_of_[local_[node]] = static_cast<std::uint32_t>(i);
        }
        elements_ = bags.size();
        phrasal_.resize(nodes_.size());
        for (std::size_t k = 0; k < nodes_.size(); ++k) phrasal_[k] = analysis.is_phrasal(nodes_[k]);
        needed_.assign(nodes_.size(), 0);
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            if (!phrasal_[k]) continue;
            needed_[k] = 1;
            for (const Node child : arena.children(nodes_[k])) needed_[local_[child]] = 1;
        }
    }

    // Positions: phrases and their children, group by group, within a group by the last element that holds them.
    void arrange(const GrammarAnalysis& analysis) {
        const Arena& arena = analysis.arena();
        std::vector<std::size_t> start(elements_ + 1, 0);
        for (std::size_t k = 0; k < nodes_.size(); ++k) ++start[last_of_[k] + 1];
        for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
        by_last_.resize(nodes_.size());
        for (std::size_t k = 0; k < nodes_.size(); ++k) by_last_[start[last_of_[k]]++] = static_cast<std::uint32_t>(k);
        std::size_t total = 0;
        group_.resize(nodes_.size());
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            if (!needed_[k]) continue;
            const std::uint32_t number = analysis.label(arena.label(nodes_[k])).group;
            group_[k] = group_number_.try_emplace(number, static_cast<std::uint32_t>(groups_.size())).first->second;
            if (group_[k] == groups_.size()) groups_.emplace_back();
            ++groups_[group_[k]].count;
            ++total;
        }
        std::size_t begin = 0;
        for (Group& group : groups_) {
            group.begin = begin;
            begin += group.count;
            group.count = 0;
        }
        position_.assign(nodes_.size(), kNone);
        last_.resize(total);
        label_.resize(total);
        preterminal_.resize(total);
        for (const std::uint32_t k : by_last_) {
            if (!needed_[k]) continue;
            Group& group = groups_[group_[k]];
            const std::size_t at = group.begin + group.count++;
            position_[k] = static_cast<std::uint32_t>(at);
            last_[at] = last_of_[k];
            label_[at] = arena.label(nodes_[k]);
            preterminal_[at] = !phrasal_[k] && !arena.is_leaf(nodes_[k]);
        }
    }

    std::uint32_t place_of(Node node) const {
        const std::uint32_t k = local_[node];
        return static_cast<std::uint32_t>(position_[k] - groups_[group_[k]].begin);
    }

    void index_variants(const GrammarAnalysis& analysis) {
        const Arena& arena = analysis.arena();
        std::vector<std::uint32_t> known;  // per form, where a production has been met
        std::unordered_map<Production, std::size_t> met;
        std::unordered_map<Production, std::uint32_t> shape_number;
        std::vector<std::vector<Unlisted>> unlisted;
        std::vector<std::uint32_t> groups;
        // Once to count, once to fill; owners of variants come in the order of their positions.
        for (const bool fill : {false, true}) {
            if (fill) lay_out(unlisted);
            for (const std::uint32_t k : by_last_) {
                if (!phrasal_[k]) continue;
                const Node node = nodes_[k];
                const Production production = arena.production_of(node);
                const GrammarAnalysis::Shape& shape = analysis.shape(production);
                const auto [entry, fresh] = met.try_emplace(production, known.size());
                if (fresh) {
                    for (std::size_t f = 0; f < shape.forms; ++f) {
                        const GrammarAnalysis::Form& form = analysis.form(shape.first_form + f);
                        groups.clear();
                        for (const std::uint32_t label : analysis.form_labels(form))
                            groups.push_back(analysis.label(label).group);
                        known.push_back(find_or_add(arena.label(node), groups));
                        unlisted.resize(variants_.size());
                    }
                    if (!shape.listed) {
                        shape_number[production] = static_cast<std::uint32_t>(unlisted_shapes_.size());
                        add_unlisted_shape(analysis, shape);
                        for (std::size_t f = 0; f < shape.forms; ++f) {
                            const GrammarAnalysis::Form& form = analysis.form(shape.first_form + f);
                            unlisted[known[entry->second + f]].push_back(
                                {shape_number[production], form_labels_.size(), form.head});
                            const auto labels = analysis.form_labels(form);
                            form_labels_.insert(form_labels_.end(), labels.begin(), labels.end());
                        }
                    }
                }
                if (!shape.listed) {
                    if (fill) continue;
                    UnlistedShape& own = unlisted_shapes_[shape_number[production]];
                    own.positions.push_back(position_[k]);
                    for (const Node child : arena.children(node)) own.places.push_back(place_of(child));
                    continue;
                }
                const auto kids = arena.children(node);
                for (std::size_t f = 0; f < shape.forms; ++f) {
                    const GrammarAnalysis::Form& form = analysis.form(shape.first_form + f);
                    Variants& variants = variants_[known[entry->second + f]];
                    if (!fill) {
                        variants.count += form.embeddings;
                        continue;
                    }
                    for (std::size_t e = 0; e < form.embeddings; ++e) {
                        const std::size_t at = filled_[known[entry->second + f]]++;
                        const std::uint32_t* slots = analysis.slots(form, e);
                        owner_[variants.begin + at] = position_[k];
                        weight_[variants.begin + at] = form.weight;
                        for (std::size_t t = 0; t < form.length; ++t)
                            place_[variants.slots + t * variants.count + at] = place_of(kids[slots[t]]);
                    }
                }
            }
        }
        filled_ = {};
    }

    void lay_out(const std::vector<std::vector<Unlisted>>& unlisted) {
        std::size_t members = 0, slots = 0;
        for (std::size_t v = 0; v < variants_.size(); ++v) {
            variants_[v].begin = members;
            variants_[v].slots = slots;
            members += variants_[v].count;
            slots += variants_[v].count * variants_[v].length;
            variants_[v].unlisted = unlisted_.size();
            variants_[v].unlisted_count = unlisted[v].size();
            unlisted_.insert(unlisted_.end(), unlisted[v].begin(), unlisted[v].end());
        }
        owner_.resize(members);
        weight_.resize(members);
        place_.resize(slots);
        filled_.assign(variants_.size(), 0);
    }

    std::uint32_t find_or_add(Symbol label, std::span<const std::uint32_t> groups) {
        if (const std::uint32_t found = find_variants(label, groups); found != kNone) return found;
        const auto number = static_cast<std::uint32_t>(variants_.size());
        variants_.emplace_back().length = static_cast<std::uint32_t>(groups.size());
        keys_.push_back(label);
        keys_.insert(keys_.end(), groups.begin(), groups.end());
        key_begin_.push_back(keys_.size());
        table_.insert(hash(label, groups), number);
        return number;
    }

    void add_unlisted_shape(const GrammarAnalysis& analysis, const GrammarAnalysis::Shape& shape) {
        unlisted_shapes_.push_back({child_labels_.size(), shape.arity, shape.head, {}, {}});
        const auto labels = analysis.child_labels(shape);
        const auto deletion = analysis.deletion(shape);
        child_labels_.insert(child_labels_.end(), labels.begin(), labels.end());
        deletion_.insert(deletion_.end(), deletion.begin(), deletion.end());
    }

    void index_tags(const GrammarAnalysis& analysis) {
        const Arena& arena = analysis.arena();
        feature_.assign(nodes_.size(), kNone);
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            if (phrasal_[k] || arena.is_leaf(nodes_[k])) continue;
            const Symbol label = arena.label(nodes_[k]);
            const GrammarAnalysis::Label& seen = analysis.label(label);
            if (options_.lexical == Lexical::ignore) {
                auto& known = tags_of_[seen.family];
                auto tag =
                    std::find_if(known.begin(), known.end(), [&](const Tag& other) { return other.label == label; });
                if (tag == known.end())
                    tag = known.insert(
                        known.end(), {seen.family, seen.group, label, kNone, static_cast<std::uint32_t>(features_++)});
                feature_[k] = tag->feature;
            } else {
                feature_[k] = static_cast<std::uint32_t>(features_++);
                ++tags_over_[arena.label(arena.children(nodes_[k])[0])].count;
            }
        }
        if (options_.lexical == Lexical::ignore) return;
        std::size_t begin = 0;
        for (auto& [word, range] : tags_over_) {
            range.begin = begin;
            begin += range.count;
            range.count = 0;
        }
        tags_.resize(begin);
        for (std::size_t k = 0; k < nodes_.size(); ++k) {
            if (feature_[k] == kNone) continue;
            const GrammarAnalysis::Label& seen = analysis.label(arena.label(nodes_[k]));
            Range& range = tags_over_[arena.label(arena.children(nodes_[k])[0])];
            tags_[range.begin + range.count++] = {seen.family, seen.group, arena.label(nodes_[k]),
                                                  position_[k] == kNone ? kNone : place_of(nodes_[k]), feature_[k]};
        }
    }

    struct Range {
        std::size_t begin = 0, count = 0;
    };

    ReducedOptions options_;
    std::size_t symbols_, elements_ = 0, features_ = 0;
    std::vector<std::uint32_t> local_;  // per subtree of the arena: its index in the next arrays
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> last_of_, by_last_, position_, feature_;
    std::vector<std::uint8_t> phrasal_, needed_;
    std::vector<std::uint32_t> last_;  // per position
    std::vector<Symbol> label_;
    std::vector<std::uint8_t> preterminal_;
    std::vector<std::uint32_t> group_;  // per subtree: index in groups_
    std::unordered_map<std::uint32_t, std::uint32_t> group_number_;
    std::vector<Group> groups_;
    SymbolTable families_;
    std::vector<Variants> variants_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::size_t> key_begin_{0};
    detail::IndexTable table_;
    std::vector<std::uint32_t> owner_, place_;
    std::vector<double> weight_;
    std::vector<std::size_t> filled_;
    std::vector<Unlisted> unlisted_;
    std::vector<UnlistedShape> unlisted_shapes_;
    std::vector<std::uint32_t> child_labels_, form_labels_;
    std::vector<double> deletion_;
    std::vector<Tag> tags_;
    std::unordered_map<Symbol, Range> tags_over_;                  // per word
    std::unordered_map<std::uint32_t, std::vector<Tag>> tags_of_;  // per family
};

}  // namespace sapwood
