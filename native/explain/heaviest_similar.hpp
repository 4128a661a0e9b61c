// The heaviest fragments of kernels that compare by similarity: models that keep what their trees weigh, subtree by
// subtree, and set up the searches of explain/heaviest_aligned.hpp and explain/heaviest_partial.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "explain/aligned.hpp"
#include "explain/heaviest.hpp"
#include "explain/heaviest_aligned.hpp"
#include "explain/heaviest_partial.hpp"
#include "kernels/grammar_analysis.hpp"
#include "kernels/grammar_driven.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/reduced_matcher.hpp"
#include "kernels/semantic.hpp"
#include "kernels/smoothed.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// What a search is asked for. element null: the model itself, whose own words are then linked with each other.
struct HeaviestQuery {
    std::span<const double> combination;
    const Arena* arena;
    const Bags* element;
    const WordLinks* links;
    bool pairs;
    std::size_t capacity, limit;
};

// The trees of a model with what each distinct subtree weighs.
class WeightedTrees {
  public:
    // weights: elements x outputs, row major. The arena must outlive this and not change.
    WeightedTrees(const Arena& arena, Bags bags, const double* weights, std::size_t outputs)
        : arena(arena), bags(std::move(bags)), outputs(outputs), table_(arena.size() * outputs, 0.0) {
        for (std::size_t i = 0; i < this->bags.size(); ++i) {
            const auto numbers = this->bags.numbers_of(i);
            const auto counts = this->bags.counts_of(i);
            for (std::size_t k = 0; k < numbers.size(); ++k)
                for (std::size_t o = 0; o < outputs; ++o)
                    table_[numbers[k] * outputs + o] += counts[k] * weights[i * outputs + o];
        }
    }

    const Arena& arena;
    const Bags bags;
    const std::size_t outputs;
    std::vector<double> weight(std::span<const double> combination) const { return combine(table_, combination); }

  private:
    std::vector<double> table_;
};

// How often each subtree stands in an element; 1 where the model only says which subtrees there are.
inline std::vector<double> counts_of_nodes(const Arena& arena, const Bags& bags, bool once) {
    std::vector<double> count(arena.size(), 0.0);
    for (std::size_t k = 0; k < bags.numbers.size(); ++k) count[bags.numbers[k]] = once ? 1.0 : bags.counts[k];
    return count;
}

inline SimilarWords linked(const WordLinks& links, std::size_t model_labels) {
    SimilarWords similar(model_labels);
    for (const auto& [word, range] : links.rows)
        for (std::size_t k = range.first; k < range.second; ++k) similar.add(word, links.words[k], links.values[k]);
    similar.close();
    return similar;
}

class SemanticFragments {
  public:
    SemanticFragments(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                      const SemanticOptions& options, const double* weights, std::size_t outputs)
        : trees_(arena, bags, weights, outputs), options_(options), side_(align(arena, bags, vocabulary, arena)) {}

    std::size_t outputs() const { return trees_.outputs; }
    const Arena& arena() const { return trees_.arena; }

    Heaviest heaviest(const HeaviestQuery& ask, const Vocabulary* vocabulary, const Control& control) const {
        const bool single = !ask.element;
        const double production = options_.decay, word = options_.decay * options_.leaf_weight;
        const AlignedCosts costs{single ? std::sqrt(production) : production, single ? std::sqrt(word) : word, false};
        std::optional<AlignedSide> element;
        if (!single) element.emplace(align(*ask.arena, *ask.element, *vocabulary, trees_.arena));
        const Arena& arena = single ? trees_.arena : *ask.arena;
        const SimilarWords similar = linked(*ask.links, trees_.arena.symbols.size());
        return AlignedSearch(side_, trees_.weight(ask.combination), single ? side_ : *element,
                             counts_of_nodes(arena, single ? trees_.bags : *ask.element, single), similar,
                             trees_.arena.production_count(), costs, {single, ask.pairs, false}, ask.capacity,
                             ask.limit, control)
            .run();
    }

  private:
    WeightedTrees trees_;
    SemanticOptions options_;
    AlignedSide side_;
};

class GrammarFragments {
  public:
    GrammarFragments(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, const OutsideHeads& heads,
                     const double* weights, std::size_t outputs)
        : trees_(arena, bags, weights, outputs), kernel_(kernel) {
        const auto analysis = kernel_.read(arena, trees_.bags, heads, kListed);
        names_ = std::make_unique<AlignedNames>(*analysis, arena.symbols.size());
        side_ = std::make_unique<AlignedSide>(align(
            *analysis, trees_.bags, *names_, [&](const std::string& key) { return names_->intern(key); },
            [](Symbol label) { return label; }));
    }

    std::size_t outputs() const { return trees_.outputs; }
    const Arena& arena() const { return trees_.arena; }

    bool compares_words() const { return kernel_.options.lexical == Lexical::similar; }

    Heaviest heaviest(const HeaviestQuery& ask, const OutsideHeads& heads, const Control& control) const {
        const bool single = !ask.element;
        const Arena& model = trees_.arena;
        const Lexical lexical = kernel_.options.lexical;
        const double cost = single ? std::sqrt(kernel_.options.decay) : kernel_.options.decay;
        std::optional<AlignedSide> element;
        if (!single) {
            const auto analysis = kernel_.read(*ask.arena, *ask.element, heads, kListed);
            element.emplace(align(
                *analysis, *ask.element, *names_, [&](const std::string& key) { return names_->find(key); },
                [&](Symbol label) { return model.symbols.find(ask.arena->symbols.text(label)); }));
        }
        const AlignedSide& mine = single ? *side_ : *element;
        SimilarWords similar(model.symbols.size());
        if (lexical == Lexical::similar) {
            similar = linked(*ask.links, model.symbols.size());
        } else {
            add_equal(mine, lexical == Lexical::ignore, similar);
            similar.close();
        }
        return AlignedSearch(*side_, trees_.weight(ask.combination), mine,
                             counts_of_nodes(mine.arena, single ? trees_.bags : *ask.element, single), similar,
                             names_->keys(), {cost, cost, lexical == Lexical::ignore},
                             {single, ask.pairs, !single && kernel_.options.deletion > 0.0}, ask.capacity, ask.limit,
                             control)
            .run();
    }

  private:
    // A search looks at variants one by one, so it lists more of them than the kernel does.
    static constexpr double kListed = 4096.0;

    void add_equal(const AlignedSide& mine, bool all, SimilarWords& similar) const {
        const AlignedSide& words_of = all ? *side_ : mine;
        std::vector<bool> seen(words_of.arena.symbols.size(), false);
        for (Node node = 0; node < words_of.arena.size(); ++node) {
            if (words_of.kind[node] != AlignedSide::Kind::tag || seen[words_of.word(node)]) continue;
            const Symbol word = words_of.word(node);
            seen[word] = true;
            if (all)
                similar.add(0, word, 1.0);
            else if (const Symbol there = mine.label[word].there; there != kNone)
                similar.add(word, there, 1.0);
        }
    }

    WeightedTrees trees_;
    GrammarDrivenKernel kernel_;
    std::unique_ptr<AlignedNames> names_;
    std::unique_ptr<AlignedSide> side_;
};

// Partial trees with words that are similar, or with a terminal factor: what a leaf is worth depends on what it meets,
// so fragments tell leaves from cut-off nodes with the same label.
class SmoothedFragments {
  public:
    SmoothedFragments(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                      const SmoothedOptions& options, const double* weights, std::size_t outputs)
        : trees_(arena, bags, weights, outputs),
          options_(options),
          names_(2 * arena.symbols.size(), Name::none),
          keys_(keys_of(arena, bags, vocabulary, names_)),
          group_(names_.size()) {
        for (std::uint32_t key = 0; key < names_.size(); ++key)
            group_[key] = names_[key] == Name::word ? static_cast<std::uint32_t>(arena.symbols.size()) : key / 2;
    }

    std::size_t outputs() const { return trees_.outputs; }
    const Arena& arena() const { return trees_.arena; }

    Heaviest heaviest(const HeaviestQuery& ask, const Vocabulary* vocabulary, const Control& control) const {
        const bool single = !ask.element;
        const Arena& own = trees_.arena;
        const Arena& arena = single ? own : *ask.arena;
        const Bags& bags = single ? trees_.bags : *ask.element;
        std::vector<Name> my_names = names_;
        std::vector<std::uint32_t> my_keys = keys_;
        if (!single) {
            my_names.assign(2 * arena.symbols.size(), Name::none);
            my_keys = keys_of(arena, bags, *vocabulary, my_names);
        }
        const auto lists = compare(arena, my_names, ask.links);
        std::vector<PartialSide> sides;
        sides.emplace_back(own, PartialKeys(keys_, group_, lists, my_names.size()), trees_.weight(ask.combination),
                           options_.partial);
        sides.emplace_back(arena, PartialKeys(std::move(my_keys), my_names.size()),
                           counts_of_nodes(arena, bags, single), options_.partial);
        return PartialSearch(std::move(sides), options_.partial, {single, ask.pairs}, ask.capacity, ask.limit, control)
            .run([&](std::uint32_t key) { return arena.symbols.text(key / 2); },
                 [&](std::uint32_t key) { return own.symbols.text(key / 2); });
    }

  private:
    // A key is twice the label, plus 1 for leaves or, where leaves are nothing special, for words.
    enum class Name : std::uint8_t { none, label, word };

    bool is_split() const { return options_.partial.terminal_factor != 1.0; }

    std::vector<std::uint32_t> keys_of(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                                       std::vector<Name>& names) const {
        std::vector<std::uint32_t> keys(arena.size(), kNone);
        for (const Node node : bags.numbers) {
            const bool leaf = arena.is_leaf(node);
            if (leaf && !options_.partial.leaves) continue;
            const bool word = vocabulary.word(arena.label(node)) != kNone && (!options_.leaves_only || leaf);
            keys[node] = 2 * arena.label(node) + (is_split() ? leaf : word);
            names[keys[node]] = word ? Name::word : Name::label;
        }
        return keys;
    }

    // Per key of the model the keys of the element that it can stand for.
    std::vector<std::vector<PartialKeys::Match>> compare(const Arena& arena, const std::vector<Name>& my_names,
                                                         const WordLinks* links) const {
        const Arena& own = trees_.arena;
        const SimilarWords similar = links ? linked(*links, own.symbols.size()) : linked({}, own.symbols.size());
        std::vector<std::vector<PartialKeys::Match>> lists(names_.size());
        for (std::uint32_t key = 0; key < names_.size(); ++key) {
            if (names_[key] == Name::none) continue;
            const auto add = [&](Symbol label, double value) {
                for (const std::uint32_t mine : {2 * label, 2 * label + 1}) {
                    if (my_names[mine] != names_[key]) continue;
                    const bool leaves = is_split() && (key & mine & 1) != 0;
                    const double factor = value * (leaves ? options_.partial.terminal_factor : 1.0);
                    if (factor != 0.0) lists[key].push_back({mine, factor});
                }
            };
            if (names_[key] == Name::word)
                for (const SimilarWords::Match& match : similar.of(key / 2)) add(match.word, match.value);
            else if (const Symbol there = arena.symbols.find(own.symbols.text(key / 2)); there != kNone)
                add(there, 1.0);
            std::sort(lists[key].begin(), lists[key].end(), [](const auto& a, const auto& b) { return a.key < b.key; });
        }
        return lists;
    }

    WeightedTrees trees_;
    SmoothedOptions options_;
    std::vector<Name> names_;                  // per key
    std::vector<std::uint32_t> keys_, group_;  // per subtree, and per key
};

}  // namespace sapwood
