// Rows seen with the eyes of the columns: the numbers that the subtrees of one arena have in another.
//
// Rows and columns of a kernel need not share a store. What the columns have never seen has no number there (kNone).
#pragma once

#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"

namespace sapwood {

class Lens {
  public:
    // Translates the subtrees that occur in `bags` from the arena `rows` to the arena `columns`.
    Lens(const Arena& rows, const Arena& columns, const Bags& bags) : arena(rows), same_(&rows == &columns) {
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
            if (nodes_[node] != kNone) productions_[node] = columns.production_of(nodes_[node]);
            else if (!children.empty() && translated(children, labels_, kids))
                productions_[node] = columns.find_production(symbols[own], kids);
        }
        labels = labels_;
        productions = productions_;
    }

    Lens(const Lens&) = delete;
    Lens& operator=(const Lens&) = delete;

    const Arena& arena;                        // the rows' own: children and leaves
    std::span<const Symbol> labels;            // per row subtree: its label there
    std::span<const Production> productions;   // its production there
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

}  // namespace sapwood
