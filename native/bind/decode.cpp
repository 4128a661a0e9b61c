// Bindings of the decoder: factor graphs, roles and labels. Mistakes in the data come back as text for Python to raise.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "decode/labels.hpp"
#include "decode/roles.hpp"

namespace sapwood::bind {

using namespace sapwood::decode;

namespace {

using Flags = Input<std::uint8_t>;

std::string place(std::size_t row, std::size_t column) {
    return "[" + std::to_string(row) + ", " + std::to_string(column) + "]";
}

// Copies scores; text when one is not finite.
std::string read_scores(const InputMatrix<double>& array, std::vector<double>& scores) {
    const std::size_t columns = array.shape(1), count = array.shape(0) * columns;
    scores.assign(array.data(), array.data() + count);
    // A sum of differences is NaN or not zero only when something is not finite: one pass without branches.
    double probe = 0.0;
    for (const double score : scores) probe += score - score;
    if (probe == 0.0) return {};
    for (std::size_t i = 0; i < count; ++i)
        if (!std::isfinite(scores[i]))
            return "scores" + place(i / columns, i % columns) + " is " + (std::isnan(scores[i]) ? "NaN" : "infinite") +
                   ", but every score must be finite; to rule something out, pass allowed= with False there.";
    return {};
}

// What is wrong with a span of tokens, or nothing; `name` gives its own description.
template <typename Name>
std::string check_span(std::int64_t first, std::int64_t last, std::int64_t tokens, Name&& name) {
    constexpr std::int64_t kMost = 2'000'000'000;
    if (first < 0 || last < 0)
        return name() + ", but token numbers start at 0; only (-1, -1), the null span, is negative.";
    if (last < first)
        return name() + ", which ends before it starts; a span is (first token, last token), both included.";
    if (last >= (tokens >= 0 ? tokens : kMost))
        return name() + ", beyond the last token " + std::to_string((tokens >= 0 ? tokens : kMost) - 1) +
               "; check the span or tokens=.";
    return {};
}

std::string read_spans(const InputMatrix<std::int64_t>& array, std::int64_t tokens, std::optional<std::uint32_t>* null,
                       std::vector<std::uint32_t>& begin, std::vector<std::uint32_t>& end) {
    for (std::size_t s = 0; s < array.shape(0); ++s) {
        const std::int64_t first = array(s, 0), last = array(s, 1);
        const auto name = [&] { return "spans[" + std::to_string(s) + "]"; };
        if (first == -1 && last == -1) {
            if (!null)
                return name() + " is the null span (-1, -1), which has no place here; leave it out: label 0 is NONE.";
            if (null->has_value())
                return name() + " is a second null span (-1, -1) beside spans[" + std::to_string(**null) +
                       "]; keep one of them.";
            *null = static_cast<std::uint32_t>(s);
            begin.push_back(0);
            end.push_back(0);
            continue;
        }
        const auto text = [&] { return name() + " is (" + std::to_string(first) + ", " + std::to_string(last) + ")"; };
        if (std::string fault = check_span(first, last, tokens, text); !fault.empty()) return fault;
        begin.push_back(static_cast<std::uint32_t>(first));
        end.push_back(static_cast<std::uint32_t>(last + 1));
    }
    return {};
}

std::string read_pieces(const InputMatrix<std::int64_t>& array, std::int64_t tokens, RoleProblem& problem) {
    for (std::size_t i = 0; i < array.shape(0); ++i) {
        const std::int64_t span = array(i, 0), first = array(i, 1), last = array(i, 2);
        const auto text = [&] {
            return "pieces[" + std::to_string(i) + "] is (" + std::to_string(span) + ", " + std::to_string(first) +
                   ", " + std::to_string(last) + ")";
        };
        if (span < 0 || span >= std::int64_t{problem.spans})
            return text() + ", but there are " + std::to_string(problem.spans) + " spans, numbered from 0.";
        if (span == std::int64_t{problem.null}) return text() + ", but the null span has no pieces; remove it.";
        if (std::string fault = check_span(first, last, tokens, text); !fault.empty()) return fault;
        const auto from = static_cast<std::uint32_t>(first), to = static_cast<std::uint32_t>(last + 1);
        problem.pieces.push_back({static_cast<std::uint32_t>(span), from, to});
    }
    auto& pieces = problem.pieces;
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
        return a.source != b.source ? a.source < b.source : a.from < b.from;
    });
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Piece& one = pieces[i];
        const bool next = i + 1 < pieces.size() && pieces[i + 1].source == one.source && pieces[i + 1].from < one.to;
        if (next || (one.from < problem.end[one.source] && problem.begin[one.source] < one.to))
            return "pieces of spans[" + std::to_string(one.source) + "] share the token " +
                   std::to_string(next ? pieces[i + 1].from : std::max(one.from, problem.begin[one.source])) +
                   "; the pieces of one span must not overlap.";
    }
    return {};
}

std::string read_pairs(const InputMatrix<std::int64_t>& array, const char* name, const char* what, std::size_t count,
                       bool symmetric, std::vector<LabelPair>& pairs) {
    for (std::size_t i = 0; i < array.shape(0); ++i) {
        std::int64_t a = array(i, 0), b = array(i, 1);
        const auto text = [&] {
            return std::string(name) + "[" + std::to_string(i) + "] is (" + std::to_string(a) + ", " +
                   std::to_string(b) + ")";
        };
        const auto limit = static_cast<std::int64_t>(count);
        if (a < 0 || b < 0 || a >= limit || b >= limit)
            return text() + ", but there are " + std::to_string(count) + " " + what + "s, numbered from 0.";
        if (a == b) return text() + ": a " + what + " cannot stand in this relation to itself; remove the pair.";
        if (symmetric && a > b) std::swap(a, b);
        pairs.emplace_back(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return {};
}

std::variant<RoleProblem, std::string> make_roles(InputMatrix<double> scores, InputMatrix<std::int64_t> spans,
                                                  InputMatrix<std::int64_t> excludes,
                                                  InputMatrix<std::int64_t> requires_,
                                                  std::optional<InputMatrix<std::uint8_t>> allowed, std::int64_t tokens,
                                                  InputMatrix<std::int64_t> pieces) {
    RoleProblem problem;
    problem.roles = static_cast<std::uint32_t>(scores.shape(0));
    problem.spans = static_cast<std::uint32_t>(spans.shape(0));
    std::optional<std::uint32_t> null;
    std::string fault = read_spans(spans, tokens, &null, problem.begin, problem.end);
    if (fault.empty() && !null)
        fault =
            "spans has no null span: add (-1, -1) and a column of scores for it, the score of leaving a role unfilled.";
    if (fault.empty() && scores.shape(1) != spans.shape(0))
        fault = "scores has " + std::to_string(scores.shape(1)) + " columns for " + std::to_string(spans.shape(0)) +
                " spans; pass one row per role and one column per span.";
    if (fault.empty()) fault = read_scores(scores, problem.scores);
    if (fault.empty()) fault = read_pairs(excludes, "excludes", "role", problem.roles, true, problem.excludes);
    if (fault.empty()) fault = read_pairs(requires_, "requires", "role", problem.roles, true, problem.requires_);
    if (!fault.empty()) return fault;
    problem.null = *null;
    fault = read_pieces(pieces, tokens, problem);
    if (!fault.empty()) return fault;
    if (allowed) problem.allowed.assign(allowed->data(), allowed->data() + allowed->shape(0) * allowed->shape(1));
    return problem;
}

auto flat(const std::vector<LabelPair>& pairs) {
    std::vector<std::int64_t> numbers;
    for (const auto& [a, b] : pairs) {
        numbers.push_back(a);
        numbers.push_back(b);
    }
    return to_numpy(std::move(numbers));
}

const char* kStatus[] = {"optimal", "fractional", "limit", "infeasible"};

// Work that is almost always short runs in place until `grace` is over; only then is a watched thread worth its start.
constexpr double kGrace = 0.02;

auto decode_roles(nb::typed<nb::list, RoleProblem> handles, unsigned method, std::size_t beam, double time_limit,
                  std::size_t max_nodes, std::size_t states, bool caching, std::size_t threads, Progress progress) {
    std::vector<const RoleProblem*> problems;
    problems.reserve(nb::len(handles));
    std::vector<std::uint64_t> first{0};
    std::size_t work = 0;
    for (nb::handle handle : handles) {
        problems.push_back(nb::cast<const RoleProblem*>(handle));
        first.push_back(first.back() + problems.back()->roles);
        work += problems.back()->scores.size();
    }
    RoleOptions options;
    options.method = static_cast<RoleMethod>(method);
    options.beam = beam;
    options.exact.time_limit = time_limit;
    options.exact.search.max_nodes = max_nodes;
    options.exact.search.relax.caching = caching;
    options.exact.schedule.states = states;
    const std::size_t n = problems.size();
    std::vector<std::int32_t> assignment(first.back(), -1);
    std::vector<double> values(n), bounds(n);
    std::vector<std::uint8_t> status(n);
    std::vector<std::uint32_t> broken(4 * n);
    std::vector<std::uint64_t> nodes(n), dp_states(n);
    const auto store = [&](std::size_t i, const RoleAnswer& answer) {
        values[i] = answer.value;
        bounds[i] = answer.bound;
        status[i] = static_cast<std::uint8_t>(answer.status);
        broken[4 * i] = answer.broken.overlap;
        broken[4 * i + 1] = answer.broken.excludes;
        broken[4 * i + 2] = answer.broken.requires_;
        broken[4 * i + 3] = answer.broken.allowed;
        nodes[i] = answer.nodes;
        dp_states[i] = answer.states;
    };
    const bool searching = options.method != RoleMethod::Local;
    bool done = false;
    if (!searching || (n == 1 && work < 20'000 && options.method != RoleMethod::Beam)) {
        nb::gil_scoped_release release;
        Control control;
        RoleOptions quick = options;
        quick.exact.time_limit = std::min(time_limit, kGrace);
        RoleDecoder decoder(quick, control);
        done = true;
        for (std::size_t i = 0; i < n; ++i) {
            const RoleAnswer answer = decoder.decode(*problems[i], assignment.data() + first[i]);
            store(i, answer);
            if (searching && answer.status == Status::Limit && time_limit > kGrace) done = false;
        }
    }
    if (!done) {
        run_interruptible(false, progress, [&](Control& control) {
            parallel_blocks(n, 16, threads, control, [&] {
                return [&, decoder = RoleDecoder(options, control)](std::size_t begin, std::size_t end) mutable {
                    for (std::size_t i = begin; i < end; ++i)
                        store(i, decoder.decode(*problems[i], assignment.data() + first[i]));
                };
            });
        });
    }
    return std::make_tuple(to_numpy(std::move(values)), to_numpy(std::move(bounds)), to_numpy(std::move(status)),
                           to_numpy(std::move(assignment)), to_numpy(std::move(first)), to_numpy(std::move(broken)),
                           to_numpy(std::move(nodes)), to_numpy(std::move(dp_states)));
}

using LabelResult = std::tuple<double, double, unsigned, Result<std::int32_t>, std::size_t, std::size_t>;

std::variant<LabelResult, std::string> decode_labels_bound(InputMatrix<double> scores, InputMatrix<std::int64_t> spans,
                                                           Flags unique, InputMatrix<std::int64_t> implies,
                                                           InputMatrix<std::int64_t> after,
                                                           std::optional<InputMatrix<std::uint8_t>> allowed,
                                                           std::int64_t tokens, bool direct, double time_limit,
                                                           std::size_t max_nodes, std::size_t states) {
    LabelProblem problem;
    problem.spans = static_cast<std::uint32_t>(spans.shape(0));
    problem.labels = static_cast<std::uint32_t>(scores.shape(1));
    std::string fault = read_spans(spans, tokens, nullptr, problem.begin, problem.end);
    if (fault.empty()) fault = read_scores(scores, problem.scores);
    if (fault.empty()) fault = read_pairs(implies, "implies", "label", problem.labels, false, problem.implies);
    if (fault.empty()) fault = read_pairs(after, "after", "label", problem.labels, false, problem.after);
    if (!fault.empty()) return fault;
    problem.unique.assign(unique.data(), unique.data() + unique.shape(0));
    if (allowed) problem.allowed.assign(allowed->data(), allowed->data() + allowed->shape(0) * allowed->shape(1));
    ExactOptions options;
    options.direct = direct;
    options.search.max_nodes = max_nodes;
    options.schedule.states = states;
    LabelAnswer answer;
    options.time_limit = std::min(time_limit, kGrace);
    if (problem.scores.size() < 20'000) {
        nb::gil_scoped_release release;
        Control control;
        answer = decode_labels(problem, options, control);
    } else {
        answer.status = Status::Limit;
    }
    if (answer.status == Status::Limit && (time_limit > kGrace || problem.scores.size() >= 20'000)) {
        options.time_limit = time_limit;
        run_interruptible(false, nb::none(),
                          [&](Control& control) { answer = decode_labels(problem, options, control); });
    }
    return LabelResult(answer.value, answer.bound, static_cast<unsigned>(answer.status),
                       to_numpy(std::move(answer.assignment)), answer.nodes, answer.states);
}

struct GraphHandle {
    Graph graph;
};

GraphHandle make_graph(Values scores, Flags kinds, Numbers limits, Values weights, Offsets first, Numbers links) {
    GraphHandle handle;
    Graph& graph = handle.graph;
    graph.scores.assign(scores.data(), scores.data() + scores.shape(0));
    const std::size_t factors = kinds.shape(0);
    if (limits.shape(0) != factors || weights.shape(0) != factors || first.shape(0) != factors + 1 ||
        view(first)[0] != 0 || view(first)[factors] != links.shape(0))
        throw nb::value_error("factor tables differ in length");
    for (std::size_t f = 0; f < factors; ++f) {
        if (view(kinds)[f] > static_cast<std::uint8_t>(Kind::Pair)) throw nb::value_error("no such kind of factor");
        if (view(first)[f + 1] < view(first)[f]) throw nb::value_error("factors are out of order");
        graph.kinds.push_back(static_cast<Kind>(view(kinds)[f]));
    }
    graph.limits.assign(limits.data(), limits.data() + factors);
    graph.weights.assign(weights.data(), weights.data() + factors);
    graph.first.assign(first.data(), first.data() + factors + 1);
    graph.links.assign(links.data(), links.data() + links.shape(0));
    for (const Literal literal : graph.links)
        if (variable_of(literal) >= graph.variables()) throw nb::value_error("a literal names no variable");
    return handle;
}

auto solve_graph(const GraphHandle& handle, bool exact, bool subgradient, double time_limit, std::size_t max_nodes,
                 std::size_t iterations, double penalty, double tolerance, double residual, bool caching, bool trace,
                 std::optional<Values> warm_shares, std::optional<Flags> warm_assignment) {
    SolveOptions options;
    options.exact = exact;
    options.subgradient = subgradient;
    options.time_limit = time_limit;
    options.max_nodes = max_nodes;
    options.relax.iterations = iterations;
    options.relax.penalty = penalty;
    options.relax.tolerance = tolerance;
    options.relax.residual = residual;
    options.relax.caching = caching;
    Trace record;
    Solved solved;
    const std::span<const double> shares = warm_shares ? view(*warm_shares) : std::span<const double>{};
    const std::uint8_t* known = nullptr;
    if (warm_assignment && warm_assignment->shape(0) == handle.graph.variables()) known = warm_assignment->data();
    run_interruptible(false, nb::none(), [&](Control& control) {
        Search search(handle.graph, options, control, trace ? &record : nullptr);
        if (known) search.suggest(known);
        solved = search.solve(shares);
    });
    return std::make_tuple(solved.value, solved.bound, static_cast<unsigned>(solved.status), solved.iterations,
                           solved.nodes, solved.projections, to_numpy(std::move(solved.assignment)),
                           to_numpy(std::move(solved.posteriors)), to_numpy(std::move(solved.theta)),
                           to_numpy(std::move(record.primal)), to_numpy(std::move(record.dual)));
}

auto project_factor(unsigned kind, Values point, std::size_t limit, double score) {
    std::vector<double> values(point.data(), point.data() + point.shape(0));
    Scratch scratch;
    project(static_cast<Kind>(kind), values.data(), values.size(), limit, score, scratch);
    return to_numpy(std::move(values));
}

}  // namespace

void register_decode(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("decode", "Exact decoding under constraints.");
    module.attr("STATUS") = nb::make_tuple(kStatus[0], kStatus[1], kStatus[2], kStatus[3]);
    nb::class_<RoleProblem>(module, "RoleProblem")
        .def_ro("roles", &RoleProblem::roles)
        .def_ro("null", &RoleProblem::null)
        .def_ro("span_count", &RoleProblem::spans)
        .def_prop_ro(
            "scores", [](const RoleProblem& problem) { return to_numpy(std::vector<double>(problem.scores)); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "allowed", [](const RoleProblem& problem) { return to_numpy(std::vector<std::uint8_t>(problem.allowed)); },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "excludes", [](const RoleProblem& problem) { return flat(problem.excludes); }, nb::rv_policy::automatic)
        .def_prop_ro(
            "requires", [](const RoleProblem& problem) { return flat(problem.requires_); }, nb::rv_policy::automatic)
        .def_prop_ro(
            "spans",
            [](const RoleProblem& problem) {
                std::vector<std::int64_t> spans;
                for (std::uint32_t s = 0; s < problem.spans; ++s) {
                    spans.push_back(s == problem.null ? -1 : std::int64_t{problem.begin[s]});
                    spans.push_back(s == problem.null ? -1 : std::int64_t{problem.end[s]} - 1);
                }
                return to_numpy(std::move(spans));
            },
            nb::rv_policy::automatic)
        .def_prop_ro(
            "pieces",
            [](const RoleProblem& problem) {
                std::vector<std::int64_t> pieces;
                for (const Piece& piece : problem.pieces)
                    pieces.insert(pieces.end(), {piece.source, piece.from, std::int64_t{piece.to} - 1});
                return to_numpy(std::move(pieces));
            },
            nb::rv_policy::automatic);
    module.def("make_roles", &make_roles, nb::arg("scores").noconvert(), nb::arg("spans").noconvert(),
               nb::arg("excludes").noconvert(), nb::arg("requires").noconvert(), nb::arg("allowed").noconvert().none(),
               nb::arg("tokens"), nb::arg("pieces").noconvert());
    module.def("decode_roles", &decode_roles, nb::arg("problems"), nb::arg("method"), nb::arg("beam"),
               nb::arg("time_limit"), nb::arg("max_nodes"), nb::arg("states"), nb::arg("caching"), nb::arg("threads"),
               nb::arg("progress").none());
    module.def("decode_labels", &decode_labels_bound, nb::arg("scores").noconvert(), nb::arg("spans").noconvert(),
               nb::arg("unique").noconvert(), nb::arg("implies").noconvert(), nb::arg("after").noconvert(),
               nb::arg("allowed").noconvert().none(), nb::arg("tokens"), nb::arg("direct"), nb::arg("time_limit"),
               nb::arg("max_nodes"), nb::arg("states"));
    nb::class_<GraphHandle>(module, "Graph");
    module.def("make_graph", &make_graph, nb::arg("scores").noconvert(), nb::arg("kinds").noconvert(),
               nb::arg("limits").noconvert(), nb::arg("weights").noconvert(), nb::arg("first").noconvert(),
               nb::arg("links").noconvert());
    module.def("solve_graph", &solve_graph, nb::arg("graph"), nb::arg("exact"), nb::arg("subgradient"),
               nb::arg("time_limit"), nb::arg("max_nodes"), nb::arg("iterations"), nb::arg("penalty"),
               nb::arg("tolerance"), nb::arg("residual"), nb::arg("caching"), nb::arg("trace"),
               nb::arg("warm_shares").noconvert().none(), nb::arg("warm_assignment").noconvert().none());
    module.def("project_factor", &project_factor, nb::arg("kind"), nb::arg("point").noconvert(), nb::arg("limit"),
               nb::arg("score"));
}

}  // namespace sapwood::bind
