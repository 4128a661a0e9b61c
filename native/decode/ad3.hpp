// The linear relaxation of a factor graph: AD3 (alternating directions dual decomposition), and the plain subgradient
// method beside it.
//
// Every factor holds its own copy z of its variables and a share theta of their scores; the shares of a variable always
// add up to its score. One round projects each factor's wishes onto its polytope, averages the copies into the
// consensus u, and moves shares from copies above the consensus to copies below it. Whatever the shares are, the sum
// of the factors' best values bounds the optimum from above: that is the certificate. Search belongs to
// decode/branch_and_bound.hpp.
#pragma once

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/parallel.hpp"
#include "decode/graph.hpp"

namespace sapwood::decode {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

inline Deadline deadline_in(double seconds) {
    if (!(seconds < 1e9)) return std::nullopt;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}
inline bool passed(const Deadline& deadline) { return deadline && Clock::now() >= *deadline; }

struct RelaxOptions {
    double penalty = 1.0;     // rho at the start, in units of the graph's mean absolute score
    double step = 1.6;        // how far theta moves, in units of rho; below 1.618 it converges
    double residual = 1e-7;   // both residuals below this: converged
    double tolerance = 1e-7;  // a gap below tolerance * max(1, |value|) is closed
    std::size_t iterations = 2000;
    std::size_t check_every = 8;  // rounds between looks at bound and rounding
    bool caching = true;          // skip factors whose input has not changed; the result is the same to the last bit
};

enum class RelaxEnd : std::uint8_t { Integral, Bounded, Converged, Iterations, Deadline };

struct Trace {
    std::vector<double> primal, dual;
};

inline double mean_score(const Graph& graph) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const double score : graph.scores) {
        sum += std::fabs(score);
        count += score != 0.0;
    }
    for (std::size_t f = 0; f < graph.factors(); ++f) {
        sum += std::fabs(graph.weights[f]);
        count += graph.weights[f] != 0.0;
    }
    return count ? sum / static_cast<double>(count) : 1.0;
}

class Relaxation {
  public:
    const double constant;  // earned outside the graph; part of every value and bound below
    std::vector<double> u, theta;
    double bound;                                             // best upper bound so far
    std::vector<double> best_theta;                           // the shares that gave it
    double value = -std::numeric_limits<double>::infinity();  // of the best feasible rounding so far
    std::vector<std::uint8_t> assignment;
    std::size_t iterations = 0, projections = 0;
    bool infeasible = false;  // a bound below every assignment's value

    Relaxation(const Graph& graph, const Incidence& incidence, const RelaxOptions& options, double constant = 0.0)
        : constant(constant),
          bound(std::numeric_limits<double>::infinity()),
          graph_(graph),
          incidence_(incidence),
          options_(options) {
        const std::size_t n = graph.variables();
        theta.assign(graph.links.size(), 0.0);
        u.assign(n, 0.5);
        rho_ = options.penalty * mean_score(graph);
        for (std::size_t i = 0; i < n; ++i) {
            floor_ += std::min(0.0, graph.scores[i]);
            if (incidence.degree(i) == 0) {  // no factor has a say
                u[i] = graph.scores[i] > 0.0;
                free_ += std::max(0.0, graph.scores[i]);
            }
        }
        for (const double weight : graph.weights) floor_ += std::min(0.0, weight);
        share();
    }

    // Spreads whatever the shares lack evenly, so that they add up to the scores again.
    void share() {
        for (std::size_t i = 0; i < graph_.variables(); ++i) {
            const std::size_t degree = incidence_.degree(i);
            if (degree == 0) continue;
            double lack = graph_.scores[i];
            for (std::size_t k = incidence_.first[i]; k < incidence_.first[i + 1]; ++k)
                lack -= theta[incidence_.link[k]];
            lack /= static_cast<double>(degree);
            for (std::size_t k = incidence_.first[i]; k < incidence_.first[i + 1]; ++k)
                theta[incidence_.link[k]] += lack;
        }
    }

    // Runs until the rounding is proven best, the bound falls to `target` (nothing better can be inside), both
    // residuals vanish, or a limit is met.
    RelaxEnd run(double target, const Deadline& deadline, Control& control, Trace* trace = nullptr) {
        const std::size_t n = graph_.variables(), m = graph_.factors();
        const double copies = std::max<double>(1.0, static_cast<double>(graph_.links.size()));
        std::vector<double> z(graph_.links.size(), 0.0);
        std::vector<std::uint8_t> active(m, 1), next(m, 0), touched(n, 0);
        stale_.assign(m, 1);
        best_.assign(m, 0.0);
        if (look(target)) return *end_;
        for (std::size_t round = 1; round <= options_.iterations; ++round) {
            ++iterations;
            for (std::size_t f = 0; f < m; ++f) {
                if (options_.caching && !active[f]) continue;
                solve(f, z);
            }
            for (std::size_t f = 0; f < m; ++f) {
                if (options_.caching && !active[f]) continue;
                for (const Literal literal : graph_.literals(f)) touched[variable_of(literal)] = 1;
            }
            double primal = 0.0, dual = 0.0;
            std::fill(next.begin(), next.end(), std::uint8_t{0});
            const double step = options_.step * rho_;
            for (std::size_t i = 0; i < n; ++i) {
                if (!touched[i]) continue;
                touched[i] = 0;
                const std::size_t begin = incidence_.first[i], end = incidence_.first[i + 1];
                double sum = 0.0;
                for (std::size_t k = begin; k < end; ++k) sum += z[incidence_.link[k]];
                const double consensus = sum / static_cast<double>(end - begin), move = consensus - u[i];
                u[i] = consensus;
                dual += move * move * static_cast<double>(end - begin);
                for (std::size_t k = begin; k < end; ++k) {
                    const std::uint32_t link = incidence_.link[k], f = incidence_.factor[k];
                    const double difference = z[link] - consensus;
                    if (difference != 0.0) {
                        primal += difference * difference;
                        theta[link] -= step * difference;
                        stale_[f] = next[f] = 1;
                    } else if (move != 0.0) {
                        next[f] = 1;
                    }
                }
            }
            active.swap(next);
            const double primal_residual = std::sqrt(primal / copies), dual_residual = std::sqrt(dual / copies);
            const bool settled = primal_residual < options_.residual && dual_residual < options_.residual;
            if (trace) {
                const double now = dual_value();
                bound = std::min(bound, now);
                trace->dual.push_back(now);
                trace->primal.push_back(relaxed_value());
            }
            if (settled || round % options_.check_every == 0) {
                control.check();
                if (look(target)) return *end_;
                if (settled) return RelaxEnd::Converged;
                if (passed(deadline)) return RelaxEnd::Deadline;
            }
            if (round % 16 == 0 && round < 2000) {  // balance the residuals; settle for one penalty in the end
                const double before = rho_;
                if (primal_residual > 5.0 * dual_residual)
                    rho_ *= 2.0;
                else if (dual_residual > 5.0 * primal_residual)
                    rho_ /= 2.0;
                if (rho_ != before) std::fill(active.begin(), active.end(), std::uint8_t{1});
            }
        }
        look(target);
        return end_ ? *end_ : RelaxEnd::Iterations;
    }

    // The same dual by subgradients: each factor takes its best vertex, and shares move by a shrinking step.
    RelaxEnd run_subgradient(double target, const Deadline& deadline, Control& control, Trace* trace = nullptr) {
        const std::size_t n = graph_.variables(), m = graph_.factors();
        std::vector<std::uint8_t> vertex(graph_.links.size(), 0);
        stale_.assign(m, 1);
        best_.assign(m, 0.0);
        const double unit = mean_score(graph_);
        for (std::size_t round = 1; round <= options_.iterations; ++round) {
            ++iterations;
            double total = constant + free_;
            for (std::size_t f = 0; f < m; ++f) {
                total += best_vertex(f, vertex.data() + graph_.first[f]);
                ++projections;
            }
            const double step = unit / std::sqrt(static_cast<double>(round));
            bool agree = true;
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t begin = incidence_.first[i], end = incidence_.first[i + 1];
                if (begin == end) continue;
                std::size_t on = 0;
                for (std::size_t k = begin; k < end; ++k) on += vertex[incidence_.link[k]];
                u[i] = static_cast<double>(on) / static_cast<double>(end - begin);
                if (on == 0 || on == end - begin) continue;
                agree = false;
                for (std::size_t k = begin; k < end; ++k)
                    theta[incidence_.link[k]] -= step * (vertex[incidence_.link[k]] - u[i]);
            }
            if (total < bound) bound = total;
            if (trace) {
                trace->dual.push_back(total);
                trace->primal.push_back(relaxed_value());
            }
            round_consensus();
            if (bound < constant + floor_ - gap(floor_)) infeasible = true;
            if (agree || proven()) return RelaxEnd::Integral;
            if (infeasible || bound <= target) return RelaxEnd::Bounded;
            if (round % options_.check_every == 0) {
                control.check();
                if (passed(deadline)) return RelaxEnd::Deadline;
            }
        }
        return RelaxEnd::Iterations;
    }

    bool proven() const { return std::isfinite(value) && bound - value <= gap(value); }
    double gap(double at) const { return options_.tolerance * std::max(1.0, std::fabs(at)); }

  private:
    void solve(std::size_t f, std::vector<double>& z) {
        const std::size_t begin = graph_.first[f], count = graph_.size(f);
        double* a = z.data() + begin;
        const double scale = 1.0 / rho_;
        ++projections;
        for (std::size_t k = 0; k < count; ++k) {
            const Literal literal = graph_.links[begin + k];
            const double wish = u[variable_of(literal)] + theta[begin + k] * scale;
            a[k] = is_negated(literal) ? 1.0 - wish : wish;
        }
        project(graph_.kinds[f], a, count, graph_.limits[f], graph_.weights[f] * scale, scratch_);
        for (std::size_t k = 0; k < count; ++k)
            if (is_negated(graph_.links[begin + k])) a[k] = 1.0 - a[k];
    }

    double best_vertex(std::size_t f, std::uint8_t* vertex) {
        const std::size_t begin = graph_.first[f], count = graph_.size(f);
        weights_.resize(count);
        double earned = 0.0;
        for (std::size_t k = 0; k < count; ++k) {
            const bool negated = is_negated(graph_.links[begin + k]);
            weights_[k] = negated ? -theta[begin + k] : theta[begin + k];
            if (negated) earned += theta[begin + k];
        }
        earned +=
            maximise(graph_.kinds[f], weights_.data(), count, graph_.limits[f], graph_.weights[f], scratch_, vertex);
        if (vertex)
            for (std::size_t k = 0; k < count; ++k)
                vertex[k] ^= static_cast<std::uint8_t>(is_negated(graph_.links[begin + k]));
        return earned;
    }

    double dual_value() {
        double total = constant + free_;
        for (std::size_t f = 0; f < graph_.factors(); ++f) {
            if (stale_[f] || !options_.caching) {
                best_[f] = best_vertex(f, nullptr);
                stale_[f] = 0;
            }
            total += best_[f];
        }
        return total;
    }

    double relaxed_value() const {
        double total = constant;
        for (std::size_t i = 0; i < graph_.variables(); ++i) total += graph_.scores[i] * u[i];
        for (std::size_t f = 0; f < graph_.factors(); ++f) {
            if (graph_.kinds[f] != Kind::Pair) continue;
            const auto side = [&](Literal literal) {
                const double share = u[variable_of(literal)];
                return is_negated(literal) ? 1.0 - share : share;
            };
            const double a = side(graph_.literals(f)[0]), b = side(graph_.literals(f)[1]);
            total += graph_.weights[f] * (graph_.weights[f] > 0.0 ? std::min(a, b) : std::max(0.0, a + b - 1.0));
        }
        return total;
    }

    void round_consensus() {
        rounding_.resize(u.size());
        for (std::size_t i = 0; i < u.size(); ++i) rounding_[i] = u[i] > 0.5;
        if (rounding_ == assignment || !is_feasible(graph_, rounding_.data())) return;
        const double earned = constant + value_of(graph_, rounding_.data());
        if (earned <= value) return;
        value = earned;
        assignment = rounding_;
    }

    // Updates bound and rounding; true when that settles the matter.
    bool look(double target) {
        end_.reset();
        const double now = dual_value();
        if (now < bound || best_theta.empty()) {
            bound = std::min(bound, now);
            best_theta = theta;
        }
        if (bound < constant + floor_ - gap(floor_)) infeasible = true;
        if (infeasible || bound <= target) end_ = RelaxEnd::Bounded;
        round_consensus();
        if (!infeasible && proven()) end_ = RelaxEnd::Integral;
        return end_.has_value();
    }

    const Graph& graph_;
    const Incidence& incidence_;
    RelaxOptions options_;
    double rho_ = 1.0, free_ = 0.0, floor_ = 0.0;
    std::vector<std::uint8_t> stale_, rounding_;
    std::vector<double> best_, weights_;
    std::optional<RelaxEnd> end_;
    Scratch scratch_;
};

}  // namespace sapwood::decode
