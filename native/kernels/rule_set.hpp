// The rules of a grammar: which productions are grammatical, and where their heads are.
//
// Rules with one left-hand side share their prefixes in a trie, so that all rules hidden in a longer production are
// found by one walk. Labels are seen without the marks that portions of trees carry (NP-ARG).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

class RuleSet {
  public:
    RuleSet(std::vector<std::string> marks, std::size_t max_deletions, std::size_t min_children, bool strict_head)
        : marks_(std::move(marks)),
          max_deletions_(max_deletions),
          min_children_(min_children),
          strict_head_(strict_head) {}

    Symbol intern(std::string_view label) {
        const Symbol symbol = labels_.intern(label);
        if (symbol >= roots_.size()) {
            roots_.resize(symbol + 1, kNone);
            phrasal_.resize(symbol + 1, false);
            deletable_.resize(symbol + 1, false);
        }
        return symbol;
    }

    // Adds a rule; its labels come from intern().
    void add(Symbol left, std::span<const Symbol> right, std::uint32_t head) {
        phrasal_[left] = true;
        if (roots_[left] == kNone) roots_[left] = append();
        std::uint32_t at = roots_[left];
        for (const Symbol symbol : right) {
            std::uint32_t next = child(at, symbol);
            if (next == kNone) {
                next = append();
                edge_of_[next] = {at, symbol};
                edges_.insert(hash(at, symbol), next);
            }
            at = next;
        }
        heads_[at] = head;
    }

    // A label that is a left-hand side although no rule says so.
    void add_phrasal(Symbol label) { phrasal_[label] = true; }
    // Once called, only labels named here may be deleted.
    void only_delete(std::span<const Symbol> labels) {
        all_deletable_ = false;
        for (const Symbol label : labels) deletable_[label] = true;
    }

    // kNone for a label that no rule mentions; the label must be without marks.
    Symbol find(std::string_view label) const { return labels_.find(label); }
    bool is_phrasal(Symbol label) const { return label != kNone && phrasal_[label]; }
    bool is_deletable(Symbol label) const { return all_deletable_ || (label != kNone && deletable_[label]); }
    std::size_t max_deletions() const { return max_deletions_; }
    std::size_t min_children() const { return min_children_; }
    bool strict_head() const { return strict_head_; }

    // Length of a label without the marks at its end.
    std::size_t unmarked(std::string_view label) const {
        for (bool again = true; again;) {
            again = false;
            for (const std::string& mark : marks_)
                if (label.size() > mark.size() && label.ends_with(mark)) {
                    label.remove_suffix(mark.size());
                    again = true;
                }
        }
        return label.size();
    }

    // The trie: where the rules of a left-hand side start (kNone: it has none), the way on (kNone: there is none), and
    // the head position of the rule that ends at a place (kNone: none does).
    std::uint32_t root(Symbol left) const { return left == kNone ? kNone : roots_[left]; }
    std::uint32_t child(std::uint32_t place, Symbol symbol) const {
        return edges_.find(hash(place, symbol), [&](std::uint32_t other) {
            return edge_of_[other].first == place && edge_of_[other].second == symbol;
        });
    }
    std::uint32_t head(std::uint32_t place) const { return heads_[place]; }

    // Head position of a production, kNone if it is no rule.
    std::uint32_t head_of(Symbol left, std::span<const Symbol> right) const {
        std::uint32_t place = root(left);
        for (const Symbol symbol : right) {
            if (place == kNone || symbol == kNone) return kNone;
            place = child(place, symbol);
        }
        return place == kNone ? kNone : heads_[place];
    }

  private:
    static std::uint32_t hash(std::uint32_t place, Symbol symbol) {
        const std::uint64_t state = detail::mix(place, symbol);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    std::uint32_t append() {
        heads_.push_back(kNone);
        edge_of_.push_back({kNone, kNone});
        return static_cast<std::uint32_t>(heads_.size() - 1);
    }

    std::vector<std::string> marks_;
    std::size_t max_deletions_, min_children_;
    bool strict_head_;
    SymbolTable labels_;
    bool all_deletable_ = true;
    std::vector<bool> phrasal_, deletable_;  // per label
    std::vector<std::uint32_t> roots_;       // per label
    std::vector<std::uint32_t> heads_;       // per place in the trie
    std::vector<std::pair<std::uint32_t, Symbol>> edge_of_;
    detail::IndexTable edges_;
};

}  // namespace sapwood
