// Tree edit distance: the least cost of deleting, inserting and renaming nodes that turns one ordered tree into
// another.
//
// After Zhang and Shasha (1989), in terms of what is saved: deleting all of one tree and inserting all of the other
// costs what it costs, and every node that is kept or renamed saves the price of its deletion and insertion less that
// of renaming. The largest saving of two forests (prefixes of post-orders) is
//     S(i, j) = max(S(i-1, j), S(i, j-1), S(first(i)-1, first(j)-1) + saving of the subtrees i and j),
// zero where a forest is empty, and never smaller for more nodes. Beyond that algorithm: each pair of trees is read
// from the side that takes fewer steps, leaves need no table of forests, and subtrees that repeat are computed once.
// Where all costs are whole numbers, so is everything else, in as few bits as hold it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "search/edit_trees.hpp"

namespace sapwood {

// Prices by key. With a table, renaming key a to b costs table[rows[a] * width + columns[b]].
struct EditCosts {
    std::vector<double> removal, insertion;
    double rename = 1;  // of different keys, where there is no table; equal ones are free
    std::vector<double> table;
    std::vector<std::uint32_t> rows, columns;
    std::size_t width = 0;
    bool whole = false;       // whether all prices are whole numbers
    bool keeps_free = false;  // whether renaming a label to itself is free

    double renaming(std::uint32_t a, std::uint32_t b) const {
        if (!table.empty()) return table[static_cast<std::size_t>(rows[a]) * width + columns[b]];
        return a == b ? 0.0 : rename;
    }
};

// Distances of pairs of trees, one after the other; Number holds sums of prices.
template <class Number>
class EditComparer {
  public:
    EditComparer(const EditForest& forest, const EditCosts& costs, Control& control)
        : forest_(forest), costs_(costs), control_(control) {}

    // Infinite if it is above the limit; without a limit that is infinite.
    double distance(std::size_t one, std::size_t other, double limit) {
        const EditTree &a = forest_[one], &b = forest_[other];
        if (a.root == b.root && costs_.keeps_free) return 0 <= limit ? 0.0 : kFar;
        prepare(a, b);
        if (limit < kFar) {
            if (all_ - most_saved(a, b) > limit * (1 + 1e-12)) return kFar;
            const double cheapest = std::min(cheapest_removal_, cheapest_insertion_);
            const double band = cheapest > 0 ? std::floor(limit / cheapest + 1e-9) : kFar;
            if (band < 0.25 * static_cast<double>(std::min(a.size(), b.size()))) {
                const double found = within(static_cast<std::ptrdiff_t>(band));
                return found <= limit * (1 + 1e-12) ? found : kFar;
            }
        }
        fill();
        const double found = cost_of(saved_[saved_.size() - 1]);
        return found <= limit * (1 + 1e-12) ? found : kFar;
    }

    // The places of a node in pre-order in both trees, kNone where it is not, and what that costs.
    struct Edit {
        std::uint32_t from, to;
        double cost;
        bool operator<(const Edit& other) const { return std::pair(from, to) < std::pair(other.from, other.to); }
    };

    // The cheapest edits.
    std::vector<Edit> script(std::size_t one, std::size_t other) {
        prepare(forest_[one], forest_[other]);
        fill();
        std::vector<Edit> edits;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{rows_ - 1, columns_ - 1}};
        while (!stack.empty()) {
            const auto [top, other_top] = stack.back();
            stack.pop_back();
            const std::uint32_t begin = a_->first[top], other_begin = b_->first[other_top];
            // What renaming saves was overwritten by what whole subtrees save.
            forests<true>(top, other_top);
            std::size_t row = top - begin + 1, column = other_top - other_begin + 1;
            const std::size_t stride = column + 1;
            while (row > 0 || column > 0) {
                const Number here = forest(row, column, stride);
                const std::uint32_t i = begin + static_cast<std::uint32_t>(row) - 1;
                const std::uint32_t j = other_begin + static_cast<std::uint32_t>(column) - 1;
                if (row > 0 && (column == 0 || here == forest(row - 1, column, stride))) {
                    edits.push_back({a_->place[i], kNone, costs_.removal[a_->keys[i]]});
                    --row;
                } else if (column > 0 && (row == 0 || here == forest(row, column - 1, stride))) {
                    edits.push_back({kNone, b_->place[j], costs_.insertion[b_->keys[j]]});
                    --column;
                } else if (a_->first[i] == begin && b_->first[j] == other_begin) {
                    edits.push_back({a_->place[i], b_->place[j], costs_.renaming(a_->keys[i], b_->keys[j])});
                    --row, --column;
                } else {
                    stack.emplace_back(i, j);
                    row = a_->first[i] - begin;
                    column = b_->first[j] - other_begin;
                }
            }
        }
        std::sort(edits.begin(), edits.end());
        return edits;
    }

  private:
    static constexpr double kFar = std::numeric_limits<double>::infinity();

    Number& forest(std::size_t row, std::size_t column, std::size_t stride) { return forests_[row * stride + column]; }
    double cost_of(Number saving) const { return std::max(0.0, all_ - static_cast<double>(saving)); }

    void prepare(const EditTree& a, const EditTree& b) {
        const bool mirrored = a.orders[1].steps * b.orders[1].steps < a.orders[0].steps * b.orders[0].steps;
        a_ = &a.orders[mirrored];
        b_ = &b.orders[mirrored];
        rows_ = static_cast<std::uint32_t>(a_->size());
        columns_ = static_cast<std::uint32_t>(b_->size());
        removal_.resize(rows_);
        insertion_.resize(columns_);
        all_ = 0;
        cheapest_removal_ = cheapest_insertion_ = kFar;
        for (std::uint32_t i = 0; i < rows_; ++i) {
            const double price = costs_.removal[a_->keys[i]];
            removal_[i] = static_cast<Number>(price);
            cheapest_removal_ = std::min(cheapest_removal_, price);
            all_ += price;
        }
        for (std::uint32_t j = 0; j < columns_; ++j) {
            const double price = costs_.insertion[b_->keys[j]];
            insertion_[j] = static_cast<Number>(price);
            cheapest_insertion_ = std::min(cheapest_insertion_, price);
            all_ += price;
        }
        forests_.resize((std::size_t{rows_} + 1) * (std::size_t{columns_} + 1));
    }

    Number renaming_saves(std::uint32_t i, std::uint32_t j) const {
        return std::max(Number{0}, static_cast<Number>(removal_[i] + insertion_[j] -
                                                       static_cast<Number>(costs_.renaming(a_->keys[i], b_->keys[j]))));
    }

    // A bound on what can be saved, from sizes and labels alone; prices must not depend on labels for the latter.
    double most_saved(const EditTree& a, const EditTree& b) const {
        if (!costs_.table.empty()) {
            // At most all of the smaller tree is kept.
            const double fewer = static_cast<double>(std::min(a.size(), b.size()));
            const double removed = (static_cast<double>(a.size()) - fewer) * cheapest_removal_;
            return all_ - removed - (static_cast<double>(b.size()) - fewer) * cheapest_insertion_;
        }
        std::size_t kept = 0;
        for (auto one = a.sorted_keys.begin(), other = b.sorted_keys.begin();
             one != a.sorted_keys.end() && other != b.sorted_keys.end();) {
            kept += *one == *other;
            const bool less = *one<*other, more = *one> * other;
            one += !more;
            other += !less;
        }
        double dearest = 0;
        for (const Number price : removal_) dearest = std::max(dearest, static_cast<double>(price));
        double dearest_insertion = 0;
        for (const Number price : insertion_)
            dearest_insertion = std::max(dearest_insertion, static_cast<double>(price));
        dearest += dearest_insertion;
        const double renamed = static_cast<double>(std::min(a.size(), b.size()) - kept);
        return static_cast<double>(kept) * dearest + renamed * std::max(0.0, dearest - costs_.rename);
    }

    // What every pair of subtrees saves, into saved_.
    void fill() {
        const std::size_t width = columns_;
        saved_.resize(std::size_t{rows_} * width);
        for (std::uint32_t i = 0; i < rows_; ++i) {
            Number* row = saved_.data() + i * width;
            if (costs_.table.empty()) {
                const std::uint32_t key = a_->keys[i];
                const std::uint32_t* keys = b_->keys.data();
                const auto price = static_cast<Number>(costs_.rename);
                for (std::size_t j = 0; j < width; ++j) {
                    const auto both = static_cast<Number>(removal_[i] + insertion_[j]);
                    row[j] = keys[j] == key ? both : std::max(Number{0}, static_cast<Number>(both - price));
                }
            } else {
                for (std::uint32_t j = 0; j < width; ++j) row[j] = renaming_saves(i, j);
            }
            worked(width);
        }
        // A leaf is best kept as the one node of the other subtree that saves most.
        for (const std::uint32_t i : a_->leaves) {
            Number* row = saved_.data() + i * width;
            for (std::size_t j = 0; j + 1 < width; ++j) {
                Number& above = row[b_->parent[j]];
                above = std::max(above, row[j]);
            }
            worked(width);
        }
        for (std::uint32_t i = 0; i + 1 < rows_; ++i) {
            const Number* row = saved_.data() + i * width;
            Number* above = saved_.data() + a_->parent[i] * width;
            for (const std::uint32_t j : b_->leaves) above[j] = std::max(above[j], row[j]);
            worked(b_->leaves.size());
        }
        for (std::uint32_t p = 0; p < a_->paths.size(); ++p) {
            const auto [top, same] = a_->paths[p];
            const std::uint32_t begin = a_->first[top];
            if (same != p) {
                const std::uint32_t shift = top - a_->paths[same].top;
                for (std::uint32_t i = begin; i <= top; ++i)
                    if (a_->first[i] == begin)
                        std::copy_n(saved_.data() + (i - shift) * width, width, saved_.data() + i * width);
                worked(width * (top - begin + 1));
                continue;
            }
            for (std::uint32_t q = 0; q < b_->paths.size(); ++q) {
                const auto [other_top, other_same] = b_->paths[q];
                if (other_same == q) {
                    forests<false>(top, other_top);
                    continue;
                }
                const std::uint32_t other_begin = b_->first[other_top];
                const std::uint32_t shift = other_top - b_->paths[other_same].top;
                for (std::uint32_t i = begin; i <= top; ++i) {
                    if (a_->first[i] != begin) continue;
                    Number* row = saved_.data() + i * width;
                    for (std::uint32_t j = other_begin; j <= other_top; ++j)
                        if (b_->first[j] == other_begin) row[j] = row[j - shift];
                }
            }
        }
    }

    // The forests of two subtrees. What their paths of first children save with each other is put into saved_, where
    // what renaming them saves stands before; with `again` it is computed instead.
    template <bool again>
    void forests(std::uint32_t top, std::uint32_t other_top) {
        const std::uint32_t begin = a_->first[top], other_begin = b_->first[other_top];
        const std::size_t width = other_top - other_begin + 1, stride = width + 1;
        const std::uint32_t* first = b_->first.data() + other_begin;
        std::fill_n(forests_.data(), stride, Number{0});
        for (std::uint32_t i = begin; i <= top; ++i) {
            const Number* __restrict up = forests_.data() + std::size_t{i - begin} * stride;
            Number* __restrict row = forests_.data() + (std::size_t{i - begin} + 1) * stride;
            Number* __restrict saved = saved_.data() + std::size_t{i} * columns_ + other_begin;
            Number best = 0;
            row[0] = 0;
            if (a_->first[i] == begin) {
                for (std::size_t j = 0; j < width; ++j) {
                    const bool on_path = first[j] == other_begin;
                    Number own = saved[j];
                    if constexpr (again)
                        if (on_path) own = renaming_saves(i, other_begin + static_cast<std::uint32_t>(j));
                    const auto kept = static_cast<Number>(own + (on_path ? up[j] : Number{0}));
                    best = std::max(best, std::max(kept, up[j + 1]));
                    row[j + 1] = best;
                    if constexpr (!again) saved[j] = on_path ? best : saved[j];
                }
            } else {
                const Number* __restrict before = forests_.data() + std::size_t{a_->first[i] - begin} * stride;
                for (std::size_t j = 0; j < width; ++j) {
                    const auto kept = static_cast<Number>(before[first[j] - other_begin] + saved[j]);
                    best = std::max(best, std::max(kept, up[j + 1]));
                    row[j + 1] = best;
                }
            }
            worked(width);
        }
    }

    // The distance if at most `band` nodes are deleted or inserted, else anything larger: whatever would need more to
    // make its two sides equally long, and what comes before them, is left out.
    double within(std::ptrdiff_t band) {
        const auto rows = static_cast<std::ptrdiff_t>(rows_), columns = static_cast<std::ptrdiff_t>(columns_);
        if (std::abs(rows - columns) > band) return kFar;
        // Far below zero, and two of them can be added.
        const Number never = std::numeric_limits<Number>::lowest() / 4;
        saved_.assign(std::size_t{rows_} * columns_, never);
        const auto tops_of = [](const EditOrder& order) {
            std::vector<std::uint32_t> tops;
            for (std::uint32_t i = 0; i < order.size(); ++i)
                if (order.parent[i] == kNone || order.first[order.parent[i]] != order.first[i]) tops.push_back(i);
            return tops;
        };
        const std::vector<std::uint32_t> other_tops = tops_of(*b_);
        for (const std::uint32_t top : tops_of(*a_))
            for (const std::uint32_t other_top : other_tops) near(top, other_top, band, never);
        const Number saved = saved_[saved_.size() - 1];
        return saved < 0 ? kFar : cost_of(saved);
    }

    void near(std::uint32_t top, std::uint32_t other_top, std::ptrdiff_t band, Number never) {
        const std::uint32_t begin = a_->first[top], other_begin = b_->first[other_top];
        band -= std::abs(static_cast<std::ptrdiff_t>(begin) - static_cast<std::ptrdiff_t>(other_begin));
        if (band < 0) return;
        const auto height = static_cast<std::ptrdiff_t>(top - begin + 1);
        const auto width = static_cast<std::ptrdiff_t>(other_top - other_begin + 1);
        const std::size_t stride = static_cast<std::size_t>(width) + 1;
        const auto at = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
            return std::abs(row - column) <= band
                       ? forest(static_cast<std::size_t>(row), static_cast<std::size_t>(column), stride)
                       : never;
        };
        for (std::ptrdiff_t column = 0; column <= std::min(width, band); ++column)
            forest(0, static_cast<std::size_t>(column), stride) = 0;
        for (std::ptrdiff_t row = 1; row <= std::min(height, width + band); ++row) {
            const std::uint32_t i = begin + static_cast<std::uint32_t>(row) - 1;
            if (row <= band) forest(static_cast<std::size_t>(row), 0, stride) = 0;
            for (std::ptrdiff_t column = std::max<std::ptrdiff_t>(1, row - band); column <= std::min(width, row + band);
                 ++column) {
                const std::uint32_t j = other_begin + static_cast<std::uint32_t>(column) - 1;
                Number& saved = saved_[std::size_t{i} * columns_ + j];
                Number best = std::max(at(row - 1, column), at(row, column - 1));
                if (a_->first[i] == begin && b_->first[j] == other_begin) {
                    best = std::max(best, static_cast<Number>(at(row - 1, column - 1) + renaming_saves(i, j)));
                    saved = best;
                } else {
                    const Number before = at(static_cast<std::ptrdiff_t>(a_->first[i] - begin),
                                             static_cast<std::ptrdiff_t>(b_->first[j] - other_begin));
                    best = std::max(best, static_cast<Number>(before + saved));
                }
                forest(static_cast<std::size_t>(row), static_cast<std::size_t>(column), stride) = std::max(best, never);
            }
            worked(static_cast<std::size_t>(2 * band + 1));
        }
    }

    // Looks now and then whether somebody wants this to stop.
    void worked(std::size_t steps) {
        steps_ += steps;
        if (steps_ < 500000) return;
        steps_ = 0;
        control_.check();
    }

    const EditForest& forest_;
    const EditCosts& costs_;
    Control& control_;
    const EditOrder *a_ = nullptr, *b_ = nullptr;
    std::uint32_t rows_ = 0, columns_ = 0;
    std::vector<Number> removal_, insertion_;
    double all_ = 0;  // deleting and inserting everything
    double cheapest_removal_ = 0, cheapest_insertion_ = 0;
    std::vector<Number> saved_, forests_;
    std::size_t steps_ = 0;
};

// Calls work with the smallest number that holds the sums of prices of any pair: a value of that type.
template <class Work>
void with_edit_numbers(const EditForest& forest, const EditCosts& costs, Work work) {
    double largest = 0, removal = 0, insertion = 0, rename = costs.rename;
    for (std::size_t k = 0; k < forest.size(); ++k) largest = std::max(largest, static_cast<double>(forest[k].size()));
    for (const double price : costs.removal) removal = std::max(removal, price);
    for (const double price : costs.insertion) insertion = std::max(insertion, price);
    for (const double price : costs.table) rename = std::max(rename, price);
    const double most = largest * (removal + insertion) + rename;
    if (costs.whole && most < 8000)
        work(std::int16_t{});
    else if (costs.whole && most < 5e8)
        work(std::int32_t{});
    else
        work(double{});
}

// All trees of two ranges with each other, into out, row by row. Symmetric: the ranges are the same, and so is the
// distance in both directions.
inline void edit_distances(const EditForest& forest, const EditCosts& costs, std::size_t rows, std::size_t first_column,
                           bool symmetric, double limit, double* out, std::size_t threads, Control& control) {
    const std::size_t columns = symmetric ? rows : forest.size() - first_column;
    with_edit_numbers(forest, costs, [&](auto number) {
        parallel_blocks(rows, 1, threads, control, [&] {
            return [&, comparer = EditComparer<decltype(number)>(forest, costs, control)](std::size_t row,
                                                                                          std::size_t) mutable {
                for (std::size_t column = symmetric ? row : 0; column < columns; ++column) {
                    control.check();
                    const double found = comparer.distance(row, symmetric ? column : first_column + column, limit);
                    out[row * columns + column] = found;
                    if (symmetric) out[column * columns + row] = found;
                }
            };
        });
    });
}

// The first half of the trees with the second, one by one.
inline void edit_pairs(const EditForest& forest, const EditCosts& costs, double limit, double* out, std::size_t threads,
                       Control& control) {
    const std::size_t half = forest.size() / 2;
    with_edit_numbers(forest, costs, [&](auto number) {
        parallel_blocks(half, 8, threads, control, [&] {
            return [&, comparer = EditComparer<decltype(number)>(forest, costs, control)](std::size_t begin,
                                                                                          std::size_t end) mutable {
                for (std::size_t k = begin; k < end; ++k) {
                    control.check();
                    out[k] = comparer.distance(k, half + k, limit);
                }
            };
        });
    });
}

// Levenshtein distances of all sequences of one list with all of another; sequences lie end to end.
inline void sequence_distances(std::span<const std::uint32_t> rows, std::span<const std::uint64_t> row_ends,
                               std::span<const std::uint32_t> columns, std::span<const std::uint64_t> column_ends,
                               double* out, Control& control) {
    std::vector<std::uint32_t> line;
    for (std::size_t r = 0; r < row_ends.size(); ++r) {
        const std::size_t begin = r ? row_ends[r - 1] : 0;
        for (std::size_t c = 0; c < column_ends.size(); ++c) {
            const std::size_t other_begin = c ? column_ends[c - 1] : 0, width = column_ends[c] - other_begin;
            const std::uint32_t* other = columns.data() + other_begin;
            line.resize(width + 1);
            for (std::uint32_t j = 0; j <= width; ++j) line[j] = j;
            for (std::size_t i = begin; i < row_ends[r]; ++i) {
                control.check();
                std::uint32_t before = line[0]++;
                for (std::size_t j = 0; j < width; ++j) {
                    const std::uint32_t renamed = before + (rows[i] != other[j]);
                    before = line[j + 1];
                    line[j + 1] = std::min(renamed, std::min(before, line[j]) + 1);
                }
            }
            out[r * column_ends.size() + c] = line[width];
        }
    }
}

}  // namespace sapwood
