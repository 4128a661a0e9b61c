// Arbitrary problems through every solver: graphs, roles and labels of a few variables, with scores from zero to the
// largest there are.
//
// The bytes choose the problem. Whatever the solvers call optimal must break no constraint, and for ordinary scores no
// other way to decode may find anything better. Time limits must hold; the sanitizers watch for everything else.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "decode/labels.hpp"
#include "decode/roles.hpp"

using namespace sapwood;
using namespace sapwood::decode;

namespace {

void require(bool promise) {
    if (!promise) std::abort();
}

// Reads choices off the input; an input that is used up chooses zero.
struct Choices {
    const std::uint8_t* at;
    const std::uint8_t* end;
    bool tame = true;  // whether every score so far is one that sums exactly

    std::uint8_t byte() { return at < end ? *at++ : 0; }
    std::uint32_t below(std::uint32_t n) { return byte() % n; }
    bool chance(unsigned percent) { return byte() % 100 < percent; }
    double score() {
        const std::uint8_t b = byte();
        static constexpr double kOdd[] = {1e308, -1e308, 1.7e308, 5e-324, -5e-324, 1e-300, 1e17, -1e17};
        if (b < 248) return (static_cast<int>(b) - 124) / 8.0;
        tame = false;
        return kOdd[b - 248];
    }
};

constexpr double kLimit = 0.01;

void graphs(Choices& choices, Control& control) {
    Graph graph;
    const std::uint32_t n = 1 + choices.below(12);
    for (std::uint32_t i = 0; i < n; ++i) graph.scores.push_back(choices.score());
    for (std::uint32_t f = choices.below(10); f > 0; --f) {
        const auto kind = static_cast<Kind>(choices.below(6));
        std::vector<Literal> literals;  // a variable may occur twice, or nothing at all
        for (std::size_t k = kind == Kind::Pair ? 2 : choices.below(6); k > 0; --k)
            literals.push_back(choices.below(2 * n));
        // What validation adds for factors with a result: the result itself.
        if (kind == Kind::OrOut && literals.empty()) literals.push_back(0);
        graph.add(kind, literals, choices.below(4), kind == Kind::Pair ? choices.score() : 0.0);
    }
    SolveOptions options;
    options.relax.caching = choices.chance(50);
    options.time_limit = kLimit;
    options.max_nodes = 30;
    options.relax.iterations = 100;
    const Solved solved = Search(graph, options, control).solve();
    if (solved.found) require(is_feasible(graph, solved.assignment.data()));
    options.exact = false;
    options.subgradient = choices.chance(30);
    const Solved relaxed = Search(graph, options, control).solve();
    if (relaxed.found) require(is_feasible(graph, relaxed.assignment.data()));
    if (choices.tame && solved.found) require(relaxed.bound >= solved.value - 1e-4);
    if (choices.tame && solved.status == Status::Optimal && relaxed.found)
        require(relaxed.value <= solved.value + 1e-4);
}

void roles(Choices& choices, Control& control) {
    RoleProblem problem;
    problem.roles = choices.below(9);
    problem.spans = 1 + choices.below(12);
    problem.null = choices.below(problem.spans);
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        const std::uint32_t far = choices.chance(5) ? 1'999'999'000 : 0;
        problem.begin.push_back(s == problem.null ? 0 : far + choices.below(16));
        problem.end.push_back(s == problem.null ? 0 : problem.begin.back() + 1 + choices.below(6));
        for (std::uint32_t from = problem.end.back(); s != problem.null && choices.chance(20); ++from) {
            from += choices.below(6);
            problem.pieces.push_back({s, from, from + 1});
        }
    }
    for (std::uint32_t i = 0; i < problem.roles * problem.spans; ++i) problem.scores.push_back(choices.score());
    if (choices.chance(30))
        for (std::uint32_t i = 0; i < problem.roles * problem.spans; ++i) problem.allowed.push_back(choices.chance(70));
    for (std::uint32_t a = 0; a < problem.roles; ++a)
        for (std::uint32_t b = a + 1; b < problem.roles; ++b) {
            const std::uint32_t kind = choices.below(6);
            if (kind == 1 || kind == 3) problem.excludes.emplace_back(a, b);
            if (kind == 2 || kind == 3) problem.requires_.emplace_back(a, b);
        }
    std::vector<std::int32_t> assignment(problem.roles);
    double best = -std::numeric_limits<double>::infinity(), bound = std::numeric_limits<double>::infinity();
    bool proven = false;
    for (const auto method :
         {RoleMethod::Exact, RoleMethod::Branch, RoleMethod::Relaxed, RoleMethod::Beam, RoleMethod::Local}) {
        RoleOptions options;
        options.method = method;
        options.beam = 1 + choices.below(6);
        options.exact.time_limit = kLimit;
        options.exact.search.max_nodes = 30;
        options.exact.schedule.states = choices.chance(50) ? 1U << 12 : 1U;
        const RoleAnswer answer = RoleDecoder(options, control).decode(problem, assignment.data());
        for (const std::int32_t span : assignment)
            require(span >= -1 && span < static_cast<std::int32_t>(problem.spans));
        const bool complete =
            std::none_of(assignment.begin(), assignment.end(), [](std::int32_t span) { return span < 0; });
        if (answer.status == Status::Optimal) {
            require(complete && violations(problem, assignment.data()).none());
            proven = true;
        }
        if (complete && violations(problem, assignment.data()).none())
            best = std::max(best, role_value(problem, assignment.data()));
        if (answer.status == Status::Optimal) bound = std::min(bound, role_value(problem, assignment.data()));
    }
    if (choices.tame && proven) require(best <= bound + 1e-4);
}

void labels(Choices& choices, Control& control) {
    LabelProblem problem;
    problem.spans = choices.below(10);
    problem.labels = 1 + choices.below(6);
    for (std::uint32_t s = 0; s < problem.spans; ++s) {
        problem.begin.push_back(choices.below(16));
        problem.end.push_back(problem.begin.back() + 1 + choices.below(6));
    }
    for (std::uint32_t i = 0; i < problem.spans * problem.labels; ++i) problem.scores.push_back(choices.score());
    if (choices.chance(30))
        for (std::uint32_t i = 0; i < problem.spans * problem.labels; ++i)
            problem.allowed.push_back(choices.chance(75));
    problem.unique.assign(problem.labels, 0);
    for (std::uint32_t a = 1; a < problem.labels; ++a) {
        problem.unique[a] = choices.chance(40);
        for (std::uint32_t b = 1; b < problem.labels; ++b) {
            if (a != b && choices.chance(15)) problem.implies.emplace_back(a, b);
            if (a != b && choices.chance(15)) problem.after.emplace_back(a, b);
        }
    }
    double values[2] = {};
    bool proven[2] = {};
    for (const bool direct : {true, false}) {
        ExactOptions options;
        options.direct = direct;
        options.time_limit = kLimit;
        options.search.max_nodes = 30;
        options.schedule.states = choices.chance(50) ? 1U << 12 : 1U;
        const LabelAnswer answer = decode_labels(problem, options, control);
        require(answer.assignment.empty() || answer.assignment.size() == problem.spans);
        for (const std::int32_t label : answer.assignment)
            require(label >= 0 && label < static_cast<std::int32_t>(problem.labels));
        values[direct] = answer.value;
        proven[direct] = answer.status == Status::Optimal;
    }
    if (choices.tame && proven[0] && proven[1]) require(std::fabs(values[0] - values[1]) < 1e-4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    Choices choices{data + 1, data + size};
    Control control;
    switch (data[0] % 3) {
        case 0:
            graphs(choices, control);
            break;
        case 1:
            roles(choices, control);
            break;
        default:
            labels(choices, control);
    }
    return 0;
}
