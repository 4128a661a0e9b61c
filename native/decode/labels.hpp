// Labels on spans: every span takes one label or NONE (label 0), labelled spans do not overlap; some labels occur at
// most once, some only together with another, some only after another.
#pragma once

#include "decode/exact.hpp"

namespace sapwood::decode {

struct LabelProblem {
    std::uint32_t spans = 0, labels = 0;
    std::vector<double> scores;             // spans x labels
    std::vector<std::uint32_t> begin, end;  // per span, end exclusive
    std::vector<std::uint8_t> unique;       // per label
    std::vector<LabelPair> implies, after;
    std::vector<std::uint8_t> allowed;  // spans x labels; empty means all

    double score(std::uint32_t s, std::uint32_t l) const { return scores[std::size_t{s} * labels + l]; }
    bool allows(std::uint32_t s, std::uint32_t l) const {
        return allowed.empty() || allowed[std::size_t{s} * labels + l];
    }
};

struct LabelAnswer {
    double value = -std::numeric_limits<double>::infinity(), bound = value;
    Status status = Status::Infeasible;
    std::vector<std::int32_t> assignment;  // per span; empty when none is known
    std::size_t nodes = 0, states = 0;
};

// The problem as gains over NONE, without what no optimum needs. False: the spans that must be labelled overlap.
inline bool state_labels(const LabelProblem& problem, IntervalProgram& program, double& base) {
    program.unique = problem.unique;
    program.implies = problem.implies;
    program.after = problem.after;
    std::vector<std::uint8_t> supports(problem.labels, 0), bound(problem.unique);
    for (const auto* pairs : {&problem.implies, &problem.after})
        for (const auto& [a, b] : *pairs) {
            supports[b] = 1;
            bound[a] = bound[b] = 1;
        }
    std::vector<LabelPair> forced;  // the stretches of spans that must be labelled
    base = 0.0;
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        if (problem.allows(s, 0))
            base += problem.score(s, 0);
        else
            forced.emplace_back(problem.begin[s], problem.end[s]);
    }
    std::sort(forced.begin(), forced.end());
    for (std::size_t i = 1; i < forced.size(); ++i)
        if (forced[i].first < forced[i - 1].second) return false;
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        const bool must = !problem.allows(s, 0);
        if (!must) {  // whatever overlaps a span that must be labelled stays unlabelled
            const auto place = std::lower_bound(forced.begin(), forced.end(), LabelPair(problem.end[s], 0U));
            if (place != forced.begin() && std::prev(place)->second > problem.begin[s]) continue;
        }
        const double none = must ? 0.0 : problem.score(s, 0);
        // Of the labels that no condition mentions, only the best can be needed; and it replaces any lesser label that
        // nothing leans on.
        double free = must ? -std::numeric_limits<double>::infinity() : 0.0;
        std::uint32_t free_label = 0;
        for (std::uint32_t l = 1; l < problem.labels; ++l)
            if (!bound[l] && problem.allows(s, l) && problem.score(s, l) - none > free) {
                free = problem.score(s, l) - none;
                free_label = l;
            }
        for (std::uint32_t l = 1; l < problem.labels; ++l) {
            if (!problem.allows(s, l) || (!bound[l] && l != free_label)) continue;
            const double gain = problem.score(s, l) - none;
            if (l != free_label && !supports[l] && gain <= free) continue;
            program.arcs.push_back({problem.begin[s], problem.end[s], l, s, gain});
        }
        if (must && (program.arcs.empty() || program.arcs.back().source != s)) return false;
    }
    // Forced stretches keep their end points, because some arc has them.
    const std::vector<std::uint32_t> points = compress(program);
    program.positions = points.empty() ? 0U : static_cast<std::uint32_t>(points.size() - 1);
    if (!forced.empty()) {
        program.may_skip.assign(program.positions, 1);
        for (const auto& [from, to] : forced)
            for (std::uint32_t p = 0; p < program.positions; ++p)
                if (points[p] >= from && points[p] < to) program.may_skip[p] = 0;
    }
    return true;
}

inline LabelAnswer decode_labels(const LabelProblem& problem, const ExactOptions& options, Control& control) {
    LabelAnswer answer;
    IntervalProgram program;
    double base = 0.0;
    if (!state_labels(problem, program, base)) return answer;
    const Exact exact = solve_exactly(program, options, control);
    answer.status = exact.status;
    answer.nodes = exact.nodes;
    answer.states = exact.states;
    answer.bound = base + exact.bound;
    if (!exact.found) return answer;
    answer.assignment.assign(problem.spans, 0);
    for (const std::uint32_t j : exact.chosen)
        answer.assignment[program.arcs[j].source] = static_cast<std::int32_t>(program.arcs[j].label);
    answer.value = 0.0;
    for (std::uint32_t s = 0; s < problem.spans; ++s)
        answer.value += problem.score(s, static_cast<std::uint32_t>(answer.assignment[s]));
    if (exact.status == Status::Optimal) answer.bound = answer.value;
    return answer;
}

}  // namespace sapwood::decode
