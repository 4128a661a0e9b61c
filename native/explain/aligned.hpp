// Trees as kernels see them that compare children one by one but are lenient about them: which nodes can be aligned, in
// which forms, and at what cost. One representation for the semantic and the grammar-driven kernel, so that one search
// explains both.
//
// A *variant* is a phrase in one of its forms: the children that are kept, in order. Variants of two sides with the
// same *key* can be aligned child by child. Within one side, variants with the same *own* number look the same: they
// have the same labels, and tags stand in the same places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/grammar_analysis.hpp"
#include "kernels/lexicon.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct AlignedSide {
    enum class Kind : std::uint8_t { unused, leaf, tag, phrase };
    struct Variant {
        Node owner;
        std::uint32_t key, own;
        std::uint32_t length;
        std::size_t kids;
        double weight;  // the cost of the children left out
    };
    struct Label {
        Symbol there = kNone;          // the same label in the model
        std::uint32_t family = kNone;  // in the model: tags of one family can be aligned
        bool mutates = false;          // whether inside productions, too
        TagWeights weights;
    };

    explicit AlignedSide(const Arena& arena)
        : arena(arena), kind(arena.size(), Kind::unused), label(arena.symbols.size()), begin(arena.size() + 1, 0) {}

    const Arena& arena;
    std::vector<Kind> kind;          // per subtree
    std::vector<Label> label;        // per label
    std::vector<Variant> variants;   // by ascending owner
    std::vector<std::size_t> begin;  // per subtree: its first variant
    std::vector<Node> kids;
    std::uint32_t own_count = 0;
    std::vector<std::uint32_t> unlisted;  // keys of phrases with more variants than can be listed

    std::span<const Variant> variants_of(Node node) const {
        return std::span(variants).subspan(begin[node], begin[node + 1] - begin[node]);
    }
    std::span<const Node> kids_of(const Variant& variant) const {
        return std::span(kids).subspan(variant.kids, variant.length);
    }
    // The word under a tag.
    Symbol word(Node tag) const { return arena.label(arena.children(tag)[0]); }
};

// The semantic subset-tree kernel: the only form of a phrase is its production, whose number in the model is the key.
inline AlignedSide align(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary, const Arena& model) {
    AlignedSide side(arena);
    const ArenaMap map(arena, model, bags);
    for (const Node node : bags.numbers) {
        using Kind = AlignedSide::Kind;
        side.kind[node] = arena.is_leaf(node)                           ? Kind::leaf
                          : vocabulary.word_under(arena, node) != kNone ? Kind::tag
                                                                        : Kind::phrase;
        AlignedSide::Label& label = side.label[arena.label(node)];
        label.there = label.family = map.labels[node];
    }
    for (Node node = 0; node < arena.size(); ++node) {
        if (side.kind[node] == AlignedSide::Kind::phrase && map.productions[node] != kNone) {
            const auto kids = arena.children(node);
            side.variants.push_back({node, map.productions[node], arena.production_of(node),
                                     static_cast<std::uint32_t>(kids.size()), side.kids.size(), 1.0});
            side.kids.insert(side.kids.end(), kids.begin(), kids.end());
        }
        side.begin[node + 1] = side.variants.size();
    }
    side.own_count = static_cast<std::uint32_t>(arena.production_count());
    return side;
}

// Names that two readings of a grammar have in common: families of tags, and labels over groups of children.
class AlignedNames {
  public:
    AlignedNames(const GrammarAnalysis& model, std::size_t symbols) : symbols_(symbols) {
        for (std::size_t family = symbols; family < model.group_count(); ++family)
            families_.intern(model.family_name(static_cast<std::uint32_t>(family)));
    }

    std::uint32_t family(std::string_view name) const {
        const Symbol found = families_.find(name);
        return found == kNone ? kNone : static_cast<std::uint32_t>(symbols_ + found);
    }
    std::size_t keys() const { return keys_.size(); }
    std::uint32_t find(const std::string& key) const {
        const auto found = keys_.find(key);
        return found == keys_.end() ? kNone : found->second;
    }
    std::uint32_t intern(const std::string& key) {
        return keys_.try_emplace(key, static_cast<std::uint32_t>(keys_.size())).first->second;
    }

  private:
    std::size_t symbols_;
    SymbolTable families_;
    std::unordered_map<std::string, std::uint32_t> keys_;
};

namespace detail {
inline void append_number(std::string& text, std::uint32_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
}
}  // namespace detail

// The grammar-driven kernel. name(key) finds or makes the number of a key; there(label) is the label in the model.
template <class Name, class There>
AlignedSide align(const GrammarAnalysis& analysis, const Bags& bags, const AlignedNames& names, Name name,
                  There there) {
    using Kind = AlignedSide::Kind;
    const Arena& arena = analysis.arena();
    AlignedSide side(arena);
    std::vector<std::uint32_t> group(arena.symbols.size(), kNone);
    std::vector<bool> seen(arena.symbols.size(), false);
    const auto learn = [&](Symbol symbol) {
        if (seen[symbol]) return;
        seen[symbol] = true;
        const GrammarAnalysis::Label& known = analysis.label(symbol);
        AlignedSide::Label& label = side.label[symbol];
        label.there = there(symbol);
        const auto number = [&](std::uint32_t own) {
            return analysis.is_own_label(own) ? label.there : names.family(analysis.family_name(own));
        };
        label.family = number(known.family);
        group[symbol] = number(known.group);
        label.mutates = !analysis.is_own_label(known.group);
        label.weights = analysis.tag_weights(known.set);
    };
    for (const Node node : bags.numbers) {
        side.kind[node] = arena.is_leaf(node) ? Kind::leaf : analysis.is_preterminal(node) ? Kind::tag : Kind::phrase;
        learn(arena.label(node));
    }
    constexpr std::uint32_t kUnknown = kNone - 1;
    std::vector<std::uint32_t> key(analysis.form_count(), kUnknown);
    std::unordered_map<std::string, std::uint32_t> own;
    std::string text;
    for (Node node = 0; node < arena.size(); ++node) {
        side.begin[node + 1] = side.variants.size();
        if (side.kind[node] != Kind::phrase) continue;
        const auto kids = arena.children(node);
        const GrammarAnalysis::Shape& shape = analysis.shape(arena.production_of(node));
        for (std::size_t f = shape.first_form; f < shape.first_form + shape.forms; ++f) {
            const GrammarAnalysis::Form& form = analysis.form(f);
            if (key[f] == kUnknown) {
                text.clear();
                bool known = side.label[arena.label(node)].there != kNone;
                detail::append_number(text, side.label[arena.label(node)].there);
                for (const std::uint32_t label : analysis.form_labels(form)) {
                    known &= group[label] != kNone;
                    detail::append_number(text, group[label]);
                }
                key[f] = known ? name(text) : kNone;
            }
            if (key[f] == kNone) continue;
            if (!shape.listed) side.unlisted.push_back(key[f]);
            for (std::size_t e = 0; e < form.embeddings; ++e) {
                const std::uint32_t* slots = analysis.slots(form, e);
                AlignedSide::Variant variant{node, key[f], 0, form.length, side.kids.size(), form.weight};
                text.clear();
                detail::append_number(text, arena.label(node));
                for (std::size_t t = 0; t < form.length; ++t) {
                    const Node kid = kids[slots[t]];
                    side.kids.push_back(kid);
                    detail::append_number(text, arena.label(kid));
                    // A tag that may mutate is not the same as a bare label.
                    if (side.label[arena.label(kid)].mutates) text.push_back(side.kind[kid] == Kind::tag ? 't' : 'b');
                }
                variant.own = own.try_emplace(text, static_cast<std::uint32_t>(own.size())).first->second;
                side.variants.push_back(variant);
            }
        }
        side.begin[node + 1] = side.variants.size();
    }
    side.own_count = static_cast<std::uint32_t>(own.size());
    return side;
}

// Which words of the element are like a word of the model, and how much.
class SimilarWords {
  public:
    struct Match {
        std::uint32_t word;
        double value;
    };

    // Words are labels; add() everything, then close().
    explicit SimilarWords(std::size_t model_labels) : begin_(model_labels + 1, 0) {}
    void add(Symbol word, Symbol model_word, double value) {
        if (value == 0.0) return;
        added_.push_back({model_word, {word, value}});
        ++begin_[model_word + 1];
        negative_ |= value < 0.0;
    }
    void close() {
        for (std::size_t k = 1; k < begin_.size(); ++k) begin_[k] += begin_[k - 1];
        matches_.resize(added_.size());
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (const auto& [word, match] : added_) matches_[next[word]++] = match;
        added_.clear();
        added_.shrink_to_fit();
    }

    std::span<const Match> of(Symbol model_word) const {
        return std::span(matches_).subspan(begin_[model_word], begin_[model_word + 1] - begin_[model_word]);
    }
    bool negative() const { return negative_; }

  private:
    std::vector<std::size_t> begin_;
    std::vector<std::pair<Symbol, Match>> added_;
    std::vector<Match> matches_;
    bool negative_ = false;
};

}  // namespace sapwood
