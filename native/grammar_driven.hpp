// The grammar-driven kernel behind the doors that all kernels have: columns for gram.hpp and model.hpp, and diagonals.
//
// Unlike other kernels it must know more of the rows than their trees: heads of their productions outside the grammar,
// and which words of theirs are like which of the columns. Both travel beside the columns, in a `RowContext`.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bags.hpp"
#include "lens.hpp"
#include "parallel.hpp"
#include "reading.hpp"
#include "reduced.hpp"
#include "reduced_match.hpp"

namespace sapwood {

// A kernel with its parameters, without data.
struct GrammarDrivenKernel {
    std::shared_ptr<const RuleSet> rules;
    TagSets sets;
    ReducedOptions options;

    std::shared_ptr<const Reading> read(const Arena& arena, const Bags& bags, const OutsideHeads& heads,
                                        double listed = Reading::kListed) const {
        return std::make_shared<Reading>(arena, bags, *rules, sets, options, heads, listed);
    }
};

struct RowContext {
    const GrammarDrivenKernel* kernel = nullptr;
    OutsideHeads heads;
    const WordLinks* links = nullptr;
    std::shared_ptr<const Reading> reading;  // if the rows have been read already
};

class GrammarDrivenColumns {
  public:
    struct Prepared {
        std::shared_ptr<const Reading> reading;
        std::shared_ptr<const Bridge> bridge;
        const WordLinks* links = nullptr;
    };

    // `rows` is read at the moment a Gram matrix or model is evaluated.
    GrammarDrivenColumns(const Reading& reading, const Bags& bags, const ReducedOptions& options,
                         std::shared_ptr<const RowContext> rows)
        : columns_(std::make_shared<ReducedColumns>(reading, bags, options,
                                                    std::vector<std::uint32_t>(reading.arena().size()))),
          rows_(std::move(rows)) {}

    std::size_t feature_count() const { return columns_->feature_count(); }
    Bags features(const Arena& arena, const Bags& bags) const { return columns_->features(arena, bags); }
    std::size_t positions() const { return columns_->positions(); }
    std::vector<std::uint32_t> positions_of_nodes() const { return columns_->positions_of_nodes(); }

    Prepared prepare(const Lens& lens, const Bags& rows) const {
        Prepared prepared;
        prepared.reading = rows_->reading ? rows_->reading : rows_->kernel->read(lens.arena, rows, rows_->heads);
        auto bridge = std::make_shared<Bridge>(*prepared.reading);
        bridge->connect(*prepared.reading, *columns_, rows.numbers, [&](Node node) { return lens.labels[node]; });
        prepared.bridge = bridge;
        prepared.links = rows_->links;
        return prepared;
    }

    auto visitor(const Lens& lens, const Bags& rows, const Prepared& prepared, const Control& control) const {
        return [&rows, matcher = ReducedMatcher(*prepared.reading, *columns_, *prepared.bridge, prepared.links, control,
                                                std::vector<std::uint32_t>(lens.arena.size(), kNone))](
                   std::size_t element, std::size_t first, auto bulk, auto member) mutable {
            matcher.match(rows.numbers_of(element), rows.counts_of(element), first, bulk, member);
        };
    }

  private:
    std::shared_ptr<const ReducedColumns> columns_;
    std::shared_ptr<const RowContext> rows_;
};

// Kernel values of elements with one other each, which is their only column: element i with element i + shift, for the
// first bags.size() - shift elements. A shift of 0 gives the diagonal.
inline void grammar_driven_pairs(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, std::size_t shift,
                                 const OutsideHeads& heads, const WordLinks* links, double* out, std::size_t threads,
                                 Control& control) {
    const auto reading = kernel.read(arena, bags, heads);
    parallel_blocks(bags.size() - shift, 16, threads, control, [&] {
        return [&, bridge = Bridge(*reading), local = std::vector<std::uint32_t>(arena.size()),
                slots = std::vector<std::uint32_t>(arena.size(), kNone), feature_count = std::vector<double>(),
                member_count = std::vector<double>()](std::size_t begin, std::size_t end) mutable {
            for (std::size_t i = begin; i < end; ++i) {
                const auto numbers = bags.numbers_of(i), others = bags.numbers_of(i + shift);
                const auto counts = bags.counts_of(i), other_counts = bags.counts_of(i + shift);
                Bags one;
                one.numbers.assign(others.begin(), others.end());
                one.counts.assign(other_counts.begin(), other_counts.end());
                one.ends.push_back(others.size());
                ReducedColumns columns(*reading, one, kernel.options, std::move(local));
                bridge.connect(*reading, columns, numbers, [&](Node node) { return arena.label(node); });
                feature_count.assign(columns.feature_count(), 0.0);
                member_count.assign(columns.positions(), 0.0);
                for (std::size_t k = 0; k < others.size(); ++k) {
                    if (const std::uint32_t feature = columns.feature(others[k]); feature != kNone)
                        feature_count[feature] += other_counts[k];
                    if (const std::uint32_t position = columns.position(others[k]); position != kNone)
                        member_count[position] += other_counts[k];
                }
                ReducedMatcher matcher(*reading, columns, bridge, links, control, std::move(slots));
                double total = 0.0;
                matcher.match(numbers, counts, 0,
                              [&](std::uint32_t feature, double weight) { total += weight * feature_count[feature]; },
                              [&](std::size_t position, double value) { total += value * member_count[position]; });
                out[i] = total;
                slots = matcher.take_scratch();
                local = columns.take_scratch();
            }
        };
    });
}

}  // namespace sapwood
