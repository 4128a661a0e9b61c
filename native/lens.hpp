// Rows seen with the eyes of the columns: the numbers that the subtrees of one arena have in another.
//
// Rows and columns of a kernel need not share a store. What the columns have never seen has no number there (kNone).
#pragma once

#include <algorithm>
#include <cstddef>
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

// The numbers that the labels of one arena have in another; kNone for those it does not know.
class LabelLens {
  public:
    LabelLens(const Arena& from, const Arena& to) : same_(&from == &to), symbols_(same_ ? 0 : from.symbols.size()) {
        constexpr std::size_t kAhead = 12;
        for (std::size_t k = 0; k < symbols_.size(); ++k) {
            if (k + kAhead < symbols_.size()) to.symbols.prefetch(from.symbols.text(static_cast<Symbol>(k + kAhead)));
            symbols_[k] = to.symbols.find(from.symbols.text(static_cast<Symbol>(k)));
        }
    }

    Symbol operator()(Symbol own) const { return same_ ? own : symbols_[own]; }

  private:
    bool same_;
    std::vector<Symbol> symbols_;
};

// The same for the productions of some subtrees.
class ProductionLens {
  public:
    ProductionLens(const Arena& from, const Arena& to, const LabelLens& labels, std::span<const Node> nodes)
        : same_(&from == &to), productions_(same_ ? 0 : from.production_count(), kNone) {
        if (!same_) translate(from, to, labels, nodes);
    }

    // Of a production that one of the subtrees has.
    Production operator()(Production own) const { return same_ ? own : productions_[own]; }

  private:
    // A production whose labels are all known, and where these stand: its own first, then those of its children.
    struct Wanted {
        Production production;
        std::size_t labels;
    };

    void translate(const Arena& from, const Arena& to, const LabelLens& labels, std::span<const Node> nodes) {
        std::vector<bool> asked(from.production_count(), false);
        std::vector<Wanted> wanted;
        std::vector<Symbol> there;
        for (const Node node : nodes) {
            const Production production = from.production_of(node);
            if (production == kNone || asked[production]) continue;
            asked[production] = true;
            const std::size_t begin = there.size();
            there.push_back(labels(from.label(node)));
            for (const Node child : from.children(node)) there.push_back(labels(from.label(child)));
            if (std::find(there.begin() + static_cast<std::ptrdiff_t>(begin), there.end(), kNone) == there.end())
                wanted.push_back({production, begin});
            else
                there.resize(begin);
        }
        wanted.push_back({kNone, there.size()});
        const auto children = [&](std::size_t k) {
            return std::span<const Symbol>(there).subspan(wanted[k].labels + 1, wanted[k + 1].labels - wanted[k].labels - 1);
        };
        constexpr std::size_t kAhead = 8;
        for (std::size_t k = 0; k + 1 < wanted.size(); ++k) {
            if (k + kAhead + 1 < wanted.size()) to.prefetch_production(there[wanted[k + kAhead].labels], children(k + kAhead));
            productions_[wanted[k].production] = to.find_production(there[wanted[k].labels], children(k));
        }
    }

    bool same_;
    std::vector<Production> productions_;
};

}  // namespace sapwood
