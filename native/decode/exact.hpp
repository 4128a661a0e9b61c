// Exact answers to interval programs, whatever their size: the scheduler first, branch and bound where it gives up, and
// at once where arcs have several pieces.
#pragma once

#include "decode/scheduling.hpp"

namespace sapwood::decode {

struct ExactOptions {
    bool direct = true;  // false: branch and bound alone
    double time_limit = std::numeric_limits<double>::infinity();
    SolveOptions search;
    ScheduleLimits schedule;
};

struct Exact {
    Status status = Status::Limit;
    bool found = false;
    double value = -std::numeric_limits<double>::infinity();
    double bound = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> chosen;  // arc numbers
    std::size_t nodes = 0, states = 0;  // of branch and bound, of dynamic programming
};

inline Exact solve_exactly(const IntervalProgram& program, const ExactOptions& options, Control& control) {
    const Deadline deadline = deadline_in(options.time_limit);
    Exact result;
    std::vector<std::uint32_t> arcs;
    if (options.direct && program.pieces.empty()) {
        Scheduler scheduler(program, options.schedule, deadline, control);
        Schedule schedule = scheduler.solve();
        result.found = schedule.found;
        result.value = schedule.value;
        result.bound = schedule.bound;
        result.chosen = std::move(schedule.chosen);
        result.states = schedule.states;
        if (schedule.end == Schedule::End::Optimal) result.status = Status::Optimal;
        if (schedule.end == Schedule::End::Infeasible) result.status = Status::Infeasible;
        if (schedule.end != Schedule::End::TooLarge) return result;
        arcs = scheduler.alive();
    } else {
        arcs.resize(program.arcs.size());
        std::iota(arcs.begin(), arcs.end(), 0U);
    }
    // The search sees only arcs that can beat what is known, and looks only for something better.
    const Graph graph = graph_of(program, arcs);
    SolveOptions search_options = options.search;
    search_options.cutoff = result.value;
    if (deadline)
        search_options.time_limit = std::max(0.0, std::chrono::duration<double>(*deadline - Clock::now()).count());
    Search search(graph, search_options, control);
    const Solved solved = search.solve();
    result.nodes = solved.nodes;
    result.status = solved.status;
    result.bound = std::min(result.bound, std::max(solved.bound, result.value));
    if (solved.found && (!result.found || solved.value > result.value)) {
        result.found = true;
        result.value = solved.value;
        result.chosen.clear();
        for (std::size_t i = 0; i < arcs.size(); ++i)
            if (solved.assignment[i]) result.chosen.push_back(arcs[i]);
    }
    if (solved.status == Status::Infeasible) {
        result.status = result.found ? Status::Optimal : Status::Infeasible;
        result.bound = result.value;
    }
    return result;
}

}  // namespace sapwood::decode
