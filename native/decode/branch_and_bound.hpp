// Exact search over a factor graph: best-bound branch and bound, with the relaxation of decode/ad3.hpp at every node.
//
// Nodes wait in a queue ordered by their upper bound, so the first bound in the queue is the bound of the whole search.
// A node is a chain of decisions (no depth limit, no recursion); its consequences are propagated and the rest of the
// graph is cut down before it is relaxed, starting from the shares that its parent ended with.
#pragma once

#include <memory>
#include <queue>

#include "decode/ad3.hpp"

namespace sapwood::decode {

enum class Status : std::uint8_t { Optimal, Fractional, Limit, Infeasible };

struct SolveOptions {
    bool exact = true;
    RelaxOptions relax;
    std::size_t node_iterations = 160;  // rounds per node when searching: a bound need not converge to be useful
    double time_limit = std::numeric_limits<double>::infinity();
    std::size_t max_nodes = std::numeric_limits<std::size_t>::max();
    bool subgradient = false;
    double cutoff = -std::numeric_limits<double>::infinity();  // only assignments worth more than this are looked for
};

struct Solved {
    Status status = Status::Infeasible;
    double value = -std::numeric_limits<double>::infinity();
    double bound = std::numeric_limits<double>::infinity();
    std::size_t iterations = 0, projections = 0, nodes = 0;
    bool found = false;
    std::vector<std::uint8_t> assignment;
    std::vector<double> posteriors;  // the relaxation's consensus at the root, or the assignment
    std::vector<double> theta;       // the shares at the root, for a warm start
};

class Search {
  public:
    Search(const Graph& graph, const SolveOptions& options, Control& control, Trace* trace = nullptr)
        : graph_(graph),
          incidence_(graph),
          options_(options),
          control_(control),
          trace_(trace),
          deadline_(deadline_in(options.time_limit)),
          state_(graph, incidence_) {}

    // A feasible assignment known beforehand; ignored when it is not feasible.
    void suggest(const std::uint8_t* assignment) {
        if (is_feasible(graph_, assignment)) offer(assignment);
    }

    Solved solve(std::span<const double> warm_theta = {}) {
        if (!state_.start()) {
            result_.status = Status::Infeasible;
            result_.bound = -std::numeric_limits<double>::infinity();
            return std::move(result_);
        }
        root_mark_ = state_.mark();
        result_.theta.assign(graph_.links.size(), 0.0);
        const bool warm = warm_theta.size() == graph_.links.size() && !warm_theta.empty();
        if (warm) std::copy(warm_theta.begin(), warm_theta.end(), result_.theta.begin());
        if (options_.exact && !options_.subgradient)
            branch_and_bound(warm);
        else
            relax_once(warm);
        return std::move(result_);
    }

  private:
    struct Node {
        double bound;
        std::size_t order;  // among equal bounds the newest first: that is the deepest
        std::size_t decision;
        std::shared_ptr<const std::vector<double>> theta;
        bool operator<(const Node& other) const {
            return bound != other.bound ? bound < other.bound : order < other.order;
        }
    };
    struct Decision {
        std::size_t parent;
        std::uint32_t variable;
        bool value;
    };
    static constexpr std::size_t kRoot = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kSharesKept = std::size_t{1} << 25;  // 256 MB of them

    double gap(double at) const { return options_.relax.tolerance * std::max(1.0, std::fabs(at)); }
    double target() const {
        const double known = !result_.found ? options_.cutoff : std::max(result_.value, options_.cutoff);
        return known > -std::numeric_limits<double>::infinity() ? known + gap(known) : known;
    }

    void offer(const std::uint8_t* assignment) {
        const double value = value_of(graph_, assignment);
        if (result_.found && value <= result_.value) return;
        result_.found = true;
        result_.value = value;
        result_.assignment.assign(assignment, assignment + graph_.variables());
    }

    // A relaxation's rounding, completed by the decisions it was made under.
    void offer(const Reduced& reduced, const std::vector<std::uint8_t>& part) {
        if (part.empty() && !reduced.variables.empty()) return;
        full_ = state_.values;
        for (std::size_t i = 0; i < part.size(); ++i) full_[reduced.variables[i]] = part[i];
        if (is_feasible(graph_, full_.data())) offer(full_.data());
    }

    void warm_up(Relaxation& relaxation, const Reduced& reduced, const std::vector<double>& theta) const {
        for (std::size_t l = 0; l < reduced.links.size(); ++l) relaxation.theta[l] = theta[reduced.links[l]];
        relaxation.share();
    }

    // Decides variable after variable, surest first, keeping whatever follows; a conflict flips the decision once.
    void dive(const Reduced& reduced, const std::vector<double>& u) {
        const std::size_t mark = state_.mark();
        order_.resize(u.size());
        for (std::uint32_t i = 0; i < u.size(); ++i) order_[i] = i;
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            if (u[a] != u[b]) return u[a] > u[b];
            const double first = reduced.graph.scores[a], second = reduced.graph.scores[b];
            return first != second ? first > second : a < b;
        });
        bool fine = true;
        for (const std::uint32_t i : order_) {
            const std::uint32_t variable = reduced.variables[i];
            if (state_.values[variable] != kOpen) continue;
            const bool wish = u[i] > 0.5 || (u[i] > 1e-3 && reduced.graph.scores[i] > 0.0);
            const std::size_t here = state_.mark();
            if (state_.assign(variable, wish)) continue;
            state_.undo(here);
            if (!state_.assign(variable, !wish)) {
                fine = false;
                break;
            }
        }
        if (fine && is_feasible(graph_, state_.values.data())) offer(state_.values.data());
        state_.undo(mark);
    }

    void relax_once(bool warm) {
        const Reduced reduced = reduce(graph_, state_.values.data());
        const Incidence incidence(reduced.graph);
        Relaxation relaxation(reduced.graph, incidence, options_.relax, reduced.constant);
        if (warm) warm_up(relaxation, reduced, result_.theta);
        const double none = -std::numeric_limits<double>::infinity();
        const RelaxEnd end = options_.subgradient ? relaxation.run_subgradient(none, deadline_, control_, trace_)
                                                  : relaxation.run(none, deadline_, control_, trace_);
        keep_root(reduced, relaxation);
        offer(reduced, relaxation.assignment);
        dive(reduced, relaxation.u);
        result_.nodes = 1;
        result_.bound = relaxation.bound;
        result_.iterations = relaxation.iterations;
        result_.projections = relaxation.projections;
        if (relaxation.infeasible) {
            result_.status = Status::Infeasible;
            result_.bound = none;
        } else if (result_.found && result_.bound - result_.value <= gap(result_.value)) {
            result_.status = Status::Optimal;
            result_.posteriors.assign(result_.assignment.begin(), result_.assignment.end());
        } else {
            result_.status = end == RelaxEnd::Converged ? Status::Fractional : Status::Limit;
        }
    }

    void keep_root(const Reduced& reduced, const Relaxation& relaxation) {
        result_.posteriors.assign(graph_.variables(), 0.0);
        for (std::size_t i = 0; i < graph_.variables(); ++i)
            if (state_.values[i] != kOpen) result_.posteriors[i] = state_.values[i];
        for (std::size_t i = 0; i < reduced.variables.size(); ++i)
            result_.posteriors[reduced.variables[i]] = relaxation.u[i];
        const std::vector<double>& shares = relaxation.best_theta.empty() ? relaxation.theta : relaxation.best_theta;
        for (std::size_t l = 0; l < reduced.links.size(); ++l) result_.theta[reduced.links[l]] = shares[l];
    }

    bool replay(std::size_t decision) {
        state_.undo(root_mark_);
        chain_.clear();
        for (; decision != kRoot; decision = decisions_[decision].parent) chain_.push_back(decision);
        for (std::size_t k = chain_.size(); k-- > 0;)
            if (!state_.assign(decisions_[chain_[k]].variable, decisions_[chain_[k]].value)) return false;
        return true;
    }

    void branch_and_bound(bool warm) {
        const double infinity = std::numeric_limits<double>::infinity();
        std::priority_queue<Node> queue;
        queue.push({infinity, 0, kRoot, warm ? std::make_shared<const std::vector<double>>(result_.theta) : nullptr});
        std::size_t order = 0;
        bool stopped = false;
        double open = -infinity;    // the bound of what was left unfinished
        double closed = -infinity;  // the best bound among what was closed, at most a tolerance above the value
        while (!queue.empty()) {
            control_.check();
            const Node node = queue.top();
            if (node.bound <= target()) {
                closed = std::max(closed, node.bound);
                break;
            }
            const bool late = result_.nodes > 0 && passed(deadline_);
            if (late || result_.nodes >= options_.max_nodes) {
                stopped = true;
                open = node.bound;
                break;
            }
            queue.pop();
            ++result_.nodes;
            if (!replay(node.decision)) continue;
            const Reduced reduced = reduce(graph_, state_.values.data());
            if (reduced.variables.empty()) {
                offer(state_.values.data());
                continue;
            }
            const Incidence incidence(reduced.graph);
            RelaxOptions options = options_.relax;
            options.iterations = std::min(options.iterations, options_.node_iterations);
            Relaxation relaxation(reduced.graph, incidence, options, reduced.constant);
            if (node.theta) warm_up(relaxation, reduced, *node.theta);
            const bool root = node.decision == kRoot;
            const RelaxEnd end = relaxation.run(target(), deadline_, control_, root ? trace_ : nullptr);
            result_.iterations += relaxation.iterations;
            result_.projections += relaxation.projections;
            if (root) keep_root(reduced, relaxation);
            offer(reduced, relaxation.assignment);
            const double bound = std::min(node.bound, relaxation.bound);
            const bool done = end == RelaxEnd::Integral || end == RelaxEnd::Bounded;
            if (!done && bound > target()) dive(reduced, relaxation.u);
            if (done || bound <= target()) {
                if (!relaxation.infeasible) closed = std::max(closed, bound);
                continue;
            }
            if (end == RelaxEnd::Deadline) {
                stopped = true;
                open = std::max(bound, queue.empty() ? -infinity : queue.top().bound);
                break;
            }
            // Branch where the consensus is most undecided; among equals, where most is at stake.
            std::size_t choice = 0;
            double doubt = infinity;
            for (std::size_t i = 0; i < reduced.variables.size(); ++i) {
                const double distance = std::fabs(relaxation.u[i] - 0.5);
                if (distance < doubt - 1e-6 ||
                    (distance < doubt + 1e-6 &&
                     std::fabs(reduced.graph.scores[i]) > std::fabs(reduced.graph.scores[choice]))) {
                    doubt = std::min(doubt, distance);
                    choice = i;
                }
            }
            // Children start from this node's shares; when too many wait for that, from the root's.
            std::shared_ptr<const std::vector<double>> shares = root_shares_;
            if (root || queue.size() * graph_.links.size() < kSharesKept) {
                auto own = std::make_shared<std::vector<double>>(graph_.links.size(), 0.0);
                for (std::size_t l = 0; l < reduced.links.size(); ++l) (*own)[reduced.links[l]] = relaxation.theta[l];
                shares = std::move(own);
                if (root) root_shares_ = shares;
            }
            for (const bool value : {false, true}) {
                decisions_.push_back({node.decision, reduced.variables[choice], value});
                queue.push({bound, ++order, decisions_.size() - 1, shares});
            }
        }
        result_.bound = std::max(stopped ? open : closed, result_.value);
        if (!stopped && !result_.found) {
            result_.status = Status::Infeasible;
            result_.bound = -infinity;
        } else if (!stopped || (result_.found && open - result_.value <= gap(result_.value))) {
            result_.status = Status::Optimal;
            result_.posteriors.assign(result_.assignment.begin(), result_.assignment.end());
        } else {
            result_.status = Status::Limit;
        }
    }

    const Graph& graph_;
    const Incidence incidence_;
    const SolveOptions options_;
    Control& control_;
    Trace* trace_;
    const Deadline deadline_;
    Propagation state_;
    Solved result_;
    std::vector<Decision> decisions_;
    std::shared_ptr<const std::vector<double>> root_shares_;
    std::vector<std::size_t> chain_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint8_t> full_;
    std::size_t root_mark_ = 0;
};

}  // namespace sapwood::decode
