// What the words of some rows are worth in every column, added up for these rows together.
//
// A word that is like many others reaches nearly all elements. Row by row that would be a scattered addition for each
// row and each element that holds one of them; with the rows side by side it is one short vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/vectorized.hpp"
#include "kernels/similarity_cache.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Which elements hold the subtree at a position.
class Holders {
  public:
    // position(number) is below `positions`, or kNone: left out.
    template <class Position>
    Holders(const Bags& bags, std::size_t positions, Position position) : begin_(positions + 1, 0) {
        const auto for_each = [&](auto visit) {
            for (std::size_t i = 0; i < bags.size(); ++i) {
                const auto numbers = bags.numbers_of(i);
                const auto counts = bags.counts_of(i);
                for (std::size_t k = 0; k < numbers.size(); ++k)
                    if (const std::size_t at = position(numbers[k]); at != kNone) visit(i, at, counts[k]);
            }
        };
        for_each([&](std::size_t, std::size_t at, double) { ++begin_[at + 1]; });
        for (std::size_t k = 0; k < positions; ++k) begin_[k + 1] += begin_[k];
        element_.resize(begin_.back());
        count_.resize(begin_.back());
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for_each([&](std::size_t element, std::size_t at, double count) {
            element_[next[at]] = static_cast<std::uint32_t>(element);
            count_[next[at]++] = count;
        });
    }

    const std::size_t* begin(std::size_t position) const { return begin_.data() + position; }
    const std::uint32_t* elements() const { return element_.data(); }
    const double* counts() const { return count_.data(); }

  private:
    std::vector<std::size_t> begin_;      // per position
    std::vector<std::uint32_t> element_;  // ascending within a position
    std::vector<double> count_;
};

// Rows that are added up together.
inline constexpr std::size_t kBlockRows = 16;

// sums: kBlockRows numbers for each of `size` positions. Adds them, times how often an element holds the position, to
// the kBlockRows numbers of every such element from `first` on.
[[maybe_unused]] SAPWOOD_VECTOR static void add_to_holders(double* __restrict out, const double* __restrict sums,
                                                           std::size_t size, const std::size_t* begin,
                                                           const std::uint32_t* element, const double* count,
                                                           std::size_t first) {
    for (std::size_t at = 0; at < size; ++at) {
        const double* sum = sums + at * kBlockRows;
        // Elements ascend, so that those before `first` are the last ones met from behind.
        for (std::size_t k = begin[at + 1]; k-- > begin[at] && element[k] >= first;) {
            double* row = out + element[k] * kBlockRows;
            for (std::size_t r = 0; r < kBlockRows; ++r) row[r] += count[k] * sum[r];
        }
    }
}

class WordBlock {
  public:
    WordBlock(std::size_t classes, std::size_t elements) : uses_(classes), out_(elements * kBlockRows, 0.0) {}

    // A word of a row of the block: what it is worth by place of a class, of which places from `from` on matter; none
    // of these is left out. `from` must not decrease. If that lies in `own`, the block takes it over, and gives other
    // memory for it.
    void add(std::uint32_t number, std::size_t row, double count, std::size_t from, const KnownSimilarities& words,
             Similarities& own) {
        if (uses_[number].empty()) used_.push_back({number, from});
        uses_[number].push_back({words.values + (from - words.from), from, count, row});
        if (words.values != own.values.data()) return;
        taken_.push_back(std::move(own.values));
        own.values = {};
        if (spare_.empty()) return;
        own.values = std::move(spare_.back());
        spare_.pop_back();
    }

    // Adds everything to the rows, `stride` numbers each; elements before `first` are left alone. position(class) and
    // places(class) say which positions a class has.
    template <class Position, class Places>
    void finish(const Holders& holders, std::size_t first, double* values, std::size_t stride, std::size_t rows,
                Position position, Places places) {
        if (used_.empty()) return;
        for (const Used& used : used_) {
            const std::size_t base = position(used.number), size = places(used.number);
            for (std::size_t begin = used.from; begin < size; begin += kChunk) {
                const std::size_t count = std::min(kChunk, size - begin);
                add_up(uses_[used.number], begin, count);
                add_to_holders(out_.data(), turned_.data(), count, holders.begin(base + begin), holders.elements(),
                               holders.counts(), first);
            }
            uses_[used.number].clear();
        }
        used_.clear();
        for (std::vector<double>& values : taken_) spare_.push_back(std::move(values));
        taken_.clear();
        const std::size_t elements = out_.size() / kBlockRows;
        for (std::size_t j = first; j < elements; ++j) {
            double* sums = out_.data() + j * kBlockRows;
            for (std::size_t r = 0; r < rows; ++r) values[r * stride + j] += sums[r];
            std::fill(sums, sums + kBlockRows, 0.0);
        }
    }

  private:
    static constexpr std::size_t kChunk = 64;  // places at a time, so that their sums stay close

    struct Use {
        const double* values;  // by place, those before `from` left out: they do not matter to the row
        std::size_t from;
        double count;
        std::size_t row;
    };
    struct Used {
        std::uint32_t number;
        std::size_t from;
    };

    void add_up(std::span<const Use> uses, std::size_t begin, std::size_t count) {
        sums_.fill(0.0);
        for (const Use& use : uses) {
            const std::size_t start = std::max(begin, use.from);
            if (start >= begin + count) continue;
            add_scaled(sums_.data() + use.row * kChunk + (start - begin), use.values + (start - use.from), use.count,
                       begin + count - start);
        }
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t r = 0; r < kBlockRows; ++r) turned_[k * kBlockRows + r] = sums_[r * kChunk + k];
    }

    std::vector<std::vector<Use>> uses_;  // per class
    std::vector<Used> used_;              // the classes that have some
    std::vector<std::vector<double>> taken_, spare_;
    std::vector<double> out_;  // per element and row; zero between blocks
    std::array<double, kChunk * kBlockRows> sums_, turned_;
};

}  // namespace sapwood
