// CKY: the best weight of every symbol over every span of a sentence.
//
// The chart keeps a short sorted list per span, so its size is what was found, not symbols times spans. Columns are
// filled from left to right and each from the bottom up; only the current column is also kept as plain arrays, in which
// right children are looked up at once.
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "parse/cky_rules.hpp"

namespace sapwood::parse {

struct Tag {
    Symbol symbol;
    double weight;
};

// The tags that each word may have.
using Sentence = std::vector<std::vector<Tag>>;

struct ChartTooLarge : std::exception {
    const char* what() const noexcept override { return "the chart of a sentence exceeds its limit"; }
};

struct Limits {
    // Symbols whose weight, prior included, is this much below the best of the span are left out.
    double beam = std::numeric_limits<double>::infinity();
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

struct Entry {
    Symbol symbol;
    double value;
};

// What was found, span by span; `begin` and `end` are positions between words.
class Chart {
  public:
    explicit Chart(std::size_t words) : words_(words), ranges_(words * (words + 1) / 2) {}

    std::size_t words() const { return words_; }
    std::span<const Entry> upper(std::size_t begin, std::size_t end) const {
        const Range& range = ranges_[cell(begin, end)];
        return std::span(upper_).subspan(range.upper_begin, range.upper_end - range.upper_begin);
    }
    std::span<const Entry> lower(std::size_t begin, std::size_t end) const {
        const Range& range = ranges_[cell(begin, end)];
        return std::span(lower_).subspan(range.lower_begin, range.lower_end - range.lower_begin);
    }
    static const Entry* find(std::span<const Entry> entries, Symbol symbol) {
        const auto at = std::lower_bound(entries.begin(), entries.end(), symbol,
                                         [](const Entry& entry, Symbol wanted) { return entry.symbol < wanted; });
        return at != entries.end() && at->symbol == symbol ? &*at : nullptr;
    }
    std::size_t bytes() const {
        return (upper_.capacity() + lower_.capacity()) * sizeof(Entry) + ranges_.capacity() * sizeof(Range);
    }

    // Where the entries of a span begin among all of them.
    std::size_t upper_at(std::size_t begin, std::size_t end) const { return ranges_[cell(begin, end)].upper_begin; }
    std::size_t lower_at(std::size_t begin, std::size_t end) const { return ranges_[cell(begin, end)].lower_begin; }
    std::size_t upper_count() const { return upper_.size(); }
    std::size_t lower_count() const { return lower_.size(); }

    friend class Filler;

  private:
    struct Range {
        std::size_t upper_begin = 0, upper_end = 0, lower_begin = 0, lower_end = 0;
    };

    static std::size_t cell(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }

    std::size_t words_;
    std::vector<Range> ranges_;
    std::vector<Entry> upper_, lower_;
};

// Fills charts; keeps its arrays from sentence to sentence.
class Filler {
  public:
    explicit Filler(const Rules& rules)
        : rules_(rules), lower_(rules.symbols(), kNever), upper_(rules.symbols(), kNever) {}

    Chart fill(const Sentence& sentence, const Limits& limits, const Control& control) {
        const std::size_t words = sentence.size(), symbols = rules_.symbols();
        if (words * symbols * sizeof(double) + words * (words + 1) / 2 * sizeof(Chart::Range) > limits.bytes)
            throw ChartTooLarge();
        Chart chart(words);
        column_.assign(words * symbols, kNever);
        for (std::size_t end = 1; end <= words; ++end) {
            for (std::size_t begin = end; begin-- > 0;) {
                control.check();
                if (end - begin == 1)
                    for (const Tag& tag : sentence[begin]) reach(lower_, found_lower_, tag.symbol, tag.weight);
                else
                    combine(chart, begin, end, control);
                finish(chart, begin, end, limits);
                if (chart.bytes() + column_.size() * sizeof(double) > limits.bytes) {
                    clear();
                    throw ChartTooLarge();
                }
            }
            for (std::size_t begin = 0; begin < end; ++begin)
                for (const Entry& entry : chart.upper(begin, end)) column_[begin * symbols + entry.symbol] = kNever;
        }
        return chart;
    }

  private:
    static void reach(std::vector<double>& values, std::vector<Symbol>& found, Symbol symbol, double value) {
        double& known = values[symbol];
        if (known == kNever) found.push_back(symbol);
        known = std::max(known, value);
    }

    void combine(const Chart& chart, std::size_t begin, std::size_t end, const Control& control) {
        const std::size_t symbols = rules_.symbols();
        const Rules::Result* results = rules_.results();
        for (std::size_t split = begin + 1; split < end; ++split) {
            const double* right = column_.data() + split * symbols;
            if ((split & 15) == 0) control.check();
            for (const Entry& left : chart.upper(begin, split))
                for (const Rules::Pair& pair : rules_.pairs(left.symbol)) {
                    const double other = right[pair.right];
                    if (other == kNever) continue;
                    const double both = left.value + other;
                    for (std::uint32_t at = pair.begin; at < pair.end; ++at)
                        reach(lower_, found_lower_, results[at].parent, both + results[at].weight);
                }
        }
    }

    // Adds chains, leaves out what is far below the best, and moves the span to the chart.
    void finish(Chart& chart, std::size_t begin, std::size_t end, const Limits& limits) {
        const bool whole = begin == 0 && end == chart.words();
        for (const Symbol symbol : found_lower_) {
            const double value = lower_[symbol];
            if (rules_.stay(symbol) != kNever) reach(upper_, found_upper_, symbol, value + rules_.stay(symbol));
            for (const Chain& chain : rules_.chains_over(symbol))
                if (whole || chain.upper != rules_.root())
                    reach(upper_, found_upper_, chain.upper, value + chain.weight);
        }
        double floor = kNever;
        if (std::isfinite(limits.beam)) {
            for (const Symbol symbol : found_upper_) floor = std::max(floor, upper_[symbol] + rules_.prior(symbol));
            floor -= limits.beam;
        }
        const auto kept = [&](Symbol symbol) {
            return symbol == rules_.root() || upper_[symbol] + rules_.prior(symbol) >= floor;
        };
        const auto needed = [&](Symbol symbol) {
            if (floor == kNever) return true;
            if (rules_.stay(symbol) != kNever && kept(symbol)) return true;
            for (const Chain& chain : rules_.chains_over(symbol))
                if (upper_[chain.upper] != kNever && kept(chain.upper)) return true;
            return false;
        };
        std::sort(found_lower_.begin(), found_lower_.end());
        std::sort(found_upper_.begin(), found_upper_.end());
        Chart::Range& range = chart.ranges_[Chart::cell(begin, end)];
        range.lower_begin = chart.lower_.size();
        for (const Symbol symbol : found_lower_)
            if (needed(symbol)) chart.lower_.push_back({symbol, lower_[symbol]});
        range.lower_end = chart.lower_.size();
        range.upper_begin = chart.upper_.size();
        double* column = column_.data() + begin * rules_.symbols();
        for (const Symbol symbol : found_upper_)
            if (kept(symbol)) {
                chart.upper_.push_back({symbol, upper_[symbol]});
                column[symbol] = upper_[symbol];
            }
        range.upper_end = chart.upper_.size();
        clear();
    }

    void clear() {
        for (const Symbol symbol : found_lower_) lower_[symbol] = kNever;
        for (const Symbol symbol : found_upper_) upper_[symbol] = kNever;
        found_lower_.clear();
        found_upper_.clear();
    }

    const Rules& rules_;
    std::vector<double> lower_, upper_, column_;
    std::vector<Symbol> found_lower_, found_upper_;
};

}  // namespace sapwood::parse
