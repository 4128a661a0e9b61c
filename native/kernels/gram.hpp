// Gram matrices and models: what a kernel finds in a row, added up per column element or per model output.
//
// A kernel comes in two parts. Its *columns* are prepared once from an arena and bags, and describe themselves by
// features and active subtrees. A *visitor* walks one row element and reports to two callables
//
//     bulk(feature, weight)    to be multiplied with the feature's count in each column element
//     active(position, value)  to be multiplied with the active subtree's count in each column element
//
// so that the same walk fills a row of a Gram matrix or evaluates a sum over thousands of weighted trees.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "kernels/postings.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Where the active subtrees of columns occur. Active subtrees are numbered by position; `position[node]` is kNone for
// others.
class Occurrences {
  public:
    // For parts that lie in memory of others.
    Occurrences() = default;
    template <class Visit>
    void parts(Visit& visit) {
        visit(place_);
        visit(begin_);
        visit(element_);
        visit(count_);
    }

    Occurrences(const Bags& bags, std::span<const std::uint32_t> position, std::size_t positions)
        : place_(positions, Place{kNone, 0.0f}) {
        if (positions == 0) return;
        // Nearly all active subtrees occur in one element only. Those are noted in place; the others get a list.
        std::vector<std::size_t> lists;  // per list its length, then where its next entry goes
        for (std::size_t i = 0; i < bags.size(); ++i) {
            const auto numbers = bags.numbers_of(i);
            const auto counts = bags.counts_of(i);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                if (position[numbers[k]] == kNone) continue;
                Place& place = place_[position[numbers[k]]];
                if (place.element == kNone && counts[k] < 16777216.0) {  // such counts are exact in single precision
                    place = {static_cast<std::uint32_t>(i), static_cast<float>(counts[k])};
                    continue;
                }
                if (place.count >= 0.0f) {
                    const std::size_t before = place.element == kNone ? 0 : 1;
                    place = {static_cast<std::uint32_t>(lists.size()), -1.0f};
                    lists.push_back(before);
                }
                ++lists[place.element];
            }
        }
        for (Place& place : place_)
            if (place.element == kNone) place = {0, 0.0f};
        begin_.assign(lists.size() + 1, 0);
        for (std::size_t list = 0; list < lists.size(); ++list) begin_[list + 1] = begin_[list] + lists[list];
        if (lists.empty()) return;
        element_.resize(begin_.back());
        count_.resize(begin_.back());
        std::copy(begin_.begin(), begin_.end() - 1, lists.begin());
        for (std::size_t i = 0; i < bags.size(); ++i) {
            const auto numbers = bags.numbers_of(i);
            const auto counts = bags.counts_of(i);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                if (position[numbers[k]] == kNone) continue;
                const Place& place = place_[position[numbers[k]]];
                if (place.count >= 0.0f) continue;
                const std::size_t at = lists[place.element]++;
                element_[at] = static_cast<std::uint32_t>(i);
                count_[at] = counts[k];
            }
        }
    }

    // out[element] += value * count for every element from `first` on that holds the active subtree; one before may be
    // written to as well. Always inlined: it is all that the innermost loops do.
    SAPWOOD_INLINE void add(std::size_t position, double value, double* out, std::size_t first = 0) const {
        const Place place = place_[position];
        if (place.count >= 0.0f) {
            out[place.element] += value * static_cast<double>(place.count);
            return;
        }
        // Elements ascend, so that those before `first` are the last ones met from behind.
        for (std::size_t k = begin_[place.element + 1]; k-- > begin_[place.element] && element_[k] >= first;)
            out[element_[k]] += value * count_[k];
    }

  private:
    struct Place {
        std::uint32_t element;  // the only one that holds it; with count < 0 the number of its list
        float count;
    };
    Array<Place> place_;
    Array<std::size_t> begin_;  // per list, in the two below
    Array<std::uint32_t> element_;
    Array<double> count_;
};

// Returns what the preparations needed only for a while to the system, before the result takes its place.
inline void give_back_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// Writes to every page of fresh memory, until nothing is left to wait for or all are done.
inline void touch_pages(double* out, std::size_t size, const std::atomic<int>& left) {
    constexpr std::size_t kPage = 4096 / sizeof(double);
    for (std::size_t k = 0; k < size && left.load(std::memory_order_relaxed) > 0; k += kPage) out[k] = 0.0;
}

// Counts down when it goes, whichever way.
struct CountDownOnExit {
    explicit CountDownOnExit(std::atomic<int>& left) : left(left) {}
    CountDownOnExit(const CountDownOnExit&) = delete;
    CountDownOnExit& operator=(const CountDownOnExit&) = delete;
    ~CountDownOnExit() { left.fetch_sub(1); }
    std::atomic<int>& left;
};

// Rows of numbers, each at the start of a cache line, with room behind the last number of a row.
class RowBuffer {
  public:
    RowBuffer(std::size_t rows, std::size_t width) : lines_(width / 8 + 1), memory_(rows * lines_) {}

    std::size_t stride() const { return 8 * lines_; }
    double* row(std::size_t i) { return memory_[i * lines_].numbers; }

  private:
    struct alignas(64) Line {
        double numbers[8];
    };
    std::size_t lines_;
    std::vector<Line> memory_;
};

// How many rows a thread takes at a time.
template <class Columns>
std::size_t rows_at_once(const Columns& columns) {
    if constexpr (requires { columns.rows_at_once(); })
        return columns.rows_at_once();
    else
        return 16;
}

// Makes the visitors of a Gram matrix. Those of some kernels leave a part of the work until a block of rows is done:
// finish(values, stride, begin, end, first) adds it to rows begin .. end - 1, for columns from `first` on.
template <class Columns, class View, class Prepared>
auto block_visitors(const Columns& columns, const Bags& column_bags, const View& map, const Bags& rows,
                    const Prepared& prepared, const Control& control) {
    if constexpr (requires { columns.block_visitors(column_bags, map, rows, prepared, control); })
        return columns.block_visitors(column_bags, map, rows, prepared, control);
    else
        return [&] { return columns.visitor(map, rows, prepared, control); };
}

// out: rows x columns, row major. With `symmetric` rows and columns are the same elements, and only the upper triangle
// is computed.
// View is ArenaMap, or what a kernel that needs to know more of its rows has made of it.
template <class Columns, class View>
void gram(const Columns& columns, const Arena& column_arena, const Bags& column_bags, const View& map, const Bags& rows,
          bool symmetric, double* out, std::size_t threads, Control& control) {
    const std::size_t block = rows_at_once(columns);
    const std::size_t width = column_bags.size();
    std::optional<Postings> bulk;
    std::optional<Occurrences> where;
    decltype(columns.prepare(map, rows)) prepared;
    // Small results are not worth starting a thread for.
    const std::size_t team = rows.size() < 100 ? 1 : threads;
    // Of kernels without active subtrees the index is all there is to prepare, and threads can share that work.
    constexpr bool kIndexOnly = requires { columns.postings(column_arena, column_bags, team); };
    std::atomic<int> preparing{2};
    const auto count_features = [&] {
        const CountDownOnExit done(preparing);
        prepared = columns.prepare(map, rows);
        // The features of the same elements are the same.
        if constexpr (std::is_same_v<decltype(prepared), Bags>)
            if (symmetric) bulk.emplace(prepared, columns.feature_count());
        if (bulk) return;
        if constexpr (kIndexOnly)
            bulk.emplace(columns.postings(column_arena, column_bags, team));
        else
            bulk.emplace(columns.features(column_arena, column_bags), columns.feature_count());
    };
    const auto find_occurrences = [&] {
        const CountDownOnExit done(preparing);
        where.emplace(column_bags, columns.positions_of_nodes(), columns.positions());
    };
    // A large result is fresh memory, and getting its pages from the system takes as long as all the preparations.
    const std::size_t size = rows.size() * width;
    if (kIndexOnly && team > 1) {
        count_features();
        find_occurrences();
        const std::atomic<int> always{1};
        parallel_blocks(
            size, std::size_t{1} << 18, team, control,
            [&] { return [&](std::size_t begin, std::size_t end) { touch_pages(out + begin, end - begin, always); }; },
            Progress::silent);
    } else {
        run_together(team, count_features, find_occurrences, [&] { touch_pages(out, size, preparing); });
    }
    // Active subtrees are what takes much room while they are prepared. For small results giving it back would take
    // longer than the result itself.
    if (columns.positions() > 0 && rows.size() * width >= std::size_t{1} << 20) give_back_memory();
    const Postings& postings = *bulk;
    const Occurrences& occurrences = *where;
    const auto make_visitor = block_visitors(columns, column_bags, map, rows, prepared, control);
    parallel_blocks(rows.size(), block, threads, control, [&] {
        return [&, visit = make_visitor(), buffer = RowBuffer(block, width)](std::size_t begin,
                                                                             std::size_t end) mutable {
            const std::size_t stride = buffer.stride();
            for (std::size_t i = begin; i < end; ++i) {
                double* values = buffer.row(i - begin);
                const std::size_t first = symmetric ? i : 0;
                // Counts are added from the start of a cache line on.
                std::fill(values + first / 8 * 8, values + width, 0.0);
                visit(
                    i, first,
                    [&](std::uint32_t feature, double weight) { postings.add(feature, weight, first, values); },
                    [&](std::size_t position, double value) { occurrences.add(position, value, values, first); });
            }
            if constexpr (requires { visit.finish(buffer.row(0), stride, begin, end, begin); })
                visit.finish(buffer.row(0), stride, begin, end, symmetric ? begin : 0);
            for (std::size_t i = begin; i < end; ++i) {
                const double* values = buffer.row(i - begin);
                const std::size_t first = symmetric ? i : 0;
                std::copy(values + first, values + width, out + i * width + first);
            }
            if (!symmetric) return;
            // The block is still in cache, so this is the cheap moment to write its mirror image.
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t j = i + 1; j < end; ++j) out[j * width + i] = buffer.row(i - begin)[j];
            const auto mirror = [&](std::size_t from, std::size_t to) {
                // Memory is touched here for the first time, which takes long for a very large result.
                for (std::size_t j = from; j < to; j += 1024) {
                    control.check();
                    write_columns(buffer.row(0), stride, end - begin, out + begin, width, j, std::min(j + 1024, to));
                }
            };
            // Threads that went down the same rows side by side would ask the system for the same pages at the same
            // time, and each page would be prepared once per thread. So they start in different parts.
            const std::size_t team = std::max<std::size_t>(threads, 1), turn = begin / block % team;
            const std::size_t start = end + (width - end) * turn / team;
            mirror(start, width);
            mirror(end, start);
        };
    });
}

}  // namespace sapwood
