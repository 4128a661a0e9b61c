// A weighted grammar ready for CKY: binary rules, unary chains and where the root may lead, indexed the ways parsing
// asks.
//
// A span is described in two layers. The lower says how its material was combined: by a binary rule, or as a tag over a
// word. The upper is what a binary rule may take as a child: the lower symbol itself, at the cost of ending there, or
// the top of a unary chain over it. A chain is one step however many nodes it stands for, so unary rules never form
// cycles. What symbols mean, and where weights come from, is not known here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood::parse {

inline constexpr double kNever = -std::numeric_limits<double>::infinity();

struct BinaryRule {
    Symbol parent, left, right;
    double weight;
};

// From an upper symbol to a lower one, through the nodes with these labels (outermost first, the upper one's included).
struct Chain {
    Symbol upper, lower;
    double weight;
    std::uint32_t first_label, last_label;
};

class Rules {
  public:
    // Rules that follow each other in `by_left` with the same two children.
    struct Pair {
        Symbol right;
        std::uint32_t begin, end;
    };
    struct Result {
        Symbol parent;
        double weight;
    };

    // `stay` has the weight of no chain above a symbol, kNever where there always is one; `prior` is what pruning adds
    // to the weight of a span, `labels` the name that a symbol has in trees, kNone for those that trees do not show.
    // The symbol `root` is reached by chains alone, over whole sentences.
    Rules(std::vector<BinaryRule> binary, std::vector<Chain> chains, std::vector<std::uint32_t> chain_labels,
          std::vector<double> stay, std::vector<double> prior, std::vector<Symbol> labels, Symbol root)
        : chains_(std::move(chains)),
          chain_labels_(std::move(chain_labels)),
          stay_(std::move(stay)),
          prior_(std::move(prior)),
          labels_(std::move(labels)),
          root_(root) {
        const std::size_t count = stay_.size();
        if (prior_.size() != count || labels_.size() != count || root_ >= count)
            throw std::invalid_argument("the tables of symbols differ in length");
        for (const BinaryRule& rule : binary)
            if (rule.parent >= count || rule.left >= count || rule.right >= count || rule.left == root_ ||
                rule.right == root_)
                throw std::invalid_argument("a binary rule has an unknown symbol");
        for (const Chain& chain : chains_)
            if (chain.upper >= count || chain.lower >= count || chain.lower == root_ ||
                chain.first_label > chain.last_label || chain.last_label > chain_labels_.size())
                throw std::invalid_argument("a chain has an unknown symbol");

        by_parent_ = binary;
        std::sort(by_parent_.begin(), by_parent_.end(), [](const BinaryRule& a, const BinaryRule& b) {
            return std::tie(a.parent, a.left, a.right) < std::tie(b.parent, b.left, b.right);
        });
        parent_first_ = first_of(by_parent_, count, [](const BinaryRule& rule) { return rule.parent; });

        std::sort(binary.begin(), binary.end(), [](const BinaryRule& a, const BinaryRule& b) {
            return std::tie(a.left, a.right, a.parent) < std::tie(b.left, b.right, b.parent);
        });
        pair_first_.assign(count + 1, 0);
        for (std::size_t at = 0; at < binary.size();) {
            std::size_t end = at;
            while (end < binary.size() && binary[end].left == binary[at].left && binary[end].right == binary[at].right)
                results_.push_back({binary[end].parent, binary[end].weight}), ++end;
            pairs_.push_back({binary[at].right, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
            ++pair_first_[binary[at].left + 1];
            at = end;
        }
        for (std::size_t symbol = 0; symbol < count; ++symbol) pair_first_[symbol + 1] += pair_first_[symbol];

        std::stable_sort(chains_.begin(), chains_.end(), [](const Chain& a, const Chain& b) {
            return std::tie(a.lower, a.upper) < std::tie(b.lower, b.upper);
        });
        lower_first_ = first_of(chains_, count, [](const Chain& chain) { return chain.lower; });
        by_upper_.resize(chains_.size());
        for (std::uint32_t at = 0; at < by_upper_.size(); ++at) by_upper_[at] = at;
        std::stable_sort(by_upper_.begin(), by_upper_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return chains_[a].upper < chains_[b].upper; });
        upper_first_ = first_of(by_upper_, count, [&](std::uint32_t at) { return chains_[at].upper; });
    }

    std::size_t symbols() const { return stay_.size(); }
    std::size_t binary_count() const { return by_parent_.size(); }
    Symbol root() const { return root_; }
    double stay(Symbol symbol) const { return stay_[symbol]; }
    double prior(Symbol symbol) const { return prior_[symbol]; }
    Symbol label(Symbol symbol) const { return labels_[symbol]; }

    std::span<const Pair> pairs(Symbol left) const { return slice<Pair>(pairs_, pair_first_, left); }
    const Result* results() const { return results_.data(); }
    // In ascending order of left, then right child.
    std::span<const BinaryRule> rules_of(Symbol parent) const {
        return slice<BinaryRule>(by_parent_, parent_first_, parent);
    }
    std::span<const Chain> chains_over(Symbol lower) const { return slice<Chain>(chains_, lower_first_, lower); }
    // Numbers of chains, for chain().
    std::span<const std::uint32_t> chains_under(Symbol upper) const {
        return slice<std::uint32_t>(by_upper_, upper_first_, upper);
    }
    const Chain& chain(std::uint32_t number) const { return chains_[number]; }
    std::span<const std::uint32_t> labels_of(const Chain& chain) const {
        return std::span(chain_labels_).subspan(chain.first_label, chain.last_label - chain.first_label);
    }

  private:
    template <class Items, class Key>
    static std::vector<std::uint32_t> first_of(const Items& items, std::size_t count, Key key) {
        std::vector<std::uint32_t> first(count + 1, 0);
        for (const auto& item : items) ++first[key(item) + 1];
        for (std::size_t at = 0; at < count; ++at) first[at + 1] += first[at];
        return first;
    }

    template <class T>
    static std::span<const T> slice(const std::vector<T>& items, const std::vector<std::uint32_t>& first, Symbol at) {
        return std::span(items).subspan(first[at], first[at + 1] - first[at]);
    }

    std::vector<BinaryRule> by_parent_;
    std::vector<std::uint32_t> parent_first_;
    std::vector<Pair> pairs_;
    std::vector<std::uint32_t> pair_first_;
    std::vector<Result> results_;
    std::vector<Chain> chains_;  // by lower symbol
    std::vector<std::uint32_t> lower_first_, by_upper_, upper_first_, chain_labels_;
    std::vector<double> stay_, prior_;
    std::vector<Symbol> labels_;
    Symbol root_;
};

}  // namespace sapwood::parse
