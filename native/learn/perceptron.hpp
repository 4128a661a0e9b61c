// Preferences learnt one after the other by a perceptron whose subset-tree model grows with every mistake.
//
// A group of alternatives is scored once; what an update changes for the rest of the group is worked out within the
// group. Everything learnt is in a log, and a perceptron that goes through a log again is the same to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "learn/growing_model.hpp"

namespace sapwood {

enum class Rule : std::uint32_t {
    pairwise_best,  // every pair (best, worse) in turn
    pairwise_all,   // every pair of different relevance in turn
    top,            // the best against the worse one with the largest utility
    softmax,        // a step along the gradient of the softmax loss of the group
};

// What was learnt, in order: a row, what was added to its weight, and at which step.
struct UpdateLog {
    std::vector<std::uint64_t> row;
    std::vector<double> weight;
    std::vector<std::uint64_t> step;
};

// Learns preferences within groups of trees, one after the other. The utility of a row is scale * f(tree) + features *
// linear weights; with a scale of 1 / norm the kernel is normalised.
class PreferencePerceptron {
  public:
    PreferencePerceptron(const Arena& arena, std::vector<Node> roots, std::vector<std::uint64_t> ends,
                         std::vector<double> scales, std::vector<double> features, std::size_t width, double decay,
                         bool bag_of_words, std::size_t cache_bytes)
        : arena_(arena),
          roots_(std::move(roots)),
          ends_(std::move(ends)),
          scales_(std::move(scales)),
          features_(std::move(features)),
          width_(width),
          limit_(cache_bytes),
          model_(arena, decay, bag_of_words),
          linear_(width, 0.0),
          delta_(arena.size(), 0.0),
          map_(arena, arena, Bags{}),
          scorer_(map_, model_, control_),
          bucket_of_(arena.production_count(), kNone) {}

    PreferencePerceptron(const PreferencePerceptron&) = delete;
    PreferencePerceptron& operator=(const PreferencePerceptron&) = delete;

    std::size_t size() const { return ends_.size(); }
    std::size_t rows() const { return roots_.size(); }
    const UpdateLog& log() const { return log_; }
    std::uint64_t steps() const { return steps_; }
    std::uint64_t mistakes() const { return mistakes_; }
    std::size_t bytes() const { return model_.bytes(); }
    std::size_t most_cached() const { return most_cached_; }

    // Learns the groups in this order.
    void train(std::span<const std::uint64_t> order, const double* relevance, Rule rule, double rate, Control& outer) {
        for (const std::uint64_t group : order) {
            outer.check();
            // The scorer looks at its own control, so that one perceptron can be used under one control after another.
            control_.cancel = outer.cancel.load();
            learn(group, relevance, rule, rate, outer);
            outer.done.fetch_add(1, std::memory_order_relaxed);
        }
    }

    // Goes through a log again: afterwards the perceptron is as if it had learnt the same itself.
    void replay(std::span<const std::uint64_t> row, std::span<const double> weight, std::span<const std::uint64_t> step,
                std::uint64_t steps, std::uint64_t mistakes) {
        for (std::size_t begin = 0; begin < row.size();) {
            std::size_t end = begin + 1;
            while (end < row.size() && step[end] == step[begin]) ++end;
            batch_row_.assign(row.begin() + static_cast<std::ptrdiff_t>(begin),
                              row.begin() + static_cast<std::ptrdiff_t>(end));
            batch_weight_.assign(weight.begin() + static_cast<std::ptrdiff_t>(begin),
                                 weight.begin() + static_cast<std::ptrdiff_t>(end));
            steps_ = step[begin];
            apply();
            begin = end;
        }
        steps_ = steps;
        mistakes_ = mistakes;
    }

    // The utilities of the rows of a group as things stand.
    void utilities(std::size_t group, std::vector<double>& out) {
        scorer_.score(roots_of(group));
        read_utilities(group, out);
    }

  private:
    std::size_t begin_of(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
    std::span<const Node> roots_of(std::size_t group) const {
        return std::span<const Node>(roots_).subspan(begin_of(group), ends_[group] - begin_of(group));
    }

    void read_utilities(std::size_t group, std::vector<double>& out) const {
        const std::size_t begin = begin_of(group);
        out.resize(ends_[group] - begin);
        for (std::size_t i = 0; i < out.size(); ++i) {
            double total = scales_[begin + i] * scorer_.value(roots_[begin + i]);
            for (std::size_t k = 0; k < width_; ++k) total += linear_[k] * features_[(begin + i) * width_ + k];
            out[i] = total;
        }
    }

    void learn(std::size_t group, const double* relevance, Rule rule, double rate, const Control& outer) {
        const std::size_t begin = begin_of(group), size = ends_[group] - begin;
        const double* truth = relevance + begin;
        const double best = *std::max_element(truth, truth + size);
        utilities(group, utility_);
        fresh_ = true;
        if (rule == Rule::softmax) {
            step_softmax(group, truth, best, rate);
            return;
        }
        if (rule == Rule::top) {
            std::size_t right = kNone, wrong = kNone;
            for (std::size_t i = 0; i < size; ++i) {
                std::size_t& side = truth[i] == best ? right : wrong;
                if (side == kNone || utility_[i] > utility_[side]) side = i;
            }
            ++steps_;
            if (wrong != kNone && utility_[right] <= utility_[wrong]) prefer(begin + right, begin + wrong);
            return;
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (rule == Rule::pairwise_best && truth[i] != best) continue;
            for (std::size_t j = 0; j < size; ++j) {
                if (truth[j] >= truth[i]) continue;
                ++steps_;
                if (utility_[i] > utility_[j]) continue;
                outer.check();
                prefer(begin + i, begin + j);
                follow(group);
            }
        }
    }

    void prefer(std::size_t right, std::size_t wrong) {
        ++mistakes_;
        batch_row_ = {right, wrong};
        batch_weight_ = {1.0, -1.0};
        apply();
    }

    void step_softmax(std::size_t group, const double* truth, double best, double rate) {
        const std::size_t begin = begin_of(group), size = utility_.size();
        const double most = *std::max_element(utility_.begin(), utility_.end());
        double all = 0.0, good = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            const double share = std::exp(utility_[i] - most);
            all += share;
            if (truth[i] == best) good += share;
        }
        ++steps_;
        mistakes_ += good <= 0.5 * all;
        // Alternatives of hardly any probability would fill the model with weights of no effect: they are left out, and
        // the others share what is pushed down.
        constexpr double kLeast = 0.01;
        double pushed = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
            const double chance = std::exp(utility_[i] - most) / all;
            if (truth[i] != best && chance >= kLeast) pushed += chance;
        }
        if (pushed == 0.0) return;
        const double lift = 1.0 - good / all;
        std::size_t bests = 0;
        for (std::size_t i = 0; i < size; ++i) bests += truth[i] == best;
        batch_row_.clear();
        batch_weight_.clear();
        for (std::size_t i = 0; i < size; ++i) {
            const double chance = std::exp(utility_[i] - most) / all;
            double weight = 0.0;
            // If the best ones have no probability left to speak of, they are lifted alike.
            if (truth[i] == best)
                weight = good > 1e-300 * all ? lift * chance * all / good : lift / static_cast<double>(bests);
            else if (chance >= kLeast)
                weight = -lift * chance / pushed;
            if (weight == 0.0) continue;
            batch_row_.push_back(begin + i);
            batch_weight_.push_back(rate * weight);
        }
        apply();
    }

    // Adds the batch to the model and the log.
    void apply() {
        for (std::size_t k = 0; k < batch_row_.size(); ++k) {
            const std::uint64_t row = batch_row_[k];
            log_.row.push_back(row);
            log_.weight.push_back(batch_weight_[k]);
            log_.step.push_back(steps_);
            for (std::size_t f = 0; f < width_; ++f) linear_[f] += batch_weight_[k] * features_[row * width_ + f];
            put(roots_[row], batch_weight_[k] * scales_[row]);
        }
        // From the largest number down, so that a subtree is complete when it is met; what has cancelled out stops
        // there.
        changed_.clear();
        while (!queue_.empty()) {
            const Node node = queue_.top();
            queue_.pop();
            const double weight = delta_[node];
            if (weight == 0.0) continue;  // cancelled, or met before
            delta_[node] = 0.0;
            changed_.push_back({node, weight});
            for (const Node child : arena_.children(node)) put(child, weight);
        }
        for (auto change = changed_.rbegin(); change != changed_.rend(); ++change)
            model_.add(change->first, change->second);
    }

    void put(Node node, double weight) {
        delta_[node] += weight;
        queue_.push(node);
    }

    // After an update by rows of this group: brings the utilities of the group up to date without scoring it again.
    void follow(std::size_t group) {
        if (fresh_) {
            fill_buckets();
            fresh_ = false;
        }
        std::vector<double>& own = scorer_.own();
        const double decay = model_.decay();
        for (const auto& [node, weight] : changed_) {
            if (arena_.is_leaf(node)) {
                if (model_.bag_of_words()) own[scorer_.local(node)] += decay * weight;
                continue;
            }
            const std::uint32_t bucket = bucket_of_[arena_.production_of(node)];
            const std::uint32_t begin = bucket_begin_[bucket], end = bucket_begin_[bucket + 1];
            if (!detail::has_internal_child(arena_, node)) {
                for (std::uint32_t k = begin; k < end; ++k) own[member_[k]] += decay * weight;
                continue;
            }
            const std::vector<double>& values = compare(node);
            for (std::uint32_t k = begin; k < end; ++k) own[member_[k]] += values[k - begin] * weight;
        }
        scorer_.add_up();
        read_utilities(group, utility_);
    }

    // The internal subtrees of the forest by production.
    void fill_buckets() {
        const std::vector<Node>& nodes = scorer_.nodes();
        for (const Production production : bucket_production_) bucket_of_[production] = kNone;
        bucket_production_.clear();
        bucket_begin_.assign(1, 0);
        for (const Node node : nodes) {
            if (arena_.is_leaf(node)) continue;
            std::uint32_t& bucket = bucket_of_[arena_.production_of(node)];
            if (bucket == kNone) {
                bucket = static_cast<std::uint32_t>(bucket_production_.size());
                bucket_production_.push_back(arena_.production_of(node));
                bucket_begin_.push_back(0);
            }
            ++bucket_begin_[bucket + 1];
        }
        for (std::size_t k = 1; k < bucket_begin_.size(); ++k) bucket_begin_[k] += bucket_begin_[k - 1];
        std::vector<std::uint32_t> next(bucket_begin_.begin(), bucket_begin_.end() - 1);
        member_.resize(bucket_begin_.back());
        place_.resize(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            if (arena_.is_leaf(nodes[i])) continue;
            const std::uint32_t bucket = bucket_of_[arena_.production_of(nodes[i])];
            place_[i] = next[bucket] - bucket_begin_[bucket];
            member_[next[bucket]++] = i;
        }
        forget();
        rows_.resize(nodes.size());
    }

    void forget() {
        for (const std::uint32_t i : row_known_) rows_[i] = {};
        row_known_.clear();
        cached_ = 0;
    }

    // D of a subtree of the forest against all of its production in the forest. Kept for the forest while it fits.
    const std::vector<double>& compare(Node root) {
        if (cached_ > limit_) forget();
        row_stack_.assign(1, root);
        while (!row_stack_.empty()) {
            const Node node = row_stack_.back();
            const std::uint32_t i = scorer_.local(node);
            const std::size_t before = row_stack_.size();
            if (rows_[i].empty())
                for (const Node child : arena_.children(node))
                    if (detail::has_internal_child(arena_, child) && rows_[scorer_.local(child)].empty())
                        row_stack_.push_back(child);
            if (row_stack_.size() > before) continue;
            row_stack_.pop_back();
            if (rows_[i].empty()) fill_row(node, rows_[i]);
        }
        return rows_[scorer_.local(root)];
    }

    void fill_row(Node node, std::vector<double>& row) {
        const std::uint32_t bucket = bucket_of_[arena_.production_of(node)];
        const std::uint32_t begin = bucket_begin_[bucket], size = bucket_begin_[bucket + 1] - begin;
        const double decay = model_.decay();
        row.assign(size, decay);
        const auto kids = arena_.children(node);
        for (std::size_t slot = 0; slot < kids.size(); ++slot) {
            if (arena_.is_leaf(kids[slot])) continue;
            const Production production = arena_.production_of(kids[slot]);
            const std::vector<double>& below = rows_[scorer_.local(kids[slot])];
            for (std::uint32_t k = 0; k < size; ++k) {
                const Node other = arena_.children(scorer_.nodes()[member_[begin + k]])[slot];
                // A leaf has no production.
                if (arena_.production_of(other) != production) continue;
                row[k] *= 1.0 + (below.empty() ? decay : below[place_[scorer_.local(other)]]);
            }
        }
        row_known_.push_back(scorer_.local(node));
        cached_ += size * 8;
        most_cached_ = std::max(most_cached_, cached_);
    }

    const Arena& arena_;
    std::vector<Node> roots_;
    std::vector<std::uint64_t> ends_;
    std::vector<double> scales_, features_;
    std::size_t width_, limit_;
    GrowingModel model_;
    std::vector<double> linear_;
    std::vector<double> delta_;  // per subtree of the arena, while a batch is added
    std::priority_queue<Node> queue_;
    std::vector<std::pair<Node, double>> changed_;
    std::vector<std::uint64_t> batch_row_;
    std::vector<double> batch_weight_;
    UpdateLog log_;
    std::uint64_t steps_ = 0, mistakes_ = 0;

    Control control_;
    ArenaMap map_;
    ForestScorer scorer_;
    std::vector<double> utility_;
    bool fresh_ = true;
    std::vector<std::uint32_t> bucket_of_;  // per production
    std::vector<Production> bucket_production_;
    std::vector<std::uint32_t> bucket_begin_, member_, place_;
    std::vector<std::vector<double>> rows_;
    std::vector<std::uint32_t> row_known_;
    std::vector<Node> row_stack_;
    std::size_t cached_ = 0, most_cached_ = 0;
};

}  // namespace sapwood
