// Rows of a tree kernel, computed when asked for: what `gram` does for all rows at once, one row at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/gram.hpp"
#include "kernels/postings.hpp"
#include "learn/row_sources.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Everything is prepared here; the arenas and bags must outlive this. A value is multiplied with the factors of both
// items, which is how a kernel is normalized.
template <class Columns>
class KernelRows final : public RowSource<float> {
  public:
    KernelRows(Columns columns, const Arena& arena, const Bags& rows, const Arena& column_arena,
               const Bags& column_bags, std::vector<double> factors, std::size_t cache_bytes)
        : columns_(std::move(columns)),
          map_(arena, column_arena, rows),
          rows_(rows),
          width_(column_bags.size()),
          prepared_(columns_.prepare(map_, rows)),
          postings_(columns_.features(column_arena, column_bags), columns_.feature_count()),
          occurrences_(column_bags, columns_.positions_of_nodes(), columns_.positions()),
          factors_(std::move(factors)),
          cache_(rows.size(), width_, cache_bytes) {}

    std::size_t size() const override { return width_; }

    Row<float> row(std::size_t item) const override {
        return cache_.get(item, [this](std::size_t i, float* out) { compute(i, out); });
    }

  private:
    using Visitor = decltype(std::declval<const Columns&>().visitor(
        std::declval<const ArenaMap&>(), std::declval<const Bags&>(),
        std::declval<const decltype(std::declval<Columns>().prepare(std::declval<const ArenaMap&>(),
                                                                    std::declval<const Bags&>()))&>(),
        std::declval<Control&>()));

    // What a thread needs to compute rows; kept for the next one that asks.
    struct Worker {
        Visitor visit;
        std::vector<double> values;
    };

    void compute(std::size_t item, float* out) const {
        std::unique_ptr<Worker> worker = take();
        std::vector<double>& values = worker->values;
        std::fill(values.begin(), values.end(), 0.0);
        worker->visit(
            item, 0, [&](std::uint32_t feature, double weight) { postings_.add(feature, weight, 0, values.data()); },
            [&](std::size_t position, double value) { occurrences_.add(position, value, values.data()); });
        for (std::size_t j = 0; j < width_; ++j)
            out[j] = static_cast<float>(values[j] * (factors_[item] * factors_[j]));
        const std::lock_guard<std::mutex> hold(lock_);
        idle_.push_back(std::move(worker));
    }

    std::unique_ptr<Worker> take() const {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            if (!idle_.empty()) {
                std::unique_ptr<Worker> worker = std::move(idle_.back());
                idle_.pop_back();
                return worker;
            }
        }
        return std::unique_ptr<Worker>(
            new Worker{columns_.visitor(map_, rows_, prepared_, control_), std::vector<double>(width_)});
    }

    Columns columns_;
    ArenaMap map_;
    const Bags& rows_;
    std::size_t width_;
    decltype(std::declval<const Columns&>().prepare(std::declval<const ArenaMap&>(),
                                                    std::declval<const Bags&>())) prepared_;
    Postings postings_;
    Occurrences occurrences_;
    std::vector<double> factors_;
    mutable RowCache<float> cache_;
    mutable Control control_;  // a row is short; a caller that needs many checks for Ctrl-C in between
    mutable std::mutex lock_;
    mutable std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace sapwood
