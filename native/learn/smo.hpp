// The dual of a support vector machine, a few weights at a time.
//
// With beta_i = alpha_i * y_i the dual is: maximise sum beta_i y_i - 1/2 sum beta_i beta_j K(i, j) where the betas add
// up to 0 and each lies between 0 and y_i * cost_i. `slack` is its gradient, y_i - sum beta_j K(i, j). Some of the
// points that violate the optimality conditions most are solved among themselves (a block, as Joachims, "Making
// Large-Scale Support Vector Machine Learning Practical", 1998, takes them), pair by pair, chosen with second-order
// information (Fan, Chen and Lin, "Working Set Selection Using Second Order Information for Training Support Vector
// Machines", JMLR 6, 2005). Then their rows move the slack of all points in one go, which is what takes the time.
// Unless whole rows are at hand, points that sit at a bound for good are set aside until the others have converged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "learn/active_rows.hpp"
#include "learn/point_kernel.hpp"
#include "learn/smo_loops.hpp"

namespace sapwood {

// One against the rest, or one against one: points, the side of each, and its cost C, above 0.
struct SvmProblem {
    std::vector<std::uint32_t> points;
    std::vector<std::int8_t> side;  // 1 or -1
    std::vector<double> cost;
};

struct SvmOptions {
    double tolerance = 1e-3;
    std::size_t max_iterations = 0;  // 0: so many that only rounding can keep it from converging before
    std::size_t window_bytes = 1 << 26;
    bool shrinking = true;
};

struct SvmSolution {
    std::vector<double> weights;  // beta, one per point of the problem
    double bias = 0.0;
    double objective = 0.0;  // of the dual, to be maximised
    double gap = 0.0;        // largest violation of the optimality conditions
    std::size_t iterations = 0;
    bool converged = true;
};

template <class Real>
class SvmSolver {
  public:
    SvmSolver(const PointKernel<Real>& kernel, const SvmOptions& options, Control& control)
        : kernel_(kernel), options_(options), control_(control), active_rows_(options.window_bytes) {}

    SvmSolution solve(const SvmProblem& problem) {
        problem_ = &problem;
        beta_.assign(problem.points.size(), 0.0);
        turn_up_ = turn_down_ = 0;
        // Rows of a table are read where they are, unless most of their values would be for others.
        whole_ = 2 * problem.points.size() >= kernel_.size() ? kernel_.table() : nullptr;
        activate_all();
        for (std::size_t k = 0; k < slack_.size(); ++k)
            if (order_[k] != kNone) slack_[k] = problem.side[order_[k]];
        SvmSolution solution;
        const std::size_t most = options_.max_iterations != 0
                                     ? options_.max_iterations
                                     : std::max<std::size_t>(10000000, 100 * problem.points.size());
        const bool shrinking = options_.shrinking && !whole_;
        const std::size_t period = std::min<std::size_t>(std::max<std::size_t>(1, beta_.size()), 1000);
        std::size_t next_shrinking = period;
        bool looked = false;  // whether everything has been looked at again near the end
        Extremes found = extremes();
        for (;;) {
            control_.check();
            if (shrinking && solution.iterations >= next_shrinking) {
                next_shrinking = solution.iterations + period;
                if (!looked && found.most - found.least <= 10 * options_.tolerance) {
                    looked = true;
                    if (reactivate()) found = extremes();
                }
                if (shrink(found)) found = extremes();
            }
            if (!(found.most - found.least > options_.tolerance)) {
                // The others have converged; now what was set aside has its say.
                if (!reactivate()) break;
                found = extremes();
                if (!(found.most - found.least > options_.tolerance)) break;
                next_shrinking = solution.iterations;
            }
            if (solution.iterations >= most) {
                solution.converged = false;
                reactivate();
                break;
            }
            choose(found);
            const std::size_t steps = solve_block(kEnough * (found.most - found.least), most - solution.iterations);
            // Slacks that are no numbers have no partner; that ends the search.
            if (steps == 0) break;
            solution.iterations += steps;
            move();
            found = summary();
        }
        finish(solution);
        return solution;
    }

  private:
    // How many points are solved among themselves, and to which part of the violation that they began with. Points
    // belong to them whose slack is within a part of the violation from its extremes.
    static constexpr std::size_t kBlock = 32;
    static constexpr double kEnough = 0.5, kNear = 0.3;

    struct Extremes {
        double most = -kNever,
               least = kNever;  // the largest slack where beta may grow, the smallest where it may shrink
        std::size_t at_most = 0, at_least = 0;  // the chunks they are in
    };

    // A point of the block: where it is, and all about it.
    struct Chosen {
        std::size_t at;
        double lowest, highest, before, beta, slack;
    };

    // All points of the problem in their order; where rows of a table are read in place, all points that there are, and
    // then those that stand on both sides again.
    void activate_all() {
        if (whole_) {
            order_.assign(kernel_.size(), kNone);
            for (std::size_t entry = 0; entry < beta_.size(); ++entry) {
                std::uint32_t& place = order_[problem_->points[entry]];
                if (place == kNone)
                    place = static_cast<std::uint32_t>(entry);
                else
                    order_.push_back(static_cast<std::uint32_t>(entry));
            }
        } else {
            order_.resize(beta_.size());
            for (std::size_t k = 0; k < order_.size(); ++k) order_[k] = static_cast<std::uint32_t>(k);
            active_ = kernel_.select(problem_->points);
            active_.group();
            if (!kernel_.additive()) active_rows_.reset(beta_.size(), beta_.size());
        }
        slack_.assign(order_.size(), 0.0);
        growing_.assign(order_.size(), 2 * kNever);
        shrinking_.assign(order_.size(), 2 * kNever);
        taken_.assign(order_.size(), false);
        for (std::size_t k = 0; k < order_.size(); ++k)
            if (order_[k] != kNone) mark(k);
    }

    // Brings back what was set aside, with slacks computed afresh; false if there was nothing.
    bool reactivate() {
        if (order_.size() >= beta_.size()) return false;
        activate_all();
        std::vector<std::pair<std::uint32_t, double>> entries;
        for (std::size_t k = 0; k < beta_.size(); ++k)
            if (beta_[k] != 0.0) entries.emplace_back(problem_->points[k], beta_[k]);
        std::vector<double> values(beta_.size(), 0.0);
        kernel_.expand(entries, active_, values.data(), control_);
        for (std::size_t k = 0; k < values.size(); ++k) slack_[k] = problem_->side[k] - values[k];
        return true;
    }

    double lowest(std::size_t entry) const { return problem_->side[entry] > 0 ? 0.0 : -problem_->cost[entry]; }
    double highest(std::size_t entry) const { return problem_->side[entry] > 0 ? problem_->cost[entry] : 0.0; }
    std::uint32_t point(std::size_t k) const { return problem_->points[order_[k]]; }
    // Where rows have the values with a point.
    std::size_t column(std::size_t k) const { return whole_ ? point(k) : k; }
    std::size_t width() const { return whole_ ? kernel_.size() : order_.size(); }

    void mark(std::size_t k) {
        const std::uint32_t entry = order_[k];
        growing_[k] = beta_[entry] < highest(entry) ? 0.0 : 2 * kNever;
        shrinking_[k] = beta_[entry] > lowest(entry) ? 0.0 : 2 * kNever;
    }

    bool may_grow(std::size_t k) const { return growing_[k] == 0.0; }
    bool may_shrink(std::size_t k) const { return shrinking_[k] == 0.0; }

    const Real* row(std::size_t k) {
        if (whole_) return whole_ + static_cast<std::size_t>(point(k)) * kernel_.size();
        return active_rows_.get(order_[k], [&](Real* out) {
            control_.check();
            kernel_.row(point(k), active_, out);
        });
    }

    Extremes extremes() {
        most_.resize((order_.size() + kChunk - 1) / kChunk);
        least_.resize(most_.size());
        sweep_rows(0);
        return summary();
    }

    // Moves the slack of all points along the rows at hand.
    void sweep_rows(std::size_t count) {
        for (std::size_t k = width(); k < order_.size(); ++k)
            for (std::size_t r = 0; r < count; ++r) slack_[k] -= steps_[r] * static_cast<double>(rows_[r][column(k)]);
        sweep(slack_.data(), rows_, steps_, count, width(), growing_.data(), shrinking_.data(), order_.size(),
              most_.data(), least_.data());
    }

    Extremes summary() const {
        Extremes found;
        for (std::size_t chunk = 0; chunk < most_.size(); ++chunk) {
            if (most_[chunk] > found.most) found.most = most_[chunk], found.at_most = chunk;
            if (least_[chunk] < found.least) found.least = least_[chunk], found.at_least = chunk;
        }
        return found;
    }

    // Fills the block: the two extremes, and others near them. Chunks have their turn, since points that are alike
    // often lie together, and solving one of them is solving the others.
    void choose(const Extremes& found) {
        const double near = kNear * (found.most - found.least);
        chosen_.clear();
        const auto take = [&](std::size_t chunk, std::size_t until, auto wanted) {
            const std::size_t end = std::min(order_.size(), (chunk + 1) * kChunk);
            for (std::size_t k = chunk * kChunk; k < end && chosen_.size() < until; ++k) {
                if (taken_[k] || !wanted(k)) continue;
                taken_[k] = true;
                const std::uint32_t entry = order_[k];
                chosen_.push_back({k, lowest(entry), highest(entry), beta_[entry], beta_[entry], slack_[k]});
            }
        };
        const auto go_round = [&](std::size_t& turn, std::size_t until, auto has, auto wanted) {
            for (std::size_t tried = 0; tried < most_.size() && chosen_.size() < until; ++tried) {
                turn = turn + 1 < most_.size() ? turn + 1 : 0;
                if (has(turn)) take(turn, until, wanted);
            }
        };
        const double high = found.most - near, low = found.least + near;
        take(found.at_most, 1, [&](std::size_t k) { return slack_[k] - growing_[k] == found.most; });
        take(found.at_least, 2, [&](std::size_t k) { return slack_[k] + shrinking_[k] == found.least; });
        go_round(
            turn_up_, kBlock / 2 + 1, [&](std::size_t chunk) { return most_[chunk] > high; },
            [&](std::size_t k) { return slack_[k] - growing_[k] > high; });
        go_round(
            turn_down_, kBlock, [&](std::size_t chunk) { return least_[chunk] < low; },
            [&](std::size_t k) { return slack_[k] + shrinking_[k] < low; });
        for (const Chosen& one : chosen_) taken_[one.at] = false;
    }

    // Kernel values within the block, from rows at hand or looked up one by one.
    void look_up() {
        const std::size_t size = chosen_.size();
        Selection block;
        Real found[kBlock];
        for (std::size_t a = 0; a < size; ++a) {
            const std::uint32_t own = point(chosen_[a].at);
            diagonal_[a] = kernel_.diagonal(own);
            double* values = values_ + a * kBlock;
            if (whole_) {
                // Values are symmetric, and each of them comes from far away.
                const Real* known = row(chosen_[a].at);
                for (std::size_t b = 0; b <= a; ++b)
                    values[b] = values_[b * kBlock + a] = static_cast<double>(known[column(chosen_[b].at)]);
            } else if (const Real* known = kernel_.additive() ? nullptr : active_rows_.find(order_[chosen_[a].at])) {
                for (std::size_t b = 0; b < size; ++b) values[b] = static_cast<double>(known[chosen_[b].at]);
            } else {
                control_.check();
                if (block.size() == 0) {
                    std::vector<std::uint32_t> points;
                    for (const Chosen& one : chosen_) points.push_back(point(one.at));
                    block = kernel_.select(std::move(points));
                }
                kernel_.row(own, block, found);
                for (std::size_t b = 0; b < size; ++b) values[b] = static_cast<double>(found[b]);
            }
        }
    }

    // Changes the pair that promises the largest growth of the objective, again and again, until the points of the
    // block violate the conditions little or the steps are used up; says how many steps there were.
    std::size_t solve_block(double enough, std::size_t most_steps) {
        look_up();
        const std::size_t size = chosen_.size();
        std::size_t steps = 0;
        for (; steps < std::min(most_steps, 20 * kBlock); ++steps) {
            double most = -kNever, least = kNever;
            std::size_t i = size, j = size;
            for (std::size_t k = 0; k < size; ++k) {
                const Chosen& one = chosen_[k];
                if (one.beta < one.highest && one.slack > most) most = one.slack, i = k;
                if (one.beta > one.lowest && one.slack < least) least = one.slack;
            }
            if (!(most - least > enough)) break;
            const double* row = values_ + i * kBlock;
            double best = 0.0, bend = 0.0;
            for (std::size_t k = 0; k < size; ++k) {
                const Chosen& one = chosen_[k];
                const double apart = most - one.slack;
                if (!(one.beta > one.lowest) || !(apart > 0.0)) continue;
                const double curvature = std::max(diagonal_[i] + diagonal_[k] - 2.0 * row[k], 1e-12);
                if (apart * apart > best * curvature) best = apart * apart / curvature, bend = curvature, j = k;
            }
            if (j == size) break;
            Chosen &grown = chosen_[i], &shrunk = chosen_[j];
            const double room = grown.highest - grown.beta, other_room = shrunk.beta - shrunk.lowest;
            const double change = std::min({(grown.slack - shrunk.slack) / bend, room, other_room});
            // Bounds are reached exactly, so that rounding leaves no point almost there.
            grown.beta = change == room ? grown.highest : grown.beta + change;
            shrunk.beta = change == other_room ? shrunk.lowest : shrunk.beta - change;
            const double* other = values_ + j * kBlock;
            for (std::size_t k = 0; k < size; ++k) chosen_[k].slack -= change * (row[k] - other[k]);
        }
        return steps;
    }

    // Hands what the block has come to on to all points.
    void move() {
        if (!whole_ && kernel_.additive()) {
            changes_.clear();
            for (const Chosen& one : chosen_) {
                if (one.beta == one.before) continue;
                beta_[order_[one.at]] = one.beta;
                mark(one.at);
                changes_.emplace_back(point(one.at), one.before - one.beta);
            }
            kernel_.expand(changes_, active_, slack_.data(), control_);
            sweep_rows(0);
            return;
        }
        const std::size_t at_once = whole_ ? kBlock : std::min(kBlock, active_rows_.at_once());
        std::size_t count = 0;
        for (const Chosen& one : chosen_) {
            if (one.beta == one.before) continue;
            beta_[order_[one.at]] = one.beta;
            mark(one.at);
            rows_[count] = row(one.at);
            steps_[count] = one.beta - one.before;
            if (++count < at_once) continue;
            sweep_rows(count);
            count = 0;
        }
        // Once more even without rows, since bounds of the last ones may have changed what may grow.
        sweep_rows(count);
    }

    // Sets aside the points at a bound whose slack is beyond that of all candidates.
    bool shrink(const Extremes& found) {
        std::vector<std::uint32_t> kept;
        kept.reserve(slack_.size());
        for (std::size_t k = 0; k < slack_.size(); ++k) {
            const bool idle = (!may_grow(k) && slack_[k] > found.most) || (!may_shrink(k) && slack_[k] < found.least);
            if (!idle) kept.push_back(static_cast<std::uint32_t>(k));
        }
        // Moving all rows is only worth it for a good part of the points.
        if (kept.size() * 10 > slack_.size() * 9 || kept.empty()) return false;
        pick(slack_, kept);
        pick(growing_, kept);
        pick(shrinking_, kept);
        pick(order_, kept);
        active_.keep(kept);
        if (!kernel_.additive()) active_rows_.keep(kept);
        return true;
    }

    template <class T>
    static void pick(std::vector<T>& values, const std::vector<std::uint32_t>& kept) {
        for (std::size_t k = 0; k < kept.size(); ++k) values[k] = values[kept[k]];
        values.resize(kept.size());
    }

    void finish(SvmSolution& solution) {
        const Extremes found = extremes();
        solution.gap = found.most - found.least;
        double free_sum = 0.0;
        std::size_t free_count = 0;
        for (std::size_t k = 0; k < slack_.size(); ++k) {
            if (order_[k] == kNone) continue;
            solution.objective += 0.5 * beta_[order_[k]] * (problem_->side[order_[k]] + slack_[k]);
            if (may_grow(k) && may_shrink(k)) free_sum += slack_[k], ++free_count;
        }
        solution.bias = free_count ? free_sum / static_cast<double>(free_count) : 0.5 * (found.most + found.least);
        solution.weights = beta_;
    }

    const PointKernel<Real>& kernel_;
    SvmOptions options_;
    Control& control_;
    ActiveRowCache<Real> active_rows_;
    const SvmProblem* problem_ = nullptr;
    const Real* whole_ = nullptr;  // a table with a row for every point, where there is one
    std::vector<double> beta_;     // per point of the problem; all else is per active point
    std::vector<std::uint32_t> order_;
    Selection active_;
    std::vector<double> slack_, growing_, shrinking_;
    std::vector<bool> taken_;
    std::vector<double> most_, least_;  // per chunk of active points
    std::size_t turn_up_ = 0, turn_down_ = 0;
    // The block: kernel values within, and the rows of those that have changed.
    std::vector<Chosen> chosen_;
    std::vector<std::pair<std::uint32_t, double>> changes_;
    double values_[kBlock * kBlock] = {}, diagonal_[kBlock] = {}, steps_[kBlock] = {};
    const Real* rows_[kBlock] = {};
};

// Solves the problems side by side; each is the work of one thread, so the number of threads changes no bit.
template <class Real>
std::vector<SvmSolution> solve_svms(const PointKernel<Real>& kernel, const std::vector<SvmProblem>& problems,
                                    const SvmOptions& options, std::size_t threads, Control& control) {
    std::vector<SvmSolution> solutions(problems.size());
    // The hardest ones first, so that no thread is left alone with one at the end.
    std::vector<std::size_t> order(problems.size()), weight(problems.size());
    for (std::size_t p = 0; p < problems.size(); ++p) {
        order[p] = p;
        const auto positive = static_cast<std::size_t>(std::count(problems[p].side.begin(), problems[p].side.end(), 1));
        weight[p] = std::min(positive, problems[p].side.size() - positive);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });
    parallel_blocks(problems.size(), 1, threads, control, [&] {
        return [&, solver = std::make_unique<SvmSolver<Real>>(kernel, options, control)](std::size_t begin,
                                                                                         std::size_t end) {
            for (std::size_t p = begin; p < end; ++p) solutions[order[p]] = solver->solve(problems[order[p]]);
        };
    });
    return solutions;
}

}  // namespace sapwood
