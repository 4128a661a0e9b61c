// The grammar-driven kernel with the interface that all kernels have: columns for kernels/gram.hpp and
// kernels/model.hpp, and diagonals.
//
// Unlike other kernels it must know more of the rows than their trees: heads of their productions outside the grammar,
// and which words of theirs are like which of the columns. Both travel beside the columns, in a `RowContext`.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/grammar_analysis.hpp"
#include "kernels/reduced_columns.hpp"
#include "kernels/reduced_matcher.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// A kernel with its parameters, without data.
struct GrammarDrivenKernel {
    std::shared_ptr<const RuleSet> rules;
    TagSets sets;
    ReducedOptions options;

    std::shared_ptr<const GrammarAnalysis> read(const Arena& arena, const Bags& bags, const OutsideHeads& heads,
                                                double listed = GrammarAnalysis::kListed) const {
        return std::make_shared<GrammarAnalysis>(arena, bags, *rules, sets, options, heads, listed);
    }
};

struct RowContext {
    const GrammarDrivenKernel* kernel = nullptr;
    OutsideHeads heads;
    const WordLinks* links = nullptr;
    std::shared_ptr<const GrammarAnalysis> analysis;  // if the rows have been read already
};

class GrammarDrivenColumns {
  public:
    struct Prepared {
        std::shared_ptr<const GrammarAnalysis> analysis;
        std::shared_ptr<const GrammarMap> grammar_map;
        const WordLinks* links = nullptr;
    };

    // `rows` is read at the moment a Gram matrix or model is evaluated.
    GrammarDrivenColumns(const GrammarAnalysis& analysis, const Bags& bags, const ReducedOptions& options,
                         std::shared_ptr<const RowContext> rows)
        : columns_(std::make_shared<ReducedColumns>(analysis, bags, options,
                                                    std::vector<std::uint32_t>(analysis.arena().size()))),
          rows_(std::move(rows)) {}

    std::size_t feature_count() const { return columns_->feature_count(); }
    Bags features(const Arena& arena, const Bags& bags) const { return columns_->features(arena, bags); }
    std::size_t positions() const { return columns_->positions(); }
    std::vector<std::uint32_t> positions_of_nodes() const { return columns_->positions_of_nodes(); }

    Prepared prepare(const ArenaMap& map, const Bags& rows) const {
        Prepared prepared;
        prepared.analysis = rows_->analysis ? rows_->analysis : rows_->kernel->read(map.arena, rows, rows_->heads);
        auto grammar_map = std::make_shared<GrammarMap>(*prepared.analysis);
        grammar_map->connect(*prepared.analysis, *columns_, rows.numbers, [&](Node node) { return map.labels[node]; });
        prepared.grammar_map = grammar_map;
        prepared.links = rows_->links;
        return prepared;
    }

    auto visitor(const ArenaMap& map, const Bags& rows, const Prepared& prepared, const Control& control) const {
        return [&rows, matcher = ReducedMatcher(*prepared.analysis, *columns_, *prepared.grammar_map, prepared.links,
                                                control, std::vector<std::uint32_t>(map.arena.size(), kNone))](
                   std::size_t element, std::size_t first, auto bulk, auto active) mutable {
            matcher.match(rows.numbers_of(element), rows.counts_of(element), first, bulk, active);
        };
    }

  private:
    std::shared_ptr<const ReducedColumns> columns_;
    std::shared_ptr<const RowContext> rows_;
};

// Kernel values of elements with one other each, which is their only column: element i with element i + shift, for the
// first bags.size() - shift elements. A shift of 0 gives the diagonal.
inline void grammar_driven_pairs(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags,
                                 std::size_t shift, const OutsideHeads& heads, const WordLinks* links, double* out,
                                 std::size_t threads, Control& control) {
    const auto analysis = kernel.read(arena, bags, heads);
    parallel_blocks(bags.size() - shift, 16, threads, control, [&] {
        return [&, grammar_map = GrammarMap(*analysis), local = std::vector<std::uint32_t>(arena.size()),
                slots = std::vector<std::uint32_t>(arena.size(), kNone), feature_count = std::vector<double>(),
                active_count = std::vector<double>()](std::size_t begin, std::size_t end) mutable {
            for (std::size_t i = begin; i < end; ++i) {
                const auto numbers = bags.numbers_of(i), others = bags.numbers_of(i + shift);
                const auto counts = bags.counts_of(i), other_counts = bags.counts_of(i + shift);
                Bags one;
                one.numbers.assign(others.begin(), others.end());
                one.counts.assign(other_counts.begin(), other_counts.end());
                one.ends.push_back(others.size());
                ReducedColumns columns(*analysis, one, kernel.options, std::move(local));
                grammar_map.connect(*analysis, columns, numbers, [&](Node node) { return arena.label(node); });
                feature_count.assign(columns.feature_count(), 0.0);
                active_count.assign(columns.positions(), 0.0);
                for (std::size_t k = 0; k < others.size(); ++k) {
                    if (const std::uint32_t feature = columns.feature(others[k]); feature != kNone)
                        feature_count[feature] += other_counts[k];
                    if (const std::uint32_t position = columns.position(others[k]); position != kNone)
                        active_count[position] += other_counts[k];
                }
                ReducedMatcher matcher(*analysis, columns, grammar_map, links, control, std::move(slots));
                double total = 0.0;
                matcher.match(
                    numbers, counts, 0,
                    [&](std::uint32_t feature, double weight) { total += weight * feature_count[feature]; },
                    [&](std::size_t position, double value) { total += value * active_count[position]; });
                out[i] = total;
                slots = matcher.take_scratch();
                local = columns.take_scratch();
            }
        };
    });
}

}  // namespace sapwood
