// Training of the recursive network: losses over groups of trees, optimisers, and a store of plans with a limit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/recursive.hpp"

namespace sapwood {

enum class Loss : std::uint32_t {
    setwise,        // -log of the softmax probability that one of the best trees of the group is first
    pairwise_best,  // logistic loss of every pair (best, worse)
    pairwise_all,   // logistic loss of every pair of different relevance
    classes,        // -log of the softmax probability of the class; the target is its number
    squares,        // (output - target)^2
};

// log(1 + exp(-x)) and its derivative, without overflow.
inline double logistic_loss(double x) { return x > 0 ? std::log1p(std::exp(-x)) : std::log1p(std::exp(x)) - x; }
inline double logistic_slope(double x) { return x > 0 ? -std::exp(-x) / (1 + std::exp(-x)) : -1 / (1 + std::exp(x)); }

// The loss of one group and its derivatives by the outputs (trees x outputs), which are overwritten.
inline double group_loss(Loss loss, std::span<const double> outputs, std::span<const double> targets, std::size_t width,
                         std::span<double> slopes) {
    std::fill(slopes.begin(), slopes.end(), 0.0);
    double total = 0.0;
    const std::size_t size = targets.size();
    if (loss == Loss::squares) {
        for (std::size_t i = 0; i < size; ++i) {
            const double error = outputs[i] - targets[i];
            total += error * error;
            slopes[i] = 2 * error;
        }
        return total;
    }
    if (loss == Loss::classes) {
        for (std::size_t i = 0; i < size; ++i) {
            const double* row = outputs.data() + i * width;
            const double most = *std::max_element(row, row + width);
            double sum = 0.0;
            for (std::size_t o = 0; o < width; ++o) sum += std::exp(row[o] - most);
            const auto own = static_cast<std::size_t>(targets[i]);
            total += std::log(sum) - (row[own] - most);
            for (std::size_t o = 0; o < width; ++o)
                slopes[i * width + o] = std::exp(row[o] - most) / sum - (o == own ? 1.0 : 0.0);
        }
        return total;
    }
    const double best = *std::max_element(targets.begin(), targets.end());
    if (loss == Loss::setwise) {
        const double most = *std::max_element(outputs.begin(), outputs.end());
        double all = 0.0, top = -INFINITY;
        for (std::size_t i = 0; i < size; ++i) {
            all += std::exp(outputs[i] - most);
            if (targets[i] == best) top = std::max(top, outputs[i]);
        }
        // The best trees have a scale of their own: their share of the whole may be too small for a number.
        double good = 0.0;
        for (std::size_t i = 0; i < size; ++i)
            if (targets[i] == best) good += std::exp(outputs[i] - top);
        for (std::size_t i = 0; i < size; ++i) {
            slopes[i] = std::exp(outputs[i] - most) / all;
            if (targets[i] == best) slopes[i] -= std::exp(outputs[i] - top) / good;
        }
        return (std::log(all) + most) - (std::log(good) + top);
    }
    for (std::size_t i = 0; i < size; ++i) {
        if (loss == Loss::pairwise_best && targets[i] != best) continue;
        for (std::size_t j = 0; j < size; ++j) {
            if (targets[j] >= targets[i]) continue;
            const double margin = outputs[i] - outputs[j], slope = logistic_slope(margin);
            total += logistic_loss(margin);
            slopes[i] += slope;
            slopes[j] -= slope;
        }
    }
    return total;
}

// Groups of trees of one arena, and their plans. Plans are made when they are first asked for and kept while they fit.
class Forests {
  public:
    // Trees of group g: roots ends[g-1] .. ends[g]-1. The arena must outlive the forests and not change.
    Forests(const Arena& arena, std::vector<Node> roots, std::vector<std::uint64_t> ends,
            std::vector<std::uint32_t> vocabulary, std::size_t outdegree, std::size_t cache_bytes)
        : arena_(arena),
          roots_(std::move(roots)),
          ends_(std::move(ends)),
          vocabulary_(std::move(vocabulary)),
          outdegree_(outdegree),
          limit_(cache_bytes),
          planner_(arena, vocabulary_, outdegree),
          plans_(ends_.size()) {}

    Forests(const Forests&) = delete;
    Forests& operator=(const Forests&) = delete;

    std::size_t size() const { return ends_.size(); }
    std::size_t trees() const { return roots_.size(); }
    std::size_t begin(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
    std::size_t end(std::size_t group) const { return ends_[group]; }
    std::span<const Node> roots(std::size_t begin, std::size_t end) const {
        return std::span<const Node>(roots_).subspan(begin, end - begin);
    }
    // Another planner for another thread.
    Planner planner() const { return Planner(arena_, vocabulary_, outdegree_); }
    std::size_t bytes() const { return bytes_; }

    // Valid until the next call.
    const Plan& plan(std::size_t group) {
        Plan& kept = plans_[group];
        if (kept.roots > 0) return kept;
        current_ = planner_.make(roots(begin(group), end(group)));
        if (bytes_ + current_.bytes() > limit_) return current_;
        bytes_ += current_.bytes();
        kept = std::move(current_);
        return kept;
    }

  private:
    const Arena& arena_;
    std::vector<Node> roots_;
    std::vector<std::uint64_t> ends_;
    std::vector<std::uint32_t> vocabulary_;
    std::size_t outdegree_, limit_, bytes_ = 0;
    Planner planner_;
    std::vector<Plan> plans_;
    Plan current_;
};

struct OptimizerOptions {
    bool adam;
    double rate, momentum, second_momentum, epsilon;
    double clip;   // largest norm of a gradient; 0: any
    double decay;  // of weights, as a part of the gradient
};

// Weights, their moments, and what trains them. All state is in plain arrays, so that it can be stored and put back.
template <class Real>
class Network {
  public:
    explicit Network(const NetworkShape& shape)
        : shape_(shape),
          weights_(shape.size(), Real(0)),
          first_(shape.size(), Real(0)),
          second_(shape.size(), Real(0)),
          gradient_(shape.size(), Real(0)),
          turned_(shape.outdegree * shape.units * shape.stride(), Real(0)) {}

    const NetworkShape& shape() const { return shape_; }
    std::vector<Real>& weights() { return weights_; }
    std::vector<Real>& first_moments() { return first_; }
    std::vector<Real>& second_moments() { return second_; }
    std::uint64_t& steps() { return steps_; }
    // After the weights were changed from outside.
    void refresh() { turn(); }

    // One update per `batch` groups, in this order; returns the sum of the losses. Targets and extras are by tree.
    double train(Forests& forests, std::span<const std::uint64_t> order, const double* targets, const double* extras,
                 Loss loss, std::size_t batch, const OptimizerOptions& options, Control& control) {
        double total = 0.0;
        for (std::size_t begin = 0; begin < order.size(); begin += batch) {
            const std::size_t end = std::min(begin + batch, order.size());
            control.check();
            std::fill(gradient_.begin(), gradient_.end(), Real(0));
            for (std::size_t k = begin; k < end; ++k) total += accumulate(forests, order[k], targets, extras, loss);
            update(options, static_cast<Real>(1.0 / static_cast<double>(end - begin)));
            control.done.fetch_add(end - begin, std::memory_order_relaxed);
        }
        return total;
    }

    // The gradient of the sum of the losses of all groups; returns that sum.
    double gradient(Forests& forests, const double* targets, const double* extras, Loss loss, std::vector<Real>& out,
                    Control& control) {
        std::fill(gradient_.begin(), gradient_.end(), Real(0));
        double total = 0.0;
        for (std::size_t group = 0; group < forests.size(); ++group) {
            control.check();
            total += accumulate(forests, group, targets, extras, loss);
        }
        out = gradient_;
        return total;
    }

    // out: trees x outputs. Trees are taken in blocks, whatever the groups; what is computed for a tree does not depend
    // on the others.
    void evaluate(const Forests& forests, const double* extras, double* out, std::size_t threads,
                  Control& control) const {
        each_block(forests, threads, control,
                   [&](const Plan& plan, const NetworkScratch<Real>& scratch, std::size_t begin) {
                       network_outputs(plan, shape_, weights_.data(), scratch, extras + begin * shape_.extras,
                                       out + begin * shape_.outputs);
                   });
    }

    // out: trees x units, the states of the roots.
    void states(const Forests& forests, double* out, std::size_t threads, Control& control) const {
        each_block(forests, threads, control,
                   [&](const Plan& plan, const NetworkScratch<Real>& scratch, std::size_t begin) {
                       for (std::size_t i = 0; i < plan.roots; ++i) {
                           const Real* state = scratch.states.data() + plan.root()[i] * shape_.stride();
                           std::copy(state, state + shape_.units, out + (begin + i) * shape_.units);
                       }
                   });
    }

  private:
    static constexpr std::size_t kBlock = 256;

    template <class Use>
    void each_block(const Forests& forests, std::size_t threads, Control& control, Use use) const {
        parallel_blocks(forests.trees(), kBlock, threads, control, [&] {
            return [&, planner = forests.planner(), scratch = NetworkScratch<Real>()](std::size_t begin,
                                                                                      std::size_t end) mutable {
                const Plan plan = planner.make(forests.roots(begin, end));
                network_states(plan, shape_, weights_.data(), scratch);
                use(plan, scratch, begin);
            };
        });
    }

    double accumulate(Forests& forests, std::size_t group, const double* targets, const double* extras, Loss loss) {
        const Plan& plan = forests.plan(group);
        const std::size_t begin = forests.begin(group), size = forests.end(group) - begin;
        network_states(plan, shape_, weights_.data(), scratch_);
        outputs_.resize(size * shape_.outputs);
        slopes_.resize(size * shape_.outputs);
        network_outputs(plan, shape_, weights_.data(), scratch_, extras + begin * shape_.extras, outputs_.data());
        const double value = group_loss(loss, outputs_, {targets + begin, size}, shape_.outputs, slopes_);
        network_gradient(plan, shape_, weights_.data(), turned_.data(), scratch_, extras + begin * shape_.extras,
                         slopes_.data(), gradient_.data());
        return value;
    }

    void update(const OptimizerOptions& options, Real share) {
        ++steps_;
        double squares = 0.0;
        const auto decay = static_cast<Real>(options.decay);
        for (std::size_t i = 0; i < gradient_.size(); ++i) {
            gradient_[i] = gradient_[i] * share + decay * weights_[i];
        }
        if (options.clip > 0) {
            squares = norm_squared();
            const double norm = std::sqrt(squares);
            if (norm > options.clip) {
                const auto factor = static_cast<Real>(options.clip / norm);
                for (Real& value : gradient_) value *= factor;
            }
        }
        if (options.adam)
            adam(options);
        else
            descend(options);
        turn();
    }

    // In eight parts, which vector units can add up side by side.
    double norm_squared() const {
        Real part[8] = {};
        std::size_t i = 0;
        for (; i + 8 <= gradient_.size(); i += 8)
            for (std::size_t k = 0; k < 8; ++k) part[k] += gradient_[i + k] * gradient_[i + k];
        double total = 0.0;
        for (const Real value : part) total += static_cast<double>(value);
        for (; i < gradient_.size(); ++i)
            total += static_cast<double>(gradient_[i]) * static_cast<double>(gradient_[i]);
        return total;
    }

    void descend(const OptimizerOptions& options) {
        const auto rate = static_cast<Real>(options.rate), momentum = static_cast<Real>(options.momentum);
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            first_[i] = momentum * first_[i] + gradient_[i];
            weights_[i] -= rate * first_[i];
        }
    }

    void adam(const OptimizerOptions& options) {
        const auto steps = static_cast<double>(steps_);
        const auto rate = static_cast<Real>(options.rate / (1 - std::pow(options.momentum, steps)));
        const auto scale = static_cast<Real>(1 / (1 - std::pow(options.second_momentum, steps)));
        const auto b1 = static_cast<Real>(options.momentum), b2 = static_cast<Real>(options.second_momentum);
        const auto epsilon = static_cast<Real>(options.epsilon);
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const Real slope = gradient_[i];
            first_[i] = b1 * first_[i] + (Real(1) - b1) * slope;
            second_[i] = b2 * second_[i] + (Real(1) - b2) * slope * slope;
            weights_[i] -= rate * first_[i] / (std::sqrt(second_[i] * scale) + epsilon);
        }
    }

    // The matrices of the children with rows and columns exchanged, for the way back.
    void turn() {
        const std::size_t stride = shape_.stride(), units = shape_.units;
        for (std::size_t k = 0; k < shape_.outdegree; ++k) {
            const Real* from = weights_.data() + shape_.child_row(k) * stride;
            Real* to = turned_.data() + k * units * stride;
            for (std::size_t l = 0; l < units; ++l)
                for (std::size_t j = 0; j < units; ++j) to[j * stride + l] = from[l * stride + j];
        }
    }

    NetworkShape shape_;
    std::vector<Real> weights_, first_, second_, gradient_, turned_;
    std::uint64_t steps_ = 0;
    NetworkScratch<Real> scratch_;
    std::vector<double> outputs_, slopes_;
};

}  // namespace sapwood
