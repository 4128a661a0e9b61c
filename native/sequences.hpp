// Sums over sequences of children, the inner part of the partial-tree kernels: what two nodes have in common below, given
// what their children have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "parallel.hpp"

namespace sapwood {

struct PartialOptions {
    double decay;                 // lambda
    double depth_decay;           // mu
    std::size_t max_subsequence;  // longest child sequence; 0: no limit
    bool leaves;                  // false: a pair with a leaf counts 0
    double terminal_factor;
};

// Sums over child sequences for one row node against all column subtrees of one shape. Columns is PartialColumns, or what
// has shapes, child labels and child places as it has.
class SequenceSums {
  public:
    SequenceSums(const PartialOptions& options, const Control& control) : options_(options), control_(control) {}

    // D of one row child against column children by their place: from a table, or the same for all internal ones.
    struct Child {
        const double* table;      // by place; null: use the two values
        double leaf, internal;    // at place 0, and elsewhere
        double at(std::uint32_t place) const {
            if (table) return table[place];
            return place == 0 ? leaf : internal;
        }
    };

    // Subtrees of one shape: count of them from one on, or a list of their numbers.
    struct Chosen {
        std::size_t from, count;
        const std::uint32_t* list = nullptr;
        std::size_t operator[](std::size_t k) const { return list ? list[k] : from + k; }
    };

    // Takes the labels and values of the children of a row node; kNone matches nothing. The values must stay as they are
    // while shapes are asked about.
    void enter(std::span<const Symbol> labels, std::span<const Child> children) {
        for (const Symbol label : labels_)
            if (label != kNone) where_[label] = 0;
        labels_.assign(labels.begin(), labels.end());
        row_ = children;
        next_.assign(labels.size(), 0);
        for (std::size_t i = labels.size(); i-- > 0;) {
            if (labels[i] == kNone) continue;
            if (where_.size() <= labels[i]) where_.resize(std::size_t{labels[i]} + 1, 0);
            next_[i] = where_[labels[i]];
            where_[labels[i]] = static_cast<std::uint32_t>(i + 1);
        }
    }

    // Finds the pairs of children with equal labels; false if there are none, so that all sums are 0.
    template <class Columns>
    bool meet(const Columns& columns, const typename Columns::Shape& shape) {
        // Many equal labels make so many pairs of cells that the plain recursion over prefixes is faster.
        wide_ = row_.size() * shape.arity > kWide || !find_cells(columns.child_labels(shape));
        return wide_ || !cells_.empty();
    }

    // Whether the sum is the same for all subtrees of the shape that was met: what matches are children without tables.
    bool uniform() const {
        if (wide_) return false;
        for (const Cell& cell : cells_)
            if (row_[cell.i].table || row_[cell.i].leaf != row_[cell.i].internal) return false;
        return true;
    }

    // out[k] = the sum for the k-th of the chosen subtrees of the shape that was met.
    template <class Columns>
    void evaluate(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, double* out) {
        if (wide_) {
            for (std::size_t k = 0; k < chosen.count; ++k) out[k] = wide(columns, shape, chosen[k]);
            return;
        }
        const std::size_t limit = options_.max_subsequence;
        const bool limited = limit != 0 && limit < longest_;
        if (cells_.size() == 1) {
            gather(row_[cells_[0].i], columns.child_places(shape, cells_[0].j), chosen, 0, chosen.count, out);
        } else if (limited) {
            bounded(columns, shape, chosen, out);
        } else {
            for (std::size_t begin = 0; begin < chosen.count; begin += kLane) {
                if (cells_.size() > kMany) control_.check();
                block(columns, shape, chosen, begin, std::min(kLane, chosen.count - begin), out + begin);
            }
        }
    }

  private:
    static constexpr std::size_t kLane = 32;    // subtrees worked on together
    static constexpr std::size_t kWide = 4096;  // slot pairs beyond which no list of cells is kept
    static constexpr std::size_t kMany = 64;    // cells beyond which cancellation is checked for each block
    static constexpr std::size_t kLinks = 24;   // links per pair of slots beyond which prefixes are faster

    struct Cell {
        std::uint32_t i, j;
        std::size_t begin, end;  // its predecessors in links_
        std::size_t length;      // longest sequence that ends here
    };
    struct Link {
        std::uint32_t cell, gaps;
    };

    static void gather(const Child& child, const std::uint32_t* places, Chosen chosen, std::size_t begin,
                       std::size_t count, double* out) {
        if (chosen.list) {
            for (std::size_t k = 0; k < count; ++k) out[k] = child.at(places[chosen.list[begin + k]]);
            return;
        }
        places += chosen.from + begin;
        if (const double* table = child.table) {
            for (std::size_t k = 0; k < count; ++k) out[k] = table[places[k]];
        } else {
            for (std::size_t k = 0; k < count; ++k) out[k] = places[k] == 0 ? child.leaf : child.internal;
        }
    }

    // False if there are too many links to be worth it.
    bool find_cells(std::span<const Symbol> theirs) {
        cells_.clear();
        links_.clear();
        longest_ = 0;
        for (std::uint32_t j = 0; j < theirs.size(); ++j) {
            if (theirs[j] >= where_.size()) continue;
            for (std::uint32_t at = where_[theirs[j]]; at != 0; at = next_[at - 1]) {
                const std::uint32_t i = at - 1;
                Cell cell{i, j, links_.size(), 0, 1};
                for (std::uint32_t c = 0; c < cells_.size(); ++c) {
                    if (cells_[c].i >= i || cells_[c].j >= j) continue;
                    const std::uint32_t gaps = (i - cells_[c].i - 1) + (j - cells_[c].j - 1);
                    while (powers_.size() <= gaps)
                        powers_.push_back(powers_.empty() ? 1.0 : powers_.back() * options_.decay);
                    links_.push_back({c, gaps});
                    cell.length = std::max(cell.length, cells_[c].length + 1);
                }
                cell.end = links_.size();
                if (links_.size() > kLinks * labels_.size() * theirs.size()) return false;
                longest_ = std::max(longest_, cell.length);
                cells_.push_back(cell);
            }
        }
        return true;
    }

    // T(cell) = D(cell) * (1 + sum over predecessors of weight * T); the result is the sum of all T.
    template <class Columns>
    void block(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, std::size_t begin,
               std::size_t count, double* out) {
        sums_.resize(cells_.size() * kLane);
        std::fill(out, out + count, 0.0);
        double lane[kLane];
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            const Cell& cell = cells_[c];
            double* sum = sums_.data() + c * kLane;
            gather(row_[cell.i], columns.child_places(shape, cell.j), chosen, begin, count, lane);
            for (std::size_t k = 0; k < count; ++k) sum[k] = 1.0;
            for (std::size_t l = cell.begin; l < cell.end; ++l) {
                const double* before = sums_.data() + links_[l].cell * kLane;
                const double weight = powers_[links_[l].gaps];
                for (std::size_t k = 0; k < count; ++k) sum[k] += weight * before[k];
            }
            for (std::size_t k = 0; k < count; ++k) {
                sum[k] *= lane[k];
                out[k] += sum[k];
            }
        }
    }

    // The same with sequences no longer than the limit: one T per length.
    template <class Columns>
    void bounded(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, double* out) {
        const std::size_t limit = options_.max_subsequence;
        sums_.resize(cells_.size() * limit);
        for (std::size_t k = 0; k < chosen.count; ++k) {
            if (cells_.size() > kMany) control_.check();
            double total = 0.0;
            for (std::size_t c = 0; c < cells_.size(); ++c) {
                const Cell& cell = cells_[c];
                const double value = row_[cell.i].at(columns.child_places(shape, cell.j)[chosen[k]]);
                double* mine = sums_.data() + c * limit;
                std::fill(mine, mine + limit, 0.0);
                mine[0] = 1.0;
                for (std::size_t l = cell.begin; l < cell.end; ++l) {
                    const double* before = sums_.data() + links_[l].cell * limit;
                    const std::size_t upto = std::min(limit - 1, cells_[links_[l].cell].length);
                    for (std::size_t n = 0; n < upto; ++n) mine[n + 1] += powers_[links_[l].gaps] * before[n];
                }
                for (std::size_t n = 0; n < limit; ++n) {
                    mine[n] *= value;
                    total += mine[n];
                }
            }
            out[k] = total;
        }
    }

    // For very wide nodes: the recursion over prefixes with one row of memory per length.
    //     P(i, j) = T(i, j) + lambda P(i-1, j) + lambda P(i, j-1) - lambda^2 P(i-1, j-1)
    // is kept free of subtraction by carrying R(j) = sum over rows i' < i of lambda^(i - i' - 1) T(i', j).
    template <class Columns>
    double wide(const Columns& columns, const typename Columns::Shape& shape, std::size_t subtree) {
        const std::size_t n = row_.size(), m = shape.arity;
        const auto their_labels = columns.child_labels(shape);
        const bool limited = options_.max_subsequence != 0 && options_.max_subsequence < std::min(n, m);
        const std::size_t lengths = limited ? options_.max_subsequence : 1;
        // With no limit one layer holds sequences of every length.
        above_.assign(lengths * m, 0.0);
        double total = 0.0;
        std::vector<double> left(lengths), value(lengths);
        for (std::size_t i = 0; i < n; ++i) {
            control_.check();
            std::fill(left.begin(), left.end(), 0.0);
            for (std::size_t j = 0; j < m; ++j) {
                std::fill(value.begin(), value.end(), 0.0);
                if (labels_[i] == their_labels[j]) {
                    const double d = row_[i].at(columns.child_places(shape, j)[subtree]);
                    if (limited) {
                        value[0] = d;
                        for (std::size_t l = 1; l < lengths; ++l) value[l] = d * left[l - 1];
                    } else {
                        value[0] = d * (1.0 + left[0]);
                    }
                    for (const double v : value) total += v;
                }
                for (std::size_t l = 0; l < lengths; ++l) {
                    double& above = above_[l * m + j];
                    left[l] = options_.decay * left[l] + above;
                    above = options_.decay * above + value[l];
                }
            }
        }
        return total;
    }

    PartialOptions options_;
    const Control& control_;
    std::vector<Symbol> labels_;
    std::span<const Child> row_;
    std::vector<std::uint32_t> where_;  // per label: 1 + the first row child with it, 0 for none
    std::vector<std::uint32_t> next_;   // per row child: 1 + the next one with the same label
    bool wide_ = false;
    std::vector<Cell> cells_;
    std::vector<Link> links_;
    std::vector<double> powers_, sums_, above_;
    std::size_t longest_ = 0;
};

}  // namespace sapwood
