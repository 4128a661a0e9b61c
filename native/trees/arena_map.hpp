// Maps from one arena to another: the numbers that subtrees, labels and productions of the first have in the second.
//
// Rows and columns of a kernel need not share an arena. What the second arena does not hold has no number there
// (kNone).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class ArenaMap {
  public:
    // Translates the subtrees that occur in `bags` from the arena `rows` to the arena `columns`.
    ArenaMap(const Arena& rows, const Arena& columns, const Bags& bags) : arena(rows), same_(&rows == &columns) {
        if (same_) {
            labels = rows.labels();
            productions = rows.productions();
            return;
        }
        std::vector<bool> used(rows.size(), false);
        for (const Node node : bags.numbers) used[node] = true;
        std::vector<Symbol> symbols(rows.symbols.size(), kNone);
        std::vector<bool> asked(rows.symbols.size(), false);
        nodes_.assign(rows.size(), kNone);
        labels_.assign(rows.size(), kNone);
        productions_.assign(rows.size(), kNone);
        std::vector<std::uint32_t> kids;
        for (Node node = 0; node < rows.size(); ++node) {
            if (!used[node]) continue;
            const Symbol own = rows.label(node);
            if (!asked[own]) {
                asked[own] = true;
                symbols[own] = columns.symbols.find(rows.symbols.text(own));
            }
            if ((labels_[node] = symbols[own]) == kNone) continue;
            const auto children = rows.children(node);
            if (translated(children, nodes_, kids)) nodes_[node] = columns.find_node(symbols[own], kids);
            if (nodes_[node] != kNone)
                productions_[node] = columns.production_of(nodes_[node]);
            else if (!children.empty() && translated(children, labels_, kids))
                productions_[node] = columns.find_production(symbols[own], kids);
        }
        labels = labels_;
        productions = productions_;
    }

    ArenaMap(const ArenaMap&) = delete;
    ArenaMap& operator=(const ArenaMap&) = delete;

    const Arena& arena;                       // the rows' own: children and leaves
    std::span<const Symbol> labels;           // per row subtree: its label there
    std::span<const Production> productions;  // its production there
    Node node(Node node) const { return same_ ? node : nodes_[node]; }

  private:
    // Fills `kids` with the translations of the children; false if one has none.
    static bool translated(std::span<const Node> children, const std::vector<std::uint32_t>& map,
                           std::vector<std::uint32_t>& kids) {
        kids.clear();
        for (const Node child : children) {
            if (map[child] == kNone) return false;
            kids.push_back(map[child]);
        }
        return true;
    }

    bool same_;
    std::vector<Node> nodes_;
    std::vector<Symbol> labels_;
    std::vector<Production> productions_;
};

// The numbers that the labels of some subtrees of one arena have in another; kNone for those it does not know.
class LabelMap {
  public:
    LabelMap(const Arena& from, const Arena& to, std::span<const Node> nodes)
        : same_(&from == &to), symbols_(same_ ? 0 : from.symbols.size(), nodes.size()) {
        if (same_) return;
        if (nodes.size() < from.symbols.size()) {
            for (const Node node : nodes)
                if (const Symbol own = from.label(node); symbols_.at(own) == kNone)
                    symbols_.set(own, to.symbols.find(from.symbols.text(own)));
            return;
        }
        complete_ = true;
        to.symbols.find_all(from.symbols, [&](Symbol own, Symbol there) { symbols_.set(own, there); });
    }

    // Of a label that one of the subtrees has.
    Symbol operator()(Symbol own) const { return same_ ? own : symbols_.at(own); }
    // Whether it knows those of all subtrees.
    bool complete() const { return complete_; }

  private:
    bool same_, complete_ = false;
    NumberMap symbols_;
};

// The same for their productions.
class ProductionMap {
  public:
    ProductionMap(const Arena& from, const Arena& to, const LabelMap& labels, std::span<const Node> nodes)
        : same_(&from == &to), productions_(same_ ? 0 : from.production_count(), nodes.size()) {
        if (!same_) translate(from, to, labels, nodes);
    }

    // Of a production that one of the subtrees has.
    Production operator()(Production own) const { return same_ ? own : productions_.at(own); }

  private:
    static constexpr std::size_t kBlock = 16;  // productions looked up together

    void translate(const Arena& from, const Arena& to, const LabelMap& labels, std::span<const Node> nodes) {
        std::vector<Production> wanted;
        wanted.reserve(kBlock);
        const auto want = [&](Production production) {
            wanted.push_back(production);
            if (wanted.size() < kBlock) return;
            find(from, to, labels, wanted);
            wanted.clear();
        };
        if (labels.complete() && from.production_count() <= nodes.size()) {
            for (Production own = 0; own < from.production_count(); ++own) want(own);
        } else {
            constexpr Production kAsked = kNone - 1;
            for (const Node node : nodes) {
                const Production own = from.production_of(node);
                if (own == kNone || productions_.at(own) != kNone) continue;
                productions_.set(own, kAsked);
                want(own);
            }
        }
        find(from, to, labels, wanted);
    }

    void find(const Arena& from, const Arena& to, const LabelMap& labels, std::span<const Production> wanted) {
        std::array<Arena::Sought, kBlock> sought;
        std::array<Production, kBlock> known;
        std::size_t count = 0;
        there_.clear();
        for (const Production own : wanted) {
            const Node node = from.sample(own);
            for (const Node child : from.children(node)) there_.push_back(labels(from.label(child)));
        }
        const Symbol* below = there_.data();
        for (const Production own : wanted) {
            const Node node = from.sample(own);
            const std::span<const Symbol> kids(below, from.children(node).size());
            below += kids.size();
            const Symbol label = labels(from.label(node));
            if (label == kNone || std::find(kids.begin(), kids.end(), kNone) != kids.end()) {
                productions_.set(own, kNone);
                continue;
            }
            known[count] = own;
            sought[count] = {label, kids};
            to.seek(sought[count++]);
        }
        for (std::size_t k = 0; k < count; ++k) to.reach(sought[k]);
        for (std::size_t k = 0; k < count; ++k) productions_.set(known[k], to.found(sought[k]));
    }

    std::vector<Symbol> there_;  // labels of children, of a block
    bool same_;
    NumberMap productions_;
};

}  // namespace sapwood
