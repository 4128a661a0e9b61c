// Graphs, roles and labels against enumeration; every solver must find the same optimum, and say so.
#include <random>

#include "check.hpp"
#include "decode/labels.hpp"
#include "decode/roles.hpp"

using namespace sapwood;
using namespace sapwood::decode;

namespace {

void expect(bool condition, const char* what, int round) {
    if (!CHECK(condition)) std::printf("    %s, round %d\n", what, round);
}

struct Dice {
    std::mt19937_64 random;
    std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random() % n); }
    bool chance(unsigned percent) { return random() % 100 < percent; }
    double score() { return static_cast<double>(below(6)) - 2.0; }
};

constexpr double kNone = -std::numeric_limits<double>::infinity();

void graphs(Dice& dice, Control& control, int round) {
    Graph graph;
    const std::uint32_t n = 1 + dice.below(9);
    for (std::uint32_t i = 0; i < n; ++i) graph.scores.push_back(dice.score());
    for (std::uint32_t f = dice.below(6); f > 0; --f) {
        const auto kind = static_cast<Kind>(dice.below(6));
        std::vector<Literal> literals;  // a variable may occur twice
        for (std::size_t k = kind == Kind::Pair ? 2 : 2 + dice.below(3); k > 0; --k)
            literals.push_back(dice.below(2 * n));
        graph.add(kind, literals, dice.below(3), kind == Kind::Pair ? dice.score() : 0.0);
    }
    double best = kNone;
    std::vector<std::uint8_t> assignment(n);
    for (unsigned bits = 0; bits < 1U << n; ++bits) {
        for (std::uint32_t i = 0; i < n; ++i) assignment[i] = bits >> i & 1U;
        if (is_feasible(graph, assignment.data())) best = std::max(best, value_of(graph, assignment.data()));
    }
    for (const bool caching : {true, false}) {
        SolveOptions options;
        options.relax.caching = caching;
        const Solved solved = Search(graph, options, control).solve();
        if (best == kNone) {
            expect(solved.status == Status::Infeasible, "graph: infeasible", round);
        } else {
            expect(solved.status == Status::Optimal && std::fabs(solved.value - best) < 1e-6, "graph: optimum", round);
            expect(is_feasible(graph, solved.assignment.data()), "graph: feasible", round);
        }
        options.exact = false;
        const Solved relaxed = Search(graph, options, control).solve();
        expect(best == kNone || relaxed.bound >= best - 1e-6, "graph: bound", round);
        options.subgradient = true;
        const Solved plain = Search(graph, options, control).solve();
        expect(best == kNone || plain.bound >= best - 1e-6, "graph: subgradient bound", round);
    }
}

void roles(Dice& dice, Control& control, int round) {
    RoleProblem problem;
    problem.roles = 1 + dice.below(4);
    problem.spans = 1 + dice.below(5);
    problem.null = dice.below(problem.spans);
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        problem.begin.push_back(dice.below(6));
        problem.end.push_back(problem.begin.back() + 1 + dice.below(3));
        for (std::uint32_t from = problem.end.back(); s != problem.null && dice.chance(25); ++from) {
            from += dice.below(3);
            problem.pieces.push_back({s, from, from + 1});
        }
    }
    for (std::uint32_t i = 0; i < problem.roles * problem.spans; ++i) problem.scores.push_back(dice.score());
    if (dice.chance(30))
        for (std::uint32_t i = 0; i < problem.roles * problem.spans; ++i) problem.allowed.push_back(dice.chance(70));
    for (std::uint32_t a = 0; a < problem.roles; ++a)
        for (std::uint32_t b = a + 1; b < problem.roles; ++b) {
            if (dice.chance(15)) problem.excludes.emplace_back(a, b);
            if (dice.chance(15)) problem.requires_.emplace_back(a, b);
        }
    double best = kNone;
    std::vector<std::int32_t> assignment(problem.roles, 0);
    for (bool more = true; more;) {
        if (violations(problem, assignment.data()).none())
            best = std::max(best, role_value(problem, assignment.data()));
        more = false;
        for (std::uint32_t r = 0; r < problem.roles && !more; ++r) {
            assignment[r] = (assignment[r] + 1) % static_cast<std::int32_t>(problem.spans);
            more = assignment[r] != 0;
        }
    }
    for (const auto method :
         {RoleMethod::Exact, RoleMethod::Branch, RoleMethod::Relaxed, RoleMethod::Beam, RoleMethod::Local})
        for (const std::size_t states : {std::size_t{1} << 20, std::size_t{1}}) {
            RoleOptions options;
            options.method = method;
            options.beam = 1 + dice.below(4);
            options.exact.schedule.states = states;
            RoleDecoder decoder(options, control);
            const RoleAnswer answer = decoder.decode(problem, assignment.data());
            if (method == RoleMethod::Exact || method == RoleMethod::Branch)
                expect(answer.status == (best == kNone ? Status::Infeasible : Status::Optimal), "roles: status", round);
            if (answer.status == Status::Optimal)
                expect(std::fabs(answer.value - best) < 1e-6, "roles: optimum", round);
            if (best != kNone) expect(answer.bound >= best - 1e-6, "roles: bound", round);
        }
}

void labels(Dice& dice, Control& control, int round) {
    LabelProblem problem;
    problem.spans = 1 + dice.below(5);
    problem.labels = 1 + dice.below(4);
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        problem.begin.push_back(dice.below(7));
        problem.end.push_back(problem.begin.back() + 1 + dice.below(3));
    }
    for (std::uint32_t i = 0; i < problem.spans * problem.labels; ++i) problem.scores.push_back(dice.score());
    if (dice.chance(30))
        for (std::uint32_t i = 0; i < problem.spans * problem.labels; ++i) problem.allowed.push_back(dice.chance(75));
    problem.unique.assign(problem.labels, 0);
    for (std::uint32_t a = 1; a < problem.labels; ++a) {
        problem.unique[a] = dice.chance(40);
        for (std::uint32_t b = 1; b < problem.labels; ++b) {
            if (a != b && dice.chance(15)) problem.implies.emplace_back(a, b);
            if (a != b && dice.chance(15)) problem.after.emplace_back(a, b);
        }
    }
    const auto obeys = [&](const std::vector<std::uint32_t>& chosen) {
        std::vector<std::uint32_t> count(problem.labels, 0);
        for (std::uint32_t s = 0; s < problem.spans; ++s) {
            if (!problem.allows(s, chosen[s])) return false;
            if (!chosen[s]) continue;
            if (count[chosen[s]]++ && problem.unique[chosen[s]]) return false;
            for (std::uint32_t t = 0; t < s; ++t)
                if (chosen[t] && problem.begin[s] < problem.end[t] && problem.begin[t] < problem.end[s]) return false;
        }
        for (const auto& [a, b] : problem.implies)
            if (count[a] && !count[b]) return false;
        for (const auto& [a, b] : problem.after)
            for (std::uint32_t s = 0; s < problem.spans; ++s) {
                if (chosen[s] != a) continue;
                bool earlier = false;
                for (std::uint32_t t = 0; t < problem.spans; ++t)
                    earlier = earlier || (chosen[t] == b && problem.end[t] <= problem.begin[s]);
                if (!earlier) return false;
            }
        return true;
    };
    double best = kNone;
    std::vector<std::uint32_t> chosen(problem.spans, 0);
    for (bool more = true; more;) {
        double value = 0.0;
        for (std::uint32_t s = 0; s < problem.spans; ++s) value += problem.score(s, chosen[s]);
        if (value > best && obeys(chosen)) best = value;
        more = false;
        for (std::uint32_t s = 0; s < problem.spans && !more; ++s) {
            chosen[s] = (chosen[s] + 1) % problem.labels;
            more = chosen[s] != 0;
        }
    }
    for (const bool direct : {true, false})
        for (const std::size_t states : {std::size_t{1} << 20, std::size_t{1}}) {
            ExactOptions options;
            options.direct = direct;
            options.schedule.states = states;
            const LabelAnswer answer = decode_labels(problem, options, control);
            expect(answer.status == (best == kNone ? Status::Infeasible : Status::Optimal), "labels: status", round);
            if (best == kNone) continue;
            expect(std::fabs(answer.value - best) < 1e-6, "labels: optimum", round);
            chosen.assign(answer.assignment.begin(), answer.assignment.end());
            expect(obeys(chosen), "labels: feasible", round);
        }
}

// Larger problems, where dynamic programming narrows, hands over and runs out of time.
void large(Dice& dice, Control& control, int round) {
    RoleProblem problem;
    problem.roles = 20 + dice.below(60);
    problem.null = 0;
    problem.begin.push_back(0);
    problem.end.push_back(0);
    for (std::uint32_t t = 0; t < 25; ++t)
        for (std::uint32_t length = 1; length < 4; ++length) {
            problem.begin.push_back(t);
            problem.end.push_back(t + length);
        }
    problem.spans = static_cast<std::uint32_t>(problem.begin.size());
    for (std::uint32_t i = 0; i < problem.roles * problem.spans; ++i)
        problem.scores.push_back(i % problem.spans ? dice.score() + 0.01 * dice.below(10) : -1.0);
    for (std::uint32_t a = 1; a < problem.roles; a += 3) problem.excludes.emplace_back(a - 1, a);
    problem.requires_.emplace_back(0, 2);
    std::vector<std::int32_t> assignment(problem.roles);
    double bound = std::numeric_limits<double>::infinity(), value = kNone;
    for (const std::size_t states : {std::size_t{1} << 14, std::size_t{100}}) {
        RoleOptions options;
        options.exact.schedule.states = states;
        options.exact.time_limit = 0.5;
        const RoleAnswer answer = RoleDecoder(options, control).decode(problem, assignment.data());
        expect(answer.status == Status::Optimal || answer.status == Status::Limit, "large: status", round);
        expect(violations(problem, assignment.data()).none(), "large: feasible", round);
        bound = std::min(bound, answer.bound);
        value = std::max(value, answer.value);
    }
    expect(value <= bound + 1e-6, "large: no value above a bound", round);
}

template <class Problem>
void repeat(int rounds, Problem problem) {
    Dice dice{std::mt19937_64(2012)};
    Control control;
    for (int round = 0; round < rounds; ++round) problem(dice, control, round);
}

TEST(graphs_agree_with_enumeration) { repeat(1500, graphs); }

TEST(roles_agree_with_enumeration) { repeat(1500, roles); }

TEST(labels_agree_with_enumeration) { repeat(1500, labels); }

TEST(large_problems_keep_their_bounds) { repeat(6, large); }

}  // namespace
