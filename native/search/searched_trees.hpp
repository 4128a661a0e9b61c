// Trees that are searched for those most similar to others, under a normalized kernel.
//
// There are two ways, and both are exact. `nearest` computes the value of every tree, a row of the Gram matrix, from
// columns that are prepared once; per tree that takes some nanoseconds. `within` reads the lists of the rarest groups
// (`group_vectors.hpp`), which for a high threshold is far less than a row, and leaves the values of the few trees that
// bounds do not discard to the caller. `pairs` does the same for all trees, and computes the values.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "kernels/gram.hpp"
#include "kernels/postings.hpp"
#include "search/group_vectors.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct Hit {
    std::uint32_t element;
    double value;
    // The most similar first, of equal ones the one that stands first.
    bool operator<(const Hit& other) const {
        return value != other.value ? value > other.value : element < other.element;
    }
};

// Keeps the best of many hits.
class BestHits {
  public:
    // The `count` best of those that are at least `least`; 0: all of them.
    BestHits(std::size_t count, double least) : count_(count), least_(least) {}

    double least() const { return least_; }
    void add(Hit hit) {
        if (count_ == 0) {
            hits_.push_back(hit);
            return;
        }
        if (hits_.size() == count_) {
            if (!(hit < hits_.front())) return;
            std::pop_heap(hits_.begin(), hits_.end());
            hits_.back() = hit;
        } else {
            hits_.push_back(hit);
        }
        std::push_heap(hits_.begin(), hits_.end());
        if (hits_.size() == count_) least_ = std::max(least_, hits_.front().value);
    }
    std::vector<Hit> sorted() {
        std::sort(hits_.begin(), hits_.end());
        return std::move(hits_);
    }

  private:
    std::size_t count_;
    double least_;
    std::vector<Hit> hits_;
};

// What is within rounding of 1 is 1, as in a normalized Gram matrix.
inline double bounded(double value) { return value > 1.0 - 1e-14 ? 1.0 : value; }

struct SimilarPair {
    std::uint32_t first, second;
    double value;
};

// The arena must outlive this; bags are looked at by those who are given them.
template <class Maker>
class SearchedTrees {
  public:
    using Columns = decltype(std::declval<Maker>()(std::declval<const Arena&>(), std::declval<const Bags&>()));
    using Clock = std::chrono::steady_clock;

    // The parts lie in memory of others, which must outlive this, and so does the arena.
    SearchedTrees(const Maker& make, const Arena& arena, Placing& placing)
        : make_(make), arena_(arena), columns_(make.empty()) {
        groups_.emplace();
        parts(placing);
        if (groups_->vectors().size() == 0) groups_.reset();
    }
    template <class Visit>
    void parts(Visit& visit) {
        columns_.parts(visit);
        postings_.parts(visit);
        occurrences_.parts(visit);
        visit(scale_);
        if (!groups_) return GroupIndex().parts(visit);
        groups_->parts(visit);
    }

    // `scale`: per element, what normalization multiplies by. With `grouped` there are bounds.
    SearchedTrees(const Maker& make, const Arena& arena, const Bags& bags, std::span<const double> scale, bool grouped,
                  std::size_t threads)
        : make_(make),
          arena_(arena),
          columns_(make(arena, bags, threads)),
          postings_(columns_.features(arena, bags), columns_.feature_count()),
          occurrences_(bags, columns_.positions_of_nodes(), columns_.positions()),
          scale_(scale.begin(), scale.end()) {
        if (!grouped) return;
        const ArenaMap map(arena, arena, bags);
        groups_.emplace(described(map, bags, scale), columns_.feature_count());
    }

    std::size_t size() const { return scale_.size(); }
    bool grouped() const { return groups_.has_value(); }
    std::size_t group_bytes() const { return groups_ ? groups_->bytes() : 0; }
    std::span<const std::uint32_t> undescribed() const { return groups_->vectors().undescribed; }

    // The hits of each row. Where the deadline passes within a row, the hits are those with the largest values so far,
    // which are at most their own, and open[row] is how much larger the value of any element can be than what it is so
    // far; infinite if that is not known. It is 0 for rows that are finished.
    std::vector<std::vector<Hit>> nearest(const Arena& row_arena, const Bags& rows, std::span<const double> row_scale,
                                          std::span<const bool> kept, std::size_t count, double least,
                                          Clock::time_point deadline, std::vector<double>& open, std::size_t threads,
                                          Control& control) const {
        const ArenaMap map(row_arena, arena_, rows);
        const auto prepared = columns_.prepare(map, rows);
        const bool timed = deadline != Clock::time_point::max();
        std::vector<std::vector<Hit>> result(rows.size());
        open.assign(rows.size(), 0.0);
        parallel_blocks(rows.size(), 1, threads, control, [&] {
            return [&, visit = columns_.visitor(map, rows, prepared, control),
                    part = TimedRow(*this, map, rows, control),
                    values = std::vector<double>(size())](std::size_t row, std::size_t) mutable {
                if (timed && Clock::now() >= deadline) {
                    open[row] = kUnknown;
                    return;
                }
                std::fill(values.begin(), values.end(), 0.0);
                if (timed)
                    open[row] = part.add(row, deadline, values.data()) * row_scale[row];
                else
                    visit(
                        row, 0,
                        [&](std::uint32_t feature, double weight) { postings_.add(feature, weight, 0, values.data()); },
                        [&](std::size_t position, double value) { occurrences_.add(position, value, values.data()); });
                BestHits best(count, least);
                for (std::size_t j = 0; j < values.size(); ++j) {
                    const double value = bounded(values[j] * row_scale[row] * scale_[j]);
                    // Also not what is no number.
                    if (value >= best.least() && kept[j]) best.add({static_cast<std::uint32_t>(j), value});
                }
                result[row] = best.sorted();
            };
        });
        return result;
    }

    // Per row the elements that may reach `least`, with their bounds in place of values. late[row] is set for rows that
    // lists of more than `most` entries would have to be read for, or that have no bounds.
    std::vector<std::vector<Hit>> within(const Arena& row_arena, const Bags& rows, std::span<const double> row_scale,
                                         std::span<const bool> kept, double least, std::size_t most,
                                         std::vector<std::uint8_t>& late, std::size_t threads, Control& control) const {
        const ArenaMap map(row_arena, arena_, rows);
        const GroupVectors vectors = described(map, rows, row_scale);
        std::vector<std::vector<Hit>> result(rows.size());
        late.assign(rows.size(), 0);
        for (const std::uint32_t row : vectors.undescribed) late[row] = 1;
        parallel_blocks(rows.size(), 1, threads, control, [&] {
            return [&, search = GroupSearch(*groups_)](std::size_t row, std::size_t) mutable {
                if (late[row]) return;
                late[row] = !search.find(vectors.groups_of(row), vectors.weights_of(row), least, size(), most,
                                         [&](std::uint32_t element, double bound) {
                                             if (kept[element]) result[row].push_back({element, bound});
                                         });
                for (const std::uint32_t element : undescribed())
                    if (kept[element]) result[row].push_back({element, 1.0});
            };
        });
        return result;
    }

    // The pairs of elements, both of them described, whose value is at least `least`; `evaluated` counts values, and
    // `left` holds pairs that are too large to be compared here.
    std::vector<SimilarPair> pairs(const Bags& bags, std::span<const bool> kept, double least, std::size_t& evaluated,
                                   std::vector<SimilarPair>& left, std::size_t threads, Control& control) const {
        struct Found {
            std::vector<SimilarPair> near, left;
            std::size_t evaluated = 0;
        };
        constexpr std::size_t kBlock = 256;
        const GroupVectors& vectors = groups_->vectors();
        std::vector<Found> found((size() + kBlock - 1) / kBlock);
        parallel_blocks(size(), kBlock, threads, control, [&] {
            return [&, search = GroupSearch(*groups_), compare = make_.pairs(arena_)](std::size_t begin,
                                                                                      std::size_t end) mutable {
                Found& here = found[begin / kBlock];
                for (std::size_t i = begin; i < end; ++i) {
                    if (!kept[i]) continue;
                    control.check();
                    search.find(vectors.groups_of(i), vectors.weights_of(i), least, i, static_cast<std::size_t>(-1),
                                [&](std::uint32_t j, double) {
                                    if (!kept[j]) return;
                                    SimilarPair pair{j, static_cast<std::uint32_t>(i), 0.0};
                                    ++here.evaluated;
                                    if (!compare(element_of(bags, j), element_of(bags, i), pair.value)) {
                                        here.left.push_back(pair);
                                        return;
                                    }
                                    pair.value = bounded(pair.value * scale_[i] * scale_[j]);
                                    if (pair.value >= least) here.near.push_back(pair);
                                });
                }
            };
        });
        std::vector<SimilarPair> result;
        for (Found& here : found) {
            result.insert(result.end(), here.near.begin(), here.near.end());
            left.insert(left.end(), here.left.begin(), here.left.end());
            evaluated += here.evaluated;
        }
        return result;
    }

  private:
    static constexpr double kUnknown = std::numeric_limits<double>::infinity();

    // Adds up a row node by node, until a deadline. What nodes that were not reached can still add to any element is by
    // Cauchy and Schwarz at most the norm of their own part of the row (times that of the element), whose square is at
    // most what they add to the value of the row with itself.
    class TimedRow {
      public:
        TimedRow(const SearchedTrees& trees, const ArenaMap& map, const Bags& rows, const Control& control)
            : trees_(trees),
              map_(map),
              rows_(rows),
              visit_(trees.columns_.node_visitor(map, rows, control)),
              pairs_(trees.make_.pairs(map.arena)) {}

        // Returns the norm of what is left out: 0 if all was added, infinite if nobody knows.
        double add(std::size_t row, Clock::time_point deadline, double* values) {
            const auto counts = rows_.counts_of(row);
            done_.assign(counts.size(), 0);
            std::size_t current = counts.size(), calls = 0;
            const auto reach = [&](std::size_t k) {
                if (k == current) return;
                // Most kernels take the nodes in order, so that those before are done even if they shared nothing.
                if (kInOrder)
                    std::fill_n(done_.begin(), k, std::uint8_t{1});
                else if (current < done_.size())
                    done_[current] = 1;
                current = k;
            };
            try {
                visit_(
                    row,
                    [&](std::size_t k, std::uint32_t feature, double weight) {
                        if (Clock::now() >= deadline) throw Late();
                        // Where there is more to come of a node, this is not all of it.
                        if (trees_.columns_.positions() == 0) reach(k);
                        trees_.postings_.add(feature, weight * counts[k], 0, values);
                    },
                    [&](std::size_t k, std::size_t position, double value) {
                        if (++calls % 256 == 0 && Clock::now() >= deadline) throw Late();
                        reach(k);
                        trees_.occurrences_.add(position, value * counts[k], values);
                    });
                return 0.0;
            } catch (const Late&) {
                return left(row);
            }
        }

      private:
        struct Late {};
        static constexpr bool kInOrder = !std::is_same_v<Columns, PartialColumns>;

        double left(std::size_t row) {
            if (!trees_.grouped()) return kUnknown;
            std::unordered_map<Node, double> amounts;
            const Element element = element_of(rows_, row);
            if (!pairs_.by_node(element, element, [&](Node node, double amount) { amounts[node] += amount; }))
                return kUnknown;
            double square = 0.0;
            const auto numbers = rows_.numbers_of(row);
            for (std::size_t k = 0; k < numbers.size(); ++k)
                if (const auto found = amounts.find(numbers[k]); !done_[k] && found != amounts.end())
                    square += found->second;
            return std::sqrt(std::max(square, 0.0)) * (1.0 + 1e-9);
        }

        using Visit = decltype(std::declval<const Columns&>().node_visitor(
            std::declval<const ArenaMap&>(), std::declval<const Bags&>(), std::declval<const Control&>()));
        const SearchedTrees& trees_;
        const ArenaMap& map_;
        const Bags& rows_;
        Visit visit_;
        decltype(std::declval<const Maker&>().pairs(std::declval<const Arena&>())) pairs_;
        std::vector<std::uint8_t> done_;  // per distinct subtree of the row
    };

    GroupVectors described(const ArenaMap& map, const Bags& bags, std::span<const double> scale) const {
        GroupVectors vectors;
        GroupDescriber describe(columns_, map, make_.pairs(map.arena));
        for (std::size_t i = 0; i < bags.size(); ++i) describe.add(element_of(bags, i), scale[i], vectors);
        return vectors;
    }

    Maker make_;
    const Arena& arena_;
    Columns columns_;
    Postings postings_;
    Occurrences occurrences_;
    Array<double> scale_;
    std::optional<GroupIndex> groups_;
};

}  // namespace sapwood
