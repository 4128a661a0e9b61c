// Sequential minimal optimisation: the dual of a support vector machine, two weights at a time.
//
// With beta_i = alpha_i * y_i the dual is: maximise sum beta_i y_i - 1/2 sum beta_i beta_j K(i, j) where the betas add
// up to 0 and each lies between 0 and y_i * cost_i. `slack` is its gradient, y_i - sum beta_j K(i, j). The pair to
// change next is chosen with second-order information (Fan, Chen and Lin, "Working Set Selection Using Second Order
// Information for Training Support Vector Machines", JMLR 6, 2005); points that sit at a bound for good are set aside
// until the others have converged.
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
#include "core/vectorized.hpp"
#include "learn/point_kernel.hpp"

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

// The rows used last over the points that are still active, in one block of memory.
template <class Real>
class ActiveRowCache {
  public:
    explicit ActiveRowCache(std::size_t bytes) : room_(std::max<std::size_t>(2, bytes / sizeof(Real))) {}

    // Forgets everything; rows will have this many values, and come from points below `points`.
    void reset(std::size_t points, std::size_t width) {
        // A window must hold two rows at least, however long they are.
        if (!values_ || room_ < 2 * width) {
            room_ = std::max(room_, 2 * width);
            values_.reset(new Real[room_]);
        }
        slot_.assign(points, kNone);
        slots_.clear();
        width_ = width;
        resize();
    }

    // The row of a point; compute(values) fills it where it is not there. It stays in place while one more is asked
    // for.
    template <class Compute>
    const Real* get(std::uint32_t point, Compute compute) {
        std::uint32_t slot = slot_[point];
        if (slot == kNone) {
            slot = take();
            slots_[slot].point = point;
            compute(values_.get() + slot * width_);
            slot_[point] = slot;
        }
        slots_[slot].used = ++clock_;
        return values_.get() + slot * width_;
    }

    // Drops all columns but those listed, which ascend.
    void keep(const std::vector<std::uint32_t>& columns) {
        // Rows move towards the front and never overtake themselves.
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
            const Real* from = values_.get() + slot * width_;
            Real* to = values_.get() + slot * columns.size();
            for (std::size_t k = 0; k < columns.size(); ++k) to[k] = from[columns[k]];
        }
        width_ = columns.size();
        resize();
    }

  private:
    struct Slot {
        std::uint32_t point = kNone;
        std::uint64_t used = 0;
    };

    void resize() { capacity_ = std::max<std::size_t>(2, room_ / std::max<std::size_t>(1, width_)); }

    std::uint32_t take() {
        if (slots_.size() < capacity_) {
            slots_.emplace_back();
            return static_cast<std::uint32_t>(slots_.size() - 1);
        }
        // Nearly the row that has not been used for longest, found without a list to be kept in order. The row used
        // last is one of the pair at work.
        const std::uint64_t old = clock_ > capacity_ / 2 ? clock_ - capacity_ / 2 : 0;
        std::size_t tries = 0;
        do hand_ = (hand_ + 1) % slots_.size();
        while (slots_[hand_].used > old && (slots_[hand_].used == clock_ || ++tries < 8));
        slot_[slots_[hand_].point] = kNone;
        return static_cast<std::uint32_t>(hand_);
    }

    std::size_t room_, width_ = 0, capacity_ = 2, hand_ = 0;
    std::uint64_t clock_ = 0;
    std::unique_ptr<Real[]> values_;
    std::vector<std::uint32_t> slot_;  // per point
    std::vector<Slot> slots_;
};

// The inner loops, on arrays over the active points. They are written in lanes without branches, so that compilers turn
// them into vector instructions; every lane works on its own, so all versions give the same bits.
inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kStretch =
    512;                                 // how much is searched again for the place of an extreme; a multiple of kLanes
inline constexpr double kNever = 1e300;  // beyond every slack; not infinite, so that differences stay numbers

struct Extremes {
    double most = -kNever;  // largest slack where beta may grow
    double least = kNever;  // smallest slack where beta may shrink
    std::size_t at = 0;     // where the largest is, the first of equals
};

// Moves slack by -step * (first - second) in one stretch and finds its extremes there. growing and shrinking are 0
// where beta may grow or shrink, else they carry the slack out of reach.
template <class Real>
[[gnu::always_inline]] inline void move_stretch(double* __restrict slack, const Real* __restrict first,
                                                const Real* __restrict second, double step,
                                                const double* __restrict growing, const double* __restrict shrinking,
                                                std::size_t size, double& most, double& least) {
    double high[kLanes], low[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) high[l] = -kNever, low[l] = kNever;
    std::size_t k = 0;
    for (; k + kLanes <= size; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            const double value =
                slack[k + l] - step * (static_cast<double>(first[k + l]) - static_cast<double>(second[k + l]));
            slack[k + l] = value;
            const double up = value - growing[k + l], down = value + shrinking[k + l];
            high[l] = up > high[l] ? up : high[l];
            low[l] = down < low[l] ? down : low[l];
        }
    for (; k < size; ++k) {
        slack[k] -= step * (static_cast<double>(first[k]) - static_cast<double>(second[k]));
        high[0] = std::max(high[0], slack[k] - growing[k]);
        low[0] = std::min(low[0], slack[k] + shrinking[k]);
    }
    most = *std::max_element(high, high + kLanes);
    least = *std::min_element(low, low + kLanes);
}

// Gains of all partners in one stretch, (most - slack)^2 / curvature; the largest comes back.
template <class Real>
[[gnu::always_inline]] inline double gain_stretch(const double* __restrict slack, const Real* __restrict row,
                                                  const double* __restrict diagonal, const double* __restrict shrinking,
                                                  double most, double own, std::size_t size, double* __restrict gains) {
    double best[kLanes] = {};
    std::size_t k = 0;
    const auto gain = [&](std::size_t at) __attribute__((always_inline)) {
        double apart = most - slack[at] - shrinking[at];
        apart = apart > 0.0 ? apart : 0.0;
        double curvature = own + diagonal[at] - 2.0 * static_cast<double>(row[at]);
        curvature = curvature > 1e-12 ? curvature : 1e-12;
        return apart * apart / curvature;
    };
    for (; k + kLanes <= size; k += kLanes)
        for (std::size_t l = 0; l < kLanes; ++l) {
            const double value = gain(k + l);
            gains[k + l] = value;
            best[l] = value > best[l] ? value : best[l];
        }
    for (; k < size; ++k) gains[k] = gain(k), best[0] = std::max(best[0], gains[k]);
    return *std::max_element(best, best + kLanes);
}

// The same over all stretches: the new extremes ...
template <class Real>
[[gnu::always_inline]] inline Extremes move_all(double* slack, const Real* first, const Real* second, double step,
                                                const double* growing, const double* shrinking, std::size_t size) {
    Extremes found;
    for (std::size_t begin = 0; begin < size; begin += kStretch) {
        const std::size_t count = std::min(kStretch, size - begin);
        double most, least;
        move_stretch(slack + begin, first + begin, second + begin, step, growing + begin, shrinking + begin, count,
                     most, least);
        found.least = std::min(found.least, least);
        if (most <= found.most) continue;
        found.most = most;
        found.at = begin;
    }
    // The stretch is known; its first entry with that value is what is meant.
    const std::size_t end = std::min(size, found.at + kStretch);
    for (std::size_t k = found.at; k < end; ++k)
        if (slack[k] - growing[k] == found.most) {
            found.at = k;
            break;
        }
    return found;
}

// ... and the best partner; `size` if there is none.
template <class Real>
[[gnu::always_inline]] inline std::size_t partner_of_all(const double* slack, const Real* row, const double* diagonal,
                                                         const double* shrinking, double most, double own,
                                                         std::size_t size) {
    double gains[kStretch], best = 0.0;
    std::size_t at = size;
    for (std::size_t begin = 0; begin < size; begin += kStretch) {
        const std::size_t count = std::min(kStretch, size - begin);
        const double found =
            gain_stretch(slack + begin, row + begin, diagonal + begin, shrinking + begin, most, own, count, gains);
        if (!(found > best)) continue;
        best = found;
        for (std::size_t k = 0; k < count; ++k)
            if (gains[k] == found) {
                at = begin + k;
                break;
            }
    }
    return at;
}

[[maybe_unused]] SAPWOOD_VECTOR static Extremes move(double* slack, const float* first, const float* second,
                                                     double step, const double* growing, const double* shrinking,
                                                     std::size_t size) {
    return move_all(slack, first, second, step, growing, shrinking, size);
}
[[maybe_unused]] SAPWOOD_VECTOR static Extremes move(double* slack, const double* first, const double* second,
                                                     double step, const double* growing, const double* shrinking,
                                                     std::size_t size) {
    return move_all(slack, first, second, step, growing, shrinking, size);
}
[[maybe_unused]] SAPWOOD_VECTOR static std::size_t partner(const double* slack, const float* row,
                                                           const double* diagonal, const double* shrinking, double most,
                                                           double own, std::size_t size) {
    return partner_of_all(slack, row, diagonal, shrinking, most, own, size);
}
[[maybe_unused]] SAPWOOD_VECTOR static std::size_t partner(const double* slack, const double* row,
                                                           const double* diagonal, const double* shrinking, double most,
                                                           double own, std::size_t size) {
    return partner_of_all(slack, row, diagonal, shrinking, most, own, size);
}

template <class Real>
class SvmSolver {
  public:
    SvmSolver(const PointKernel<Real>& kernel, const SvmOptions& options, Control& control)
        : kernel_(kernel), options_(options), control_(control), active_rows_(options.window_bytes) {}

    SvmSolution solve(const SvmProblem& problem) {
        problem_ = &problem;
        beta_.assign(problem.points.size(), 0.0);
        activate_all();
        for (std::size_t k = 0; k < slack_.size(); ++k) slack_[k] = problem.side[k];
        SvmSolution solution;
        const std::size_t most = options_.max_iterations != 0
                                     ? options_.max_iterations
                                     : std::max<std::size_t>(10000000, 100 * problem.points.size());
        const std::size_t period = std::min<std::size_t>(std::max<std::size_t>(1, beta_.size()), 1000);
        std::size_t until_shrinking = period;
        bool whole = false;  // whether everything has been looked at again near the end
        Extremes found = extremes();
        for (;;) {
            control_.check();
            if (options_.shrinking && --until_shrinking == 0) {
                until_shrinking = period;
                if (!whole && found.most - found.least <= 10 * options_.tolerance) {
                    whole = true;
                    if (reactivate()) found = extremes();
                }
                if (shrink(found)) found = extremes();
            }
            if (!(found.most - found.least > options_.tolerance)) {
                // The others have converged; now what was set aside has its say.
                if (!reactivate()) break;
                found = extremes();
                if (!(found.most - found.least > options_.tolerance)) break;
                until_shrinking = 1;
            }
            if (solution.iterations >= most) {
                solution.converged = false;
                reactivate();
                break;
            }
            found = step(found);
            ++solution.iterations;
        }
        finish(solution);
        return solution;
    }

  private:
    void activate_all() {
        const std::size_t count = beta_.size();
        order_.resize(count);
        for (std::size_t k = 0; k < count; ++k) order_[k] = static_cast<std::uint32_t>(k);
        active_ = kernel_.select(problem_->points);
        slack_.resize(count);
        diagonal_.resize(count);
        growing_.resize(count);
        shrinking_.resize(count);
        for (std::size_t k = 0; k < count; ++k) {
            diagonal_[k] = kernel_.diagonal(problem_->points[k]);
            mark(k);
        }
        active_rows_.reset(count, count);
    }

    // Brings back what was set aside, with slacks computed afresh; false if there was nothing.
    bool reactivate() {
        if (active_.size() == beta_.size()) return false;
        activate_all();
        std::vector<std::pair<std::uint32_t, double>> entries;
        for (std::size_t k = 0; k < beta_.size(); ++k)
            if (beta_[k] != 0.0) entries.emplace_back(problem_->points[k], beta_[k]);
        std::vector<double> values(beta_.size(), 0.0);
        kernel_.expand(entries, active_, values.data(), control_);
        for (std::size_t k = 0; k < values.size(); ++k) slack_[k] = problem_->side[k] - values[k];
        return true;
    }

    double lowest(std::size_t point) const { return problem_->side[point] > 0 ? 0.0 : -problem_->cost[point]; }
    double highest(std::size_t point) const { return problem_->side[point] > 0 ? problem_->cost[point] : 0.0; }

    void mark(std::size_t k) {
        const std::uint32_t point = order_[k];
        growing_[k] = beta_[point] < highest(point) ? 0.0 : 2 * kNever;
        shrinking_[k] = beta_[point] > lowest(point) ? 0.0 : 2 * kNever;
    }

    bool may_grow(std::size_t k) const { return growing_[k] == 0.0; }
    bool may_shrink(std::size_t k) const { return shrinking_[k] == 0.0; }

    Extremes extremes() const {
        Extremes found;
        for (std::size_t k = 0; k < slack_.size(); ++k) {
            if (may_grow(k) && slack_[k] > found.most) found.most = slack_[k], found.at = k;
            if (may_shrink(k) && slack_[k] < found.least) found.least = slack_[k];
        }
        return found;
    }

    const Real* row(std::size_t k) {
        return active_rows_.get(order_[k], [&](Real* out) { kernel_.row(active_.points[k], active_, out); });
    }

    // Changes the pair that promises the largest growth of the objective, and says where things stand then.
    Extremes step(const Extremes& found) {
        const std::size_t i = found.at;
        const Real* first = row(i);
        const std::size_t j =
            partner(slack_.data(), first, diagonal_.data(), shrinking_.data(), found.most, diagonal_[i], slack_.size());
        // Slacks that are no numbers have no partner; that ends the search.
        if (j == slack_.size()) return {};
        const Real* second = row(j);
        const std::uint32_t grown = order_[i], shrunk = order_[j];
        const double curvature = std::max(diagonal_[i] + diagonal_[j] - 2.0 * static_cast<double>(first[j]), 1e-12);
        double change = (slack_[i] - slack_[j]) / curvature;
        const double room = highest(grown) - beta_[grown], other_room = beta_[shrunk] - lowest(shrunk);
        change = std::min({change, room, other_room});
        // Bounds are reached exactly, so that rounding leaves no point almost there.
        beta_[grown] = change == room ? highest(grown) : beta_[grown] + change;
        beta_[shrunk] = change == other_room ? lowest(shrunk) : beta_[shrunk] - change;
        mark(i);
        mark(j);
        return move(slack_.data(), first, second, change, growing_.data(), shrinking_.data(), slack_.size());
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
        pick(diagonal_, kept);
        pick(growing_, kept);
        pick(shrinking_, kept);
        pick(order_, kept);
        active_.keep(kept);
        active_rows_.keep(kept);
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
            solution.objective += 0.5 * beta_[k] * (problem_->side[k] + slack_[k]);
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
    std::vector<double> beta_;  // per point of the problem; all else is per active point
    std::vector<std::uint32_t> order_;
    Selection active_;
    std::vector<double> slack_, diagonal_, growing_, shrinking_;
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
