// A sentence without a parse, covered by the best row of constituents that its chart does hold.
#pragma once

#include "parse/cky.hpp"

namespace sapwood::parse {

struct Piece {
    std::size_t begin, end;
    Symbol symbol;
    double value;
};

// The pieces from left to right, so that their weights and `price` for each piece add up to the most. Empty only where
// a word has no tag at all.
inline std::vector<Piece> cover(const Rules& rules, const Chart& chart, double price) {
    const std::size_t words = chart.words();
    std::vector<double> best(words + 1, kNever);
    std::vector<Piece> last(words + 1);
    best[0] = 0.0;
    for (std::size_t end = 1; end <= words; ++end)
        for (std::size_t begin = 0; begin < end; ++begin) {
            if (best[begin] == kNever) continue;
            for (const Entry& entry : chart.upper(begin, end)) {
                if (rules.label(entry.symbol) == kNone) continue;
                const double total = best[begin] + entry.value + price;
                if (total > best[end]) best[end] = total, last[end] = {begin, end, entry.symbol, entry.value};
            }
        }
    std::vector<Piece> pieces;
    if (best[words] == kNever) return pieces;
    for (std::size_t end = words; end > 0; end = last[end].begin) pieces.push_back(last[end]);
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

}  // namespace sapwood::parse
