// Weighted interval scheduling with side conditions: the problem behind roles on spans and labels on spans.
//
// Arcs are intervals with a label and a gain; chosen arcs may not overlap. An arc may take further intervals (pieces).
// Side conditions are about labels: at most once, not together, one only with another, one only after another, at least
// once. This file states the problem and writes it as a factor graph; decode/scheduling.hpp solves it directly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "decode/graph.hpp"

namespace sapwood::decode {

struct Arc {
    std::uint32_t from, to;  // positions, from < to
    std::uint32_t label;
    std::uint32_t source;  // the caller's number for it
    double gain;
};

// An interval that arcs of a source take beside their own; it overlaps neither that nor another one of theirs.
struct Piece {
    std::uint32_t source, from, to;
};

using LabelPair = std::pair<std::uint32_t, std::uint32_t>;

struct IntervalProgram {
    std::uint32_t positions = 0;  // paths lead from 0 to here
    std::vector<Arc> arcs;
    std::vector<Piece> pieces;            // by source; the scheduler cannot handle them, the factor graph can
    std::vector<std::uint8_t> may_skip;   // per position: whether it may stay uncovered; empty means it always may
    std::vector<std::uint8_t> unique;     // per label: at most once
    std::vector<std::uint8_t> mandatory;  // per label: at least once; empty means none
    std::vector<LabelPair> excludes;      // not both; both labels are unique
    std::vector<LabelPair> implies;       // an arc of the first needs an arc of the second
    std::vector<LabelPair> after;         // an arc of the first needs an earlier arc of the second

    std::size_t labels() const { return unique.size(); }
    bool skips(std::uint32_t p) const { return may_skip.empty() || may_skip[p]; }
    bool must(std::uint32_t label) const { return !mandatory.empty() && mandatory[label]; }
};

// The pieces of a source among pieces ordered by source.
inline std::span<const Piece> pieces_of(const std::vector<Piece>& pieces, std::uint32_t source) {
    const auto before = [](const Piece& piece, std::uint32_t number) { return piece.source < number; };
    const auto first = std::lower_bound(pieces.begin(), pieces.end(), source, before);
    return {first, std::lower_bound(first, pieces.end(), source + 1, before)};
}

// Renumbers the end points of arcs and pieces so that only points where something starts or ends are positions.
// Returns those points; a path's positions are their numbers.
inline std::vector<std::uint32_t> compress(IntervalProgram& program) {
    std::vector<std::uint32_t> points, number;
    std::uint32_t last = 0;
    const auto each = [&](auto&& change) {
        for (Arc& arc : program.arcs) change(arc.from), change(arc.to);
        for (Piece& piece : program.pieces) change(piece.from), change(piece.to);
    };
    each([&](std::uint32_t point) { last = std::max(last, point); });
    if (last < 4096 + 8 * program.arcs.size()) {  // a table is quicker than sorting
        number.assign(last + 1, 0);
        each([&](std::uint32_t point) { number[point] = 1; });
        for (std::uint32_t point = 0; point <= last; ++point)
            if (number[point]) {
                number[point] = static_cast<std::uint32_t>(points.size());
                points.push_back(point);
            }
        each([&](std::uint32_t& point) { point = number[point]; });
        return points;
    }
    each([&](std::uint32_t point) { points.push_back(point); });
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    each([&](std::uint32_t& point) {
        point = static_cast<std::uint32_t>(std::lower_bound(points.begin(), points.end(), point) - points.begin());
    });
    return points;
}

// The arcs at `alive` as a factor graph. Variables 0 .. alive.size() - 1 are the arcs, in that order; further ones say
// that a label is absent.
inline Graph graph_of(const IntervalProgram& program, const std::vector<std::uint32_t>& alive) {
    Graph graph;
    const std::size_t labels = program.labels();
    std::vector<std::vector<Literal>> by_label(labels);
    std::vector<std::vector<std::pair<Literal, std::uint32_t>>> starting(program.positions + 1);  // with their ends
    std::vector<std::uint8_t> ending(program.positions + 1, 0);
    for (std::uint32_t i = 0; i < alive.size(); ++i) {
        const Arc& arc = program.arcs[alive[i]];
        graph.scores.push_back(arc.gain);
        by_label[arc.label].push_back(2 * i);
        const auto take = [&](std::uint32_t from, std::uint32_t to) {
            starting[from].emplace_back(2 * i, to);
            ending[to] = 1;
        };
        take(arc.from, arc.to);
        for (const Piece& piece : pieces_of(program.pieces, arc.source)) take(piece.from, piece.to);
    }
    // No overlap. A set of arcs that cover a position matters only if it is not part of the next one: something must
    // end before anything new starts.
    std::vector<Literal> cover;
    std::vector<std::uint32_t> until(alive.size(), 0);  // per arc in the cover: where it ends, or this piece of it
    bool grown = false;
    const auto flush = [&] {
        if (grown && cover.size() > 1) graph.add(Kind::AtMostOne, cover);
        grown = false;
    };
    for (std::uint32_t p = 0; p <= program.positions; ++p) {
        if (ending[p]) {
            flush();
            std::erase_if(cover, [&](Literal literal) { return until[literal / 2] == p; });
        }
        for (const auto& [literal, to] : starting[p]) {
            cover.push_back(literal);
            until[literal / 2] = to;
            grown = true;
        }
        if (p < program.positions && !program.skips(p)) {
            graph.add(Kind::Xor, cover);
            grown = false;
        }
    }
    // Absence of a label, where a condition asks for it.
    constexpr Literal kNoLiteral = ~Literal{0};
    std::vector<Literal> absent(labels, kNoLiteral);
    std::vector<std::uint8_t> asked(labels, 0);
    for (const auto* pairs : {&program.excludes, &program.implies})
        for (const LabelPair& pair : *pairs) asked[pair.first] = asked[pair.second] = 1;
    for (std::uint32_t l = 0; l < labels; ++l) {
        auto& arcs = by_label[l];
        if (program.unique[l] && asked[l]) {
            absent[l] = static_cast<Literal>(2 * graph.variables());
            graph.scores.push_back(0.0);
            std::vector<Literal> either(arcs);
            either.push_back(absent[l]);
            graph.add(Kind::Xor, either);
            if (program.must(l)) graph.add(Kind::Or, std::vector<Literal>{absent[l] ^ 1U});
        } else if (program.must(l)) {
            graph.add(program.unique[l] ? Kind::Xor : Kind::Or, arcs);
        } else if (program.unique[l] && arcs.size() > 1) {
            graph.add(Kind::AtMostOne, arcs);
        }
    }
    for (const LabelPair& pair : program.excludes)
        graph.add(Kind::Or, std::vector<Literal>{absent[pair.first], absent[pair.second]});
    const auto has = [&](std::uint32_t a, std::uint32_t b) {
        return std::find(program.implies.begin(), program.implies.end(), LabelPair(a, b)) != program.implies.end();
    };
    std::vector<Literal> clause;
    for (const auto& [a, b] : program.implies) {
        if (absent[a] != kNoLiteral && absent[b] != kNoLiteral && has(b, a)) {  // both or neither
            if (a < b) graph.add(Kind::Xor, std::vector<Literal>{absent[a], absent[b] ^ 1U});
            continue;
        }
        clause.clear();
        if (absent[b] != kNoLiteral)
            clause.push_back(absent[b] ^ 1U);
        else
            clause = by_label[b];
        clause.push_back(0);
        if (absent[a] != kNoLiteral) {
            clause.back() = absent[a];
            graph.add(Kind::Or, clause);
            continue;
        }
        for (const Literal arc : by_label[a]) {
            clause.back() = arc ^ 1U;
            graph.add(Kind::Or, clause);
        }
    }
    for (const auto& [a, b] : program.after)
        for (const Literal late : by_label[a]) {
            clause.assign(1, late ^ 1U);
            for (const Literal early : by_label[b])
                if (program.arcs[alive[early / 2]].to <= program.arcs[alive[late / 2]].from) clause.push_back(early);
            graph.add(Kind::Or, clause);
        }
    return graph;
}

}  // namespace sapwood::decode
