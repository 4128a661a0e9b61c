// A kernel model as weights on distinct subtrees: f(x) = sum over k of weight_k * K(x_k, x), for several outputs.
//
// The weights of the trees x_k are spread over their features and active subtrees once. Evaluating f then costs one
// walk over x, however many trees stand behind it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "kernels/gram.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Whether the visitor of columns reports active subtrees in ranges where the receiver can take them.
template <class Columns>
concept ReportsRanges = requires { requires Columns::kReportsRanges; };

template <class Columns>
class Model {
  public:
    // weights: elements x outputs, row major. The arena must outlive the model and not change.
    Model(Columns columns, const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs)
        : columns_(std::move(columns)),
          arena_(arena),
          outputs_(outputs),
          feature_weight_(columns_.feature_count() * outputs, 0.0),
          active_weight_(columns_.positions() * outputs, 0.0) {
        const Bags features = columns_.features(arena_, bags);
        const std::vector<std::uint32_t>& position = columns_.positions_of_nodes();
        for (std::size_t i = 0; i < bags.size(); ++i) {
            const double* weight = weights + i * outputs;
            spread(features.numbers_of(i), features.counts_of(i), weight, feature_weight_,
                   [](std::uint32_t number) { return number; });
            spread(bags.numbers_of(i), bags.counts_of(i), weight, active_weight_,
                   [&](std::uint32_t node) { return position.empty() ? kNone : position[node]; });
        }
        if constexpr (ReportsRanges<Columns>) {
            by_output_.resize(active_weight_.size());
            const std::size_t positions = columns_.positions();
            for (std::size_t at = 0; at < positions; ++at)
                for (std::size_t o = 0; o < outputs; ++o)
                    by_output_[o * positions + at] = active_weight_[at * outputs + o];
        }
    }

    const Arena& arena() const { return arena_; }
    const Columns& columns() const { return columns_; }
    // Features x outputs, and positions x outputs, row major.
    const std::vector<double>& feature_weights() const { return feature_weight_; }
    const std::vector<double>& active_weights() const { return active_weight_; }
    std::size_t outputs() const { return outputs_; }
    std::size_t bytes() const { return (feature_weight_.size() + active_weight_.size() + by_output_.size()) * 8; }

    // out: rows x outputs, row major.
    void evaluate(const Arena& row_arena, const Bags& rows, double* out, std::size_t threads, Control& control) const {
        evaluate(ArenaMap(row_arena, arena_, rows), rows, out, threads, control);
    }

    // The same for rows that have been translated to arena().
    template <class View>
    void evaluate(const View& map, const Bags& rows, double* out, std::size_t threads, Control& control) const {
        const auto prepared = columns_.prepare(map, rows);
        parallel_blocks(rows.size(), rows_at_once(columns_), threads, control, [&] {
            return [&, visit = columns_.visitor(map, rows, prepared, control)](std::size_t begin,
                                                                               std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i) {
                    double* values = out + i * outputs_;
                    if (outputs_ == 1 && !ReportsRanges<Columns>) {
                        // The common case of two classes, kept in a register.
                        double total = 0.0;
                        visit(
                            i, 0,
                            [&](std::uint32_t feature, double value) { total += value * feature_weight_[feature]; },
                            [&](std::size_t position, double value) { total += value * active_weight_[position]; });
                        *values = total;
                        continue;
                    }
                    std::fill(values, values + outputs_, 0.0);
                    visit(
                        i, 0,
                        [&](std::uint32_t feature, double value) { add(feature_weight_, feature, value, values); },
                        ActiveWeights{*this, values});
                }
            };
        });
    }

  private:
    // Takes what a row has in common with active subtrees: one by one, or many that stand side by side.
    struct ActiveWeights {
        const Model& model;
        double* values;
        void operator()(std::size_t position, double value) const {
            model.add(model.active_weight_, position, value, values);
        }
        void range(std::size_t begin, std::span<const double> sums) const {
            for (std::size_t o = 0; o < model.outputs_; ++o)
                values[o] +=
                    dot(model.by_output_.data() + o * model.columns_.positions() + begin, sums.data(), sums.size());
        }
    };

    template <class Number>
    void spread(std::span<const std::uint32_t> numbers, std::span<const double> counts, const double* weight,
                std::vector<double>& table, Number number) {
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const std::uint32_t at = number(numbers[k]);
            if (at == kNone) continue;
            for (std::size_t o = 0; o < outputs_; ++o) table[at * outputs_ + o] += counts[k] * weight[o];
        }
    }

    void add(const std::vector<double>& table, std::size_t at, double value, double* out) const {
        const double* weight = table.data() + at * outputs_;
        for (std::size_t o = 0; o < outputs_; ++o) out[o] += value * weight[o];
    }

    Columns columns_;
    const Arena& arena_;
    std::size_t outputs_;
    std::vector<double> feature_weight_, active_weight_;
    std::vector<double>
        by_output_;  // the weights of active subtrees, output after output, if ranges of them are reported
};

}  // namespace sapwood
