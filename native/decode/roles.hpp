// Roles on spans: every role takes one span or none, spans of different roles do not overlap, some roles exclude or
// require each other. A span may have several pieces. Methods: each role alone, beam search, the relaxation, and two
// exact ones.
//
// The exact decoder first looks whether the roles' own favourites already obey every constraint. If not, it drops what
// no optimum needs, and hands the rest to the scheduler (decode/scheduling.hpp), with branch and bound behind it.
#pragma once

#include "decode/exact.hpp"

namespace sapwood::decode {

struct RoleProblem {
    std::uint32_t roles = 0, spans = 0, null = 0;  // null: the number of the empty span
    std::vector<double> scores;                    // roles x spans
    std::vector<std::uint32_t> begin, end;         // per span, end exclusive; anything for null
    std::vector<Piece> pieces;                     // further ones of spans, ordered by span
    std::vector<LabelPair> excludes, requires_;    // each pair once, first < second
    std::vector<std::uint8_t> allowed;             // roles x spans; empty means all

    double score(std::uint32_t r, std::uint32_t s) const { return scores[std::size_t{r} * spans + s]; }
    bool allows(std::uint32_t r, std::uint32_t s) const {
        return allowed.empty() || allowed[std::size_t{r} * spans + s];
    }
    // Calls with the first token and the one past the last of every piece of a span.
    template <typename Visit>
    void visit(std::uint32_t s, Visit&& piece) const {
        piece(begin[s], end[s]);
        for (const Piece& further : pieces_of(pieces, s)) piece(further.from, further.to);
    }
};

struct Violations {
    std::uint32_t overlap = 0, excludes = 0, requires_ = 0, allowed = 0;
    bool none() const { return !overlap && !excludes && !requires_ && !allowed; }
};

// Counts pairs of roles that break a constraint, and roles with a span they may not have.
inline Violations violations(const RoleProblem& problem, const std::int32_t* assignment) {
    Violations result;
    const auto overt = [&](std::uint32_t r) { return assignment[r] != static_cast<std::int32_t>(problem.null); };
    for (const auto& [a, b] : problem.excludes) result.excludes += overt(a) && overt(b);
    for (const auto& [a, b] : problem.requires_) result.requires_ += overt(a) != overt(b);
    struct Taken {
        std::uint32_t from, to, role;
    };
    std::vector<Taken> taken;
    for (std::uint32_t r = 0; r < problem.roles; ++r) {
        const auto s = static_cast<std::uint32_t>(assignment[r]);
        if (overt(r)) problem.visit(s, [&](std::uint32_t from, std::uint32_t to) { taken.push_back({from, to, r}); });
        result.allowed += !problem.allows(r, s);
    }
    std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.from < b.from; });
    std::vector<LabelPair> met;  // two roles may meet in several pieces
    for (std::size_t i = 0; i < taken.size(); ++i)
        for (std::size_t j = i + 1; j < taken.size() && taken[j].from < taken[i].to; ++j) {
            if (problem.pieces.empty())
                ++result.overlap;
            else
                met.push_back(std::minmax(taken[i].role, taken[j].role));
        }
    std::sort(met.begin(), met.end());
    result.overlap += static_cast<std::uint32_t>(std::unique(met.begin(), met.end()) - met.begin());
    return result;
}

inline double role_value(const RoleProblem& problem, const std::int32_t* assignment) {
    double value = 0.0;
    for (std::uint32_t r = 0; r < problem.roles; ++r)
        value += problem.score(r, static_cast<std::uint32_t>(assignment[r]));
    return value;
}

enum class RoleMethod : std::uint8_t { Local, Beam, Relaxed, Branch, Exact };

struct RoleOptions {
    RoleMethod method = RoleMethod::Exact;
    std::size_t beam = 100;
    ExactOptions exact;
};

struct RoleAnswer {
    double value = 0.0, bound = 0.0;
    Status status = Status::Optimal;
    Violations broken;
    std::size_t nodes = 0, states = 0;  // of branch and bound, of dynamic programming
};

class RoleDecoder {
  public:
    RoleDecoder(const RoleOptions& options, Control& control) : options_(options), control_(control) {}

    // Writes a span number per role; -1 everywhere when no assignment is known.
    RoleAnswer decode(const RoleProblem& problem, std::int32_t* assignment) {
        RoleAnswer answer;
        if (!favourites(problem, assignment)) {
            std::fill(assignment, assignment + problem.roles, -1);
            answer.status = Status::Infeasible;
            answer.value = answer.bound = -std::numeric_limits<double>::infinity();
            return answer;
        }
        answer.value = answer.bound = role_value(problem, assignment);
        if (overt_ <= 1 && problem.requires_.empty()) return answer;
        answer.broken = violations(problem, assignment);
        if (answer.broken.none()) return answer;
        answer.status = Status::Limit;
        switch (options_.method) {
            case RoleMethod::Local:
                return answer;
            case RoleMethod::Beam:
                beam(problem, assignment, answer);
                break;
            default:
                search(problem, assignment, answer);
        }
        if (answer.status != Status::Infeasible && assignment[0] >= 0) {
            answer.value = role_value(problem, assignment);
            answer.broken = violations(problem, assignment);
            // A bound is a sum in another order: rounding must not put it below the value it was proven equal to.
            if (answer.status == Status::Optimal) answer.bound = answer.value;
        }
        return answer;
    }

  private:
    // The best span of each role by itself, null among equals. False: a role has no span at all.
    bool favourites(const RoleProblem& problem, std::int32_t* assignment) {
        overt_ = 0;
        for (std::uint32_t r = 0; r < problem.roles; ++r) {
            const double* row = problem.scores.data() + std::size_t{r} * problem.spans;
            std::uint32_t best = problem.null;
            if (problem.allowed.empty()) {
                double top = row[best];
                for (std::uint32_t s = 0; s < problem.spans; ++s)
                    if (row[s] > top) {
                        top = row[s];
                        best = s;
                    }
            } else {
                bool any = problem.allows(r, best);
                for (std::uint32_t s = 0; s < problem.spans; ++s)
                    if (problem.allows(r, s) && (!any || row[s] > row[best])) {
                        any = true;
                        best = s;
                    }
                if (!any) return false;
            }
            overt_ += best != problem.null;
            assignment[r] = static_cast<std::int32_t>(best);
        }
        return true;
    }

    // The beam of frame-semantic parsing: only roles whose favourite is a span take part; overlap is forbidden, the
    // other constraints are not looked at.
    void beam(const RoleProblem& problem, std::int32_t* assignment, RoleAnswer& answer) {
        std::vector<std::uint32_t> points(problem.begin);
        points.insert(points.end(), problem.end.begin(), problem.end.end());
        for (const Piece& piece : problem.pieces) points.insert(points.end(), {piece.from, piece.to});
        std::sort(points.begin(), points.end());
        points.erase(std::unique(points.begin(), points.end()), points.end());
        const auto number = [&](std::uint32_t point) {
            return static_cast<std::size_t>(std::lower_bound(points.begin(), points.end(), point) - points.begin());
        };
        const std::size_t words = points.size() / 64 + 1;
        std::vector<std::uint64_t> covers(problem.spans * words, 0);
        for (std::uint32_t s = 0; s < problem.spans; ++s)
            if (s != problem.null)
                problem.visit(s, [&](std::uint32_t from, std::uint32_t to) {
                    for (std::size_t p = number(from); p < number(to); ++p)
                        covers[s * words + p / 64] |= std::uint64_t{1} << (p % 64);
                });
        struct Hypothesis {
            double value;
            std::uint32_t parent, span;
        };
        std::vector<std::vector<Hypothesis>> steps{{{0.0, 0, 0}}};
        std::vector<std::uint64_t> taken(words, 0), next_taken;
        std::vector<std::uint32_t> searched;
        std::vector<Hypothesis> candidates;
        for (std::uint32_t r = 0; r < problem.roles; ++r) {
            if (assignment[r] == static_cast<std::int32_t>(problem.null)) continue;
            searched.push_back(r);
            control_.check();
            candidates.clear();
            for (std::uint32_t h = 0; h < steps.back().size(); ++h)
                for (std::uint32_t s = 0; s < problem.spans; ++s) {
                    if (!problem.allows(r, s)) continue;
                    bool clash = false;
                    for (std::size_t w = 0; w < words; ++w)
                        clash = clash || (taken[h * words + w] & covers[s * words + w]);
                    if (!clash) candidates.push_back({steps.back()[h].value + problem.score(r, s), h, s});
                }
            const auto better = [](const Hypothesis& a, const Hypothesis& b) {
                if (a.value != b.value) return a.value > b.value;
                return a.parent != b.parent ? a.parent < b.parent : a.span < b.span;
            };
            const std::size_t kept = std::min(options_.beam, candidates.size());
            std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                              candidates.end(), better);
            candidates.resize(kept);
            if (kept == 0) {  // only where null is not allowed
                std::fill(assignment, assignment + problem.roles, -1);
                answer.value = -std::numeric_limits<double>::infinity();
                return;
            }
            next_taken.assign(kept * words, 0);
            for (std::size_t h = 0; h < kept; ++h)
                for (std::size_t w = 0; w < words; ++w)
                    next_taken[h * words + w] =
                        taken[candidates[h].parent * words + w] | covers[candidates[h].span * words + w];
            taken.swap(next_taken);
            steps.push_back(candidates);
        }
        std::uint32_t h = 0;
        for (std::size_t k = searched.size(); k-- > 0;) {
            assignment[searched[k]] = static_cast<std::int32_t>(steps[k + 1][h].span);
            h = steps[k + 1][h].parent;
        }
    }

    // Drops what no optimum needs; the rest, as gains over null, becomes an interval program. Returns the value of
    // choosing nothing.
    double state(const RoleProblem& problem, IntervalProgram& program) const {
        const std::uint32_t n = problem.roles;
        const double none = -std::numeric_limits<double>::infinity();
        program.unique.assign(n, 1);
        program.excludes = problem.excludes;
        for (const auto& [a, b] : problem.requires_) {
            program.implies.emplace_back(a, b);
            program.implies.emplace_back(b, a);
        }
        // Roles tied by requirements stand or fall together.
        std::vector<std::uint32_t> group(n);
        std::iota(group.begin(), group.end(), 0U);
        const auto find = [&](std::uint32_t r) {
            while (group[r] != r) r = group[r] = group[group[r]];
            return r;
        };
        for (const auto& [a, b] : problem.requires_) group[find(a)] = find(b);
        std::vector<double> best(n, none), together(n, 0.0);
        std::vector<std::uint8_t> must(n, 0), tied(n, 0), barred(n, 0);
        for (const auto& [a, b] : problem.excludes)  // roles that require and exclude each other stay empty
            if (find(a) == find(b)) barred[find(a)] = 1;
        double base = 0.0;
        bool any_must = false;
        for (const auto& [a, b] : problem.requires_) tied[a] = tied[b] = 1;
        for (std::uint32_t r = 0; r < n; ++r) {
            if (!problem.allows(r, problem.null)) {
                any_must = true;
                must[find(r)] = 1;
            }
            base += problem.allows(r, problem.null) ? problem.score(r, problem.null) : 0.0;
            if (!tied[r] && !any_must) continue;
            for (std::uint32_t s = 0; s < problem.spans; ++s)
                if (s != problem.null && problem.allows(r, s)) best[r] = std::max(best[r], gain(problem, r, s));
            together[find(r)] += best[r];
        }
        if (any_must) {
            program.mandatory.assign(n, 0);
            for (std::uint32_t r = 0; r < n; ++r) program.mandatory[r] = must[find(r)];
        }
        std::vector<Arc> arcs, in_pieces;
        for (std::uint32_t r = 0; r < n; ++r) {
            if (barred[find(r)]) continue;
            const bool needed = any_must && must[find(r)];
            double least = 0.0;
            if (needed) {
                least = none;
            } else if (tied[r]) {
                const double others = together[find(r)] - best[r];
                if (together[find(r)] == none || together[find(r)] <= 0.0) continue;
                least =
                    -others - 1e-12 * (std::fabs(others) + std::fabs(best[r]));  // rounding must not drop an optimum
            }
            arcs.clear();
            in_pieces.clear();
            for (std::uint32_t s = 0; s < problem.spans; ++s) {
                if (s == problem.null || !problem.allows(r, s)) continue;
                const double value = gain(problem, r, s);
                if (value <= least) continue;
                const bool whole = pieces_of(problem.pieces, s).empty();
                (whole ? arcs : in_pieces).push_back({problem.begin[s], problem.end[s], r, s, value});
            }
            drop_containing(arcs);
            drop_containing(problem, arcs, in_pieces);
            program.arcs.insert(program.arcs.end(), arcs.begin(), arcs.end());
            program.arcs.insert(program.arcs.end(), in_pieces.begin(), in_pieces.end());
        }
        keep_pieces(problem, program);
        if (program.arcs.size() > 1000 && program.pieces.empty()) drop_crowd(problem, program, tied);
        program.positions = static_cast<std::uint32_t>(compress(program).size());
        if (program.positions) --program.positions;
        return base;
    }

    static double gain(const RoleProblem& problem, std::uint32_t r, std::uint32_t s) {
        return problem.allows(r, problem.null) ? problem.score(r, s) - problem.score(r, problem.null)
                                               : problem.score(r, s);
    }

    // Of one role's arcs: a span that contains another that scores no less is never needed.
    static void drop_containing(std::vector<Arc>& arcs) {
        if (arcs.size() < 2) return;
        // Inner spans come first: later starts, then earlier ends. best[e]: the best gain among those that end by e.
        std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
            if (a.from != b.from) return a.from > b.from;
            if (a.to != b.to) return a.to < b.to;
            return a.gain != b.gain ? a.gain > b.gain : a.source < b.source;
        });
        std::vector<std::pair<std::uint32_t, double>> best;  // ends ascending, gains ascending
        std::erase_if(arcs, [&](const Arc& arc) {
            auto place = std::upper_bound(best.begin(), best.end(), arc.to,
                                          [](std::uint32_t end, const auto& entry) { return end < entry.first; });
            if (place != best.begin() && std::prev(place)->second >= arc.gain) return true;
            auto last = place;
            while (last != best.end() && last->second <= arc.gain) ++last;
            if (place != best.begin() && std::prev(place)->first == arc.to) --place;
            place = best.erase(place, last);
            best.insert(place, {arc.to, arc.gain});
            return false;
        });
    }

    // Likewise of those in several pieces, where one piece contains a whole arc that scores no less.
    static void drop_containing(const RoleProblem& problem, const std::vector<Arc>& arcs, std::vector<Arc>& in_pieces) {
        std::erase_if(in_pieces, [&](const Arc& outer) {
            return std::any_of(arcs.begin(), arcs.end(), [&](const Arc& arc) {
                bool inside = false;
                problem.visit(outer.source, [&](std::uint32_t from, std::uint32_t to) {
                    inside = inside || (from <= arc.from && arc.to <= to);
                });
                return inside && arc.gain >= outer.gain;
            });
        });
    }

    // The pieces of the arcs that are left, so that a program without any can go to the scheduler.
    static void keep_pieces(const RoleProblem& problem, IntervalProgram& program) {
        if (problem.pieces.empty()) return;
        std::vector<std::uint8_t> used(problem.spans, 0);
        for (const Arc& arc : program.arcs) used[arc.source] = 1;
        for (const Piece& piece : problem.pieces)
            if (used[piece.source]) program.pieces.push_back(piece);
    }

    // No more than k spans fit side by side, so of the roles free of other constraints the k best on a span suffice:
    // when a lesser one takes it, one of those is idle and can take its place.
    static void drop_crowd(const RoleProblem& problem, IntervalProgram& program,
                           const std::vector<std::uint8_t>& tied) {
        std::vector<std::uint8_t> bound(tied);
        for (const auto& [a, b] : problem.excludes) bound[a] = bound[b] = 1;
        if (!program.mandatory.empty())
            for (std::uint32_t r = 0; r < problem.roles; ++r) bound[r] = bound[r] || program.mandatory[r];
        auto& arcs = program.arcs;
        std::sort(arcs.begin(), arcs.end(),
                  [](const Arc& a, const Arc& b) { return a.to != b.to ? a.to < b.to : a.from > b.from; });
        std::size_t side_by_side = 0;
        std::uint32_t reached = 0;
        for (const Arc& arc : arcs)
            if (arc.from >= reached) {
                ++side_by_side;
                reached = arc.to;
            }
        std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
            if (a.from != b.from) return a.from < b.from;
            if (a.to != b.to) return a.to < b.to;
            return a.gain != b.gain ? a.gain > b.gain : a.label < b.label;
        });
        std::size_t seen = 0;
        const Arc* previous = nullptr;
        std::vector<Arc> kept;
        for (const Arc& arc : arcs) {
            if (!previous || arc.from != previous->from || arc.to != previous->to) seen = 0;
            previous = &arc;
            if (bound[arc.label] || seen++ < side_by_side) kept.push_back(arc);
        }
        arcs.swap(kept);
    }

    void search(const RoleProblem& problem, std::int32_t* assignment, RoleAnswer& answer) {
        IntervalProgram program;
        const double base = state(problem, program);
        if (options_.method == RoleMethod::Relaxed) {
            relax(problem, program, base, assignment, answer);
            return;
        }
        ExactOptions options = options_.exact;
        options.direct = options_.method == RoleMethod::Exact;
        const Exact exact = solve_exactly(program, options, control_);
        answer.status = exact.status;
        answer.nodes = exact.nodes;
        answer.states = exact.states;
        answer.bound = exact.status == Status::Infeasible ? exact.bound : std::min(answer.bound, base + exact.bound);
        write(problem, program, exact.chosen, exact.found, assignment, answer);
    }

    static void write(const RoleProblem& problem, const IntervalProgram& program,
                      const std::vector<std::uint32_t>& chosen, bool found, std::int32_t* assignment,
                      RoleAnswer& answer) {
        std::fill(assignment, assignment + problem.roles, found ? static_cast<std::int32_t>(problem.null) : -1);
        for (const std::uint32_t j : chosen)
            assignment[program.arcs[j].label] = static_cast<std::int32_t>(program.arcs[j].source);
        if (found) return;
        answer.value = -std::numeric_limits<double>::infinity();
        answer.broken = {};
    }

    void relax(const RoleProblem& problem, const IntervalProgram& program, double base, std::int32_t* assignment,
               RoleAnswer& answer) {
        std::vector<std::uint32_t> arcs(program.arcs.size());
        std::iota(arcs.begin(), arcs.end(), 0U);
        const Graph graph = graph_of(program, arcs);
        SolveOptions options = options_.exact.search;
        options.exact = false;
        options.time_limit = options_.exact.time_limit;
        const Solved solved = Search(graph, options, control_).solve();
        answer.nodes = solved.nodes;
        answer.status = solved.status;
        if (solved.status == Status::Infeasible) {
            answer.bound = -std::numeric_limits<double>::infinity();
            write(problem, program, {}, false, assignment, answer);
            return;
        }
        answer.bound = std::min(answer.bound, base + solved.bound);
        round(problem, program, arcs, solved.posteriors, assignment);
    }

    // Each role takes the span with the largest share of it, as one does with a fractional solution.
    static void round(const RoleProblem& problem, const IntervalProgram& program,
                      const std::vector<std::uint32_t>& arcs, const std::vector<double>& posteriors,
                      std::int32_t* assignment) {
        std::vector<double> top(problem.roles, 0.0), absent(problem.roles, 1.0);
        std::fill(assignment, assignment + problem.roles, static_cast<std::int32_t>(problem.null));
        for (std::size_t i = 0; i < arcs.size(); ++i) {
            const Arc& arc = program.arcs[arcs[i]];
            absent[arc.label] -= posteriors[i];
            if (posteriors[i] > top[arc.label]) {
                top[arc.label] = posteriors[i];
                assignment[arc.label] = static_cast<std::int32_t>(arc.source);
            }
        }
        for (std::uint32_t r = 0; r < problem.roles; ++r)
            if (absent[r] >= top[r] && !program.must(r)) assignment[r] = static_cast<std::int32_t>(problem.null);
    }

    const RoleOptions options_;
    Control& control_;
    std::uint32_t overt_ = 0;
};

}  // namespace sapwood::decode
