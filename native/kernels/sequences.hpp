// Sums over sequences of children, the inner part of the partial-tree kernels: what two nodes have in common below,
// given what their children have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "trees/arena.hpp"

namespace sapwood {

struct PartialOptions {
    double decay;                 // lambda
    double depth_decay;           // mu
    std::size_t max_subsequence;  // longest child sequence; 0: no limit
    bool leaves;                  // false: a pair with a leaf counts 0
    double terminal_factor;

    // D of two nodes that share nothing but their label.
    double bare() const { return depth_decay * decay * decay; }
};

// Sums over child sequences for one row node against all column subtrees of one shape. Columns is PartialColumns, or
// what has shapes, child labels and child places as it has.
class SequenceSums {
  public:
    SequenceSums(const PartialOptions& options, const Control& control) : options_(options), control_(control) {}

    // D of one row child against column children by their place: from a table, or one of two values but for a few
    // places.
    struct Child {
        const double* table;     // by place; null: see below
        double leaf, internal;   // at place 0, and elsewhere
        std::size_t listed = 0;  // so many places have a value of their own
        const std::uint32_t* places = nullptr;
        const double* values = nullptr;

        // Bare but for the places that are listed; a leaf that counts the same everywhere is, too.
        bool is_listed() const { return !table && leaf == internal; }
        double at(std::uint32_t place) const {
            if (table) return table[place];
            for (std::size_t l = 0; l < listed; ++l)
                if (places[l] == place) return values[l];
            return place == 0 ? leaf : internal;
        }
        // The same for many places.
        void at(const std::uint32_t* column, std::size_t count, double* out) const {
            if (table) {
                for (std::size_t k = 0; k < count; ++k) out[k] = table[column[k]];
                return;
            }
            for (std::size_t k = 0; k < count; ++k) out[k] = column[k] == 0 ? leaf : internal;
            for (std::size_t l = 0; l < listed; ++l) {
                const std::uint32_t place = places[l];
                const double value = values[l];
                for (std::size_t k = 0; k < count; ++k) out[k] = column[k] == place ? value : out[k];
            }
        }
    };

    // Subtrees of one shape: count of them from one on, or a list of their numbers.
    struct Chosen {
        std::size_t from, count;
        const std::uint32_t* list = nullptr;
        std::size_t operator[](std::size_t k) const { return list ? list[k] : from + k; }
    };

    // A pair of children with the same label, of the row node and of a shape.
    struct Cell {
        std::uint16_t i, j;
        std::uint16_t length;      // of the longest sequence that ends here
        std::uint32_t begin, end;  // the links to those that may come before it
    };
    struct Link {
        std::uint16_t cell, gaps;
    };
    // All pairs of a row node and a shape, which depend on labels alone.
    struct Cells {
        std::span<const Cell> cells;
        std::span<const Link> links;
        std::size_t longest() const {
            std::uint16_t most = 0;
            for (const Cell& cell : cells) most = std::max(most, cell.length);
            return most;
        }
    };

    // Takes the labels of the children of a row node; kNone matches nothing.
    void enter_labels(std::span<const Symbol> labels) {
        for (const Symbol label : labels_)
            if (label != kNone) where_[label] = 0;
        labels_.assign(labels.begin(), labels.end());
        next_.assign(labels.size(), 0);
        for (std::size_t i = labels.size(); i-- > 0;) {
            if (labels[i] == kNone) continue;
            if (where_.size() <= labels[i]) where_.resize(std::size_t{labels[i]} + 1, 0);
            next_[i] = where_[labels[i]];
            where_[labels[i]] = static_cast<std::uint32_t>(i + 1);
        }
    }
    bool is_wide(std::size_t theirs) const { return labels_.size() * theirs > kWide; }
    // The first row child with a label, and the next one with the same label as the k-th, each counted from 1; 0 if
    // there is none.
    std::uint32_t first_with(Symbol label) const { return label < where_.size() ? where_[label] : 0; }
    std::uint32_t next_like(std::size_t k) const { return next_[k]; }
    // Takes their values, which must stay as they are while shapes are asked about.
    void enter_values(std::span<const Child> children) { row_ = children; }

    // Finds the pairs of children with equal labels; false if there are none, so that all sums are 0.
    template <class Columns>
    bool meet(const Columns& columns, const typename Columns::Shape& shape) {
        cells_.clear();
        links_.clear();
        wide_ = !find(columns.child_labels(shape), cells_, links_);
        return wide_ || !cells_.empty();
    }

    // The same into lists of the caller's, to whose ends it adds: links are counted from where they begin. False, with
    // nothing to be relied on, if there are too many to be worth it.
    bool find(std::span<const Symbol> theirs, std::vector<Cell>& cells, std::vector<Link>& links) {
        // Many equal labels make so many pairs of cells that the plain recursion over prefixes is faster.
        if (is_wide(theirs.size())) return false;
        const std::size_t first = cells.size(), base = links.size();
        expect(labels_.size() + theirs.size());
        std::size_t steps = 0;
        for (std::uint32_t j = 0; j < theirs.size(); ++j) {
            if (theirs[j] >= where_.size()) continue;
            const std::size_t before = cells.size();  // those of earlier children
            for (std::uint32_t at = where_[theirs[j]]; at != 0; at = next_[at - 1]) {
                const std::uint32_t i = at - 1;
                Cell cell{static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j), 1,
                          static_cast<std::uint32_t>(links.size() - base), 0};
                if ((steps += before - first) > 1000000) {
                    control_.check();
                    steps = 0;
                }
                for (std::size_t c = first; c < before; ++c) {
                    if (cells[c].i >= i) continue;
                    const std::uint32_t gaps = (i - cells[c].i - 1) + (j - cells[c].j - 1);
                    links.push_back({static_cast<std::uint16_t>(c - first), static_cast<std::uint16_t>(gaps)});
                    if (cell.length <= cells[c].length) cell.length = static_cast<std::uint16_t>(cells[c].length + 1);
                }
                cell.end = static_cast<std::uint32_t>(links.size() - base);
                if (cell.end > kLinks * labels_.size() * theirs.size()) return false;
                cells.push_back(cell);
            }
        }
        return true;
    }

    // Whether the sum is the same for all subtrees of the shape that was met: what matches are children without tables.
    bool uniform() const { return !wide_ && uniform({cells_, links_}); }
    bool uniform(const Cells& found) const {
        return std::all_of(found.cells.begin(), found.cells.end(), [&](const Cell& cell) {
            const Child& child = row_[cell.i];
            return !child.table && child.listed == 0 && child.leaf == child.internal;
        });
    }

    // out[k] = the sum for the k-th of the chosen subtrees of the shape that was met.
    template <class Columns>
    void evaluate(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, double* out) {
        if (wide_)
            for (std::size_t k = 0; k < chosen.count; ++k) out[k] = wide(columns, shape, chosen[k]);
        else
            evaluate(columns, shape, chosen, {cells_, links_}, out);
    }

    // The same with pairs that were found before; there must be some. Most callers know how many subtrees they choose,
    // of which the compiler only makes use where this is inlined.
    template <class Columns>
    [[gnu::always_inline]] void evaluate(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen,
                                         const Cells& found, double* out) {
        if (found.cells.size() == 1) {
            const Cell& cell = found.cells[0];
            gather(row_[cell.i], columns.child_places(shape, cell.j), chosen, 0, chosen.count, out);
        } else if (options_.max_subsequence != 0 && options_.max_subsequence < found.longest()) {
            bounded(columns, shape, chosen, found, out);
        } else if (chosen.count < kFew) {
            for (std::size_t k = 0; k < chosen.count; ++k) out[k] = one(columns, shape, chosen[k], found);
        } else {
            for (std::size_t begin = 0; begin < chosen.count; begin += kLane) {
                if (found.cells.size() > kMany) control_.check();
                block(columns, shape, chosen, begin, std::min(kLane, chosen.count - begin), found, out + begin);
            }
        }
    }

    // Depth decay times the sum for many subtrees that have one or two pairs of children with the row node, by the
    // places of these. Pairs has mine, link and has_two as PartialPlan::Entry has them. At most kBlock at a time.
    template <class Pairs>
    void sums(const Pairs& pairs, const std::uint32_t* first, const std::uint32_t* second, std::size_t count,
              double* result) const {
        const double factor = options_.depth_decay, link = pairs.link;
        if (!pairs.has_two()) {
            row_[pairs.mine[0]].at(first, count, result);
            for (std::size_t k = 0; k < count; ++k) result[k] *= factor;
            return;
        }
        const Child &one = row_[pairs.mine[0]], &two = row_[pairs.mine[1]];
        if (one.is_listed() && two.table) return sums(one, first, two.table, second, link, count, result);
        if (two.is_listed() && one.table) return sums(two, second, one.table, first, link, count, result);
        one.at(first, count, result);
        double other[kBlock];
        two.at(second, count, other);
        for (std::size_t k = 0; k < count; ++k)
            result[k] = factor * (result[k] + other[k] + link * (result[k] * other[k]));
    }
    static constexpr std::size_t kBlock = 256;

    // Call this before using pairs that another object found: what the two nodes have in children together, at most.
    void expect(std::size_t children) {
        while (powers_.size() < std::min(children, kWide + 1))
            powers_.push_back(powers_.empty() ? 1.0 : powers_.back() * options_.decay);
    }
    // Decay for every gap.
    double weight(std::size_t gaps) const { return powers_[gaps]; }
    double weight(const Link& link) const { return weight(link.gaps); }

    // T(cell) = D(cell) * (1 + sum over predecessors of weight * T); the result is the sum of all T. value(cell) is D.
    template <class Value>
    double sum(const Cells& found, Value value) {
        if (sums_.size() < found.cells.size()) sums_.resize(found.cells.size());
        double total = 0.0;
        for (std::size_t c = 0; c < found.cells.size(); ++c) {
            const Cell& cell = found.cells[c];
            double before = 1.0;
            for (std::uint32_t l = cell.begin; l < cell.end; ++l)
                before += weight(found.links[l]) * sums_[found.links[l].cell];
            total += sums_[c] = before * value(cell);
        }
        return total;
    }

  private:
    // The same where one child is bare but for a few places, and has only those to be looked for.
    void sums(const Child& listed, const std::uint32_t* listed_at, const double* table, const std::uint32_t* table_at,
              double link, std::size_t count, double* result) const {
        const double factor = options_.depth_decay, base = factor * listed.internal,
                     slope = factor * (1.0 + link * listed.internal);
        for (std::size_t k = 0; k < count; ++k) result[k] = base + slope * table[table_at[k]];
        for (std::size_t l = 0; l < listed.listed; ++l) {
            const double value = listed.values[l];
            for (std::size_t k = 0; k < count; ++k) {
                if (listed_at[k] != listed.places[l]) continue;
                const double other = table[table_at[k]];
                result[k] = factor * (value + other + link * (value * other));
            }
        }
    }

    static constexpr std::size_t kLane = 32;    // subtrees worked on together
    static constexpr std::size_t kFew = 3;      // subtrees that are worked on one by one
    static constexpr std::size_t kWide = 4096;  // slot pairs beyond which no list of cells is kept
    static constexpr std::size_t kMany = 64;    // cells beyond which cancellation is checked for each block
    static constexpr std::size_t kLinks = 24;   // links per pair of slots beyond which prefixes are faster

    // For one subtree of a shape.
    template <class Columns>
    double one(const Columns& columns, const typename Columns::Shape& shape, std::size_t subtree, const Cells& found) {
        return sum(found,
                   [&](const Cell& cell) { return row_[cell.i].at(columns.child_places(shape, cell.j)[subtree]); });
    }

    static void gather(const Child& child, const std::uint32_t* places, Chosen chosen, std::size_t begin,
                       std::size_t count, double* out) {
        if (chosen.list) {
            for (std::size_t k = 0; k < count; ++k) out[k] = child.at(places[chosen.list[begin + k]]);
            return;
        }
        child.at(places + chosen.from + begin, count, out);
    }

    // The same sum for many subtrees side by side.
    template <class Columns>
    void block(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, std::size_t begin,
               std::size_t count, const Cells& found, double* out) {
        if (sums_.size() < found.cells.size() * kLane) sums_.resize(found.cells.size() * kLane);
        std::fill(out, out + count, 0.0);
        double lane[kLane];
        for (std::size_t c = 0; c < found.cells.size(); ++c) {
            const Cell& cell = found.cells[c];
            double* sum = sums_.data() + c * kLane;
            gather(row_[cell.i], columns.child_places(shape, cell.j), chosen, begin, count, lane);
            for (std::size_t k = 0; k < count; ++k) sum[k] = 1.0;
            for (std::uint32_t l = cell.begin; l < cell.end; ++l) {
                const double* before = sums_.data() + found.links[l].cell * kLane;
                const double factor = weight(found.links[l]);
                for (std::size_t k = 0; k < count; ++k) sum[k] += factor * before[k];
            }
            for (std::size_t k = 0; k < count; ++k) {
                sum[k] *= lane[k];
                out[k] += sum[k];
            }
        }
    }

    // The same with sequences no longer than the limit: one T per length.
    template <class Columns>
    void bounded(const Columns& columns, const typename Columns::Shape& shape, Chosen chosen, const Cells& found,
                 double* out) {
        const std::size_t limit = options_.max_subsequence;
        if (sums_.size() < found.cells.size() * limit) sums_.resize(found.cells.size() * limit);
        for (std::size_t k = 0; k < chosen.count; ++k) {
            if (found.cells.size() > kMany) control_.check();
            double total = 0.0;
            for (std::size_t c = 0; c < found.cells.size(); ++c) {
                const Cell& cell = found.cells[c];
                const double value = row_[cell.i].at(columns.child_places(shape, cell.j)[chosen[k]]);
                double* mine = sums_.data() + c * limit;
                std::fill(mine, mine + limit, 0.0);
                mine[0] = 1.0;
                for (std::uint32_t l = cell.begin; l < cell.end; ++l) {
                    const Link& link = found.links[l];
                    const double* before = sums_.data() + link.cell * limit;
                    const std::size_t upto = std::min<std::size_t>(limit - 1, found.cells[link.cell].length);
                    for (std::size_t n = 0; n < upto; ++n) mine[n + 1] += weight(link) * before[n];
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
};

}  // namespace sapwood
