// Rows of kernel values between distinct items, wherever they come from: a whole table, half of one, or computed when
// asked for and kept in a bounded cache.
//
// Items are numbered from 0; that a thousand training points may share one item is the business of
// `learn/point_kernel.hpp`. A row has the same values whenever and by whichever thread it is asked for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/postings.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// The values of one item with all items; valid as long as this object lives.
template <class Real>
struct Row {
    const Real* values = nullptr;
    std::shared_ptr<const Real[]> owner;
};

template <class Real>
class RowSource {
  public:
    virtual ~RowSource() = default;
    virtual std::size_t size() const = 0;
    // Any thread may ask at any time.
    virtual Row<Real> row(std::size_t item) const = 0;
    // All rows one after the other, where they lie in memory like that.
    virtual const Real* table() const { return nullptr; }
};

// A whole table, row major, that the caller keeps alive.
template <class Real>
class Square final : public RowSource<Real> {
  public:
    Square(const Real* values, std::size_t size) : values_(values), size_(size) {}
    std::size_t size() const override { return size_; }
    Row<Real> row(std::size_t item) const override { return {values_ + item * size_, nullptr}; }
    const Real* table() const override { return values_; }

  private:
    const Real* values_;
    std::size_t size_;
};

// The rows used last, up to a number of them.
template <class Real>
class RowCache {
  public:
    RowCache(std::size_t items, std::size_t width, std::size_t bytes)
        : width_(width),
          capacity_(std::max<std::size_t>(2, bytes / std::max<std::size_t>(1, width * sizeof(Real)))),
          place_(items, order_.end()) {}

    // compute(item, values) is called where the row is not there; two threads may then do the same work at once.
    template <class Compute>
    Row<Real> get(std::size_t item, Compute compute) {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            if (place_[item] != order_.end()) return found(item);
            // Before memory is taken, so that there is never a row too many.
            while (order_.size() >= capacity_) evict();
        }
        Buffer buffer(new Real[width_]);
        compute(item, buffer.get());
        const std::lock_guard<std::mutex> hold(lock_);
        if (place_[item] != order_.end()) return found(item);
        while (order_.size() >= capacity_) evict();
        order_.push_front({item, std::move(buffer)});
        place_[item] = order_.begin();
        return {order_.front().values.get(), order_.front().values};
    }

    std::size_t held() const {
        const std::lock_guard<std::mutex> hold(lock_);
        return order_.size();
    }
    std::size_t capacity() const { return capacity_; }

  private:
    using Buffer = std::shared_ptr<Real[]>;
    struct Entry {
        std::size_t item;
        Buffer values;
    };

    Row<Real> found(std::size_t item) {
        order_.splice(order_.begin(), order_, place_[item]);
        return {order_.front().values.get(), order_.front().values};
    }

    // Forgets the row that has not been used for longest; a reader that still uses it keeps its memory until done.
    void evict() {
        place_[order_.back().item] = order_.end();
        order_.pop_back();
    }

    std::size_t width_, capacity_;
    mutable std::mutex lock_;
    std::list<Entry> order_;  // used last first
    std::vector<typename std::list<Entry>::iterator> place_;
};

// Half of a symmetric table. Tiles of 4 x 4 lie together, so that the part of a row that has to be read downwards
// touches a cache line for four values, not for one.
//
// Values are kept in single precision, or, where it is known that none is below 0 or above `top`, as 16-bit steps
// between the two, off by top / 131070 at most.
template <class Stored>
class HalfTable final : public RowSource<float> {
  public:
    static constexpr std::size_t kSide = 4;
    static constexpr bool kSteps = std::is_same_v<Stored, std::uint16_t>;

    static double bytes(std::size_t size) {
        const double tiles = static_cast<double>((size + kSide - 1) / kSide);
        return tiles * (tiles + 1) / 2 * kSide * kSide * sizeof(Stored);
    }

    HalfTable(std::size_t size, std::size_t cache_bytes, double top = 1.0)
        : size_(size),
          tiles_((size + kSide - 1) / kSide),
          step_(top / 65535.0),
          values_(new Stored[tiles_ * (tiles_ + 1) / 2 * kSide * kSide]),
          cache_(size, size, cache_bytes) {}

    std::size_t size() const override { return size_; }

    // Rows from `begin`, a multiple of the tile's side, with the columns from `begin` on.
    void set(std::size_t begin, std::size_t rows, const double* block, std::size_t width) {
        for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t item = begin + r, a = item / kSide;
            for (std::size_t column = a * kSide; column < begin + width; ++column)
                tile(a, column / kSide)[item % kSide * kSide + column % kSide] =
                    store(block[r * width + column - begin]);
        }
    }

    Row<float> row(std::size_t item) const override {
        return cache_.get(item, [this](std::size_t i, float* out) { read(i, out); });
    }

  private:
    Stored store(double value) const {
        if constexpr (kSteps)
            return static_cast<Stored>(std::clamp(std::round(value / step_), 0.0, 65535.0));
        else
            return static_cast<Stored>(value);
    }
    float load(Stored value) const {
        if constexpr (kSteps)
            return static_cast<float>(static_cast<double>(value) * step_);
        else
            return value;
    }

    Stored* tile(std::size_t a, std::size_t b) const {
        return values_.get() + (a * tiles_ - a * (a + 1) / 2 + b) * kSide * kSide;
    }

    void read(std::size_t item, float* out) const {
        const std::size_t a = item / kSide, within = item % kSide;
        const auto copy = [&](std::size_t b, const Stored* from, std::size_t step) {
            for (std::size_t x = 0, end = std::min(kSide, size_ - b * kSide); x < end; ++x)
                out[b * kSide + x] = load(from[x * step]);
        };
        for (std::size_t b = 0; b < a; ++b) {
            // Each tile of this part lies in another page, which no hardware prefetcher foresees.
            if (b + 16 < a) __builtin_prefetch(tile(b + 16, a));
            copy(b, tile(b, a) + within, kSide);
        }
        for (std::size_t b = a; b < tiles_; ++b) copy(b, tile(a, b) + within * kSide, 1);
    }

    std::size_t size_, tiles_;
    double step_;
    std::unique_ptr<Stored[]> values_;
    mutable RowCache<float> cache_;
};

using Triangle = HalfTable<float>;
using ShortTriangle = HalfTable<std::uint16_t>;

// Squares along the diagonal of a table that is never asked for anything else. A row holds the values with the items of
// its own square only, in their order.
template <class Real>
class Blocks {
  public:
    // sizes: how many items each square has; values: the squares one after the other, which `owner` keeps alive.
    Blocks(const std::vector<std::size_t>& sizes, const Real* values, std::shared_ptr<const void> owner = nullptr)
        : values_(values), owner_(std::move(owner)) {
        std::size_t at = 0;
        for (const std::size_t size : sizes)
            for (std::size_t k = 0; k < size; ++k, at += size) starts_.push_back(at);
    }

    std::size_t size() const { return starts_.size(); }
    const Real* row(std::size_t item) const { return values_ + starts_[item]; }

  private:
    std::vector<std::size_t> starts_;
    const Real* values_;
    std::shared_ptr<const void> owner_;
};

// Powers of dot products of sparse vectors, factor_i * factor_j * (scale * <x_i, x_j> + constant)^degree.
struct PowerOptions {
    double scale = 1.0, constant = 0.0;
    unsigned degree = 1;
};

template <class Real>
class DotRows final : public RowSource<Real> {
  public:
    // vectors: feature numbers below `features` and their values. factors: one per vector, or none for all 1.
    DotRows(Bags vectors, std::size_t features, PowerOptions options, std::vector<double> factors,
            std::size_t cache_bytes)
        : vectors_(std::move(vectors)),
          postings_(vectors_, features),
          options_(options),
          factors_(std::move(factors)),
          cache_(vectors_.size(), vectors_.size(), cache_bytes) {}

    std::size_t size() const override { return vectors_.size(); }

    Row<Real> row(std::size_t item) const override {
        return cache_.get(item, [this](std::size_t i, Real* out) { compute(i, out); });
    }

  private:
    void compute(std::size_t item, Real* out) const {
        std::vector<double> products(size(), 0.0);
        const auto numbers = vectors_.numbers_of(item);
        const auto values = vectors_.counts_of(item);
        for (std::size_t k = 0; k < numbers.size(); ++k) postings_.add(numbers[k], values[k], 0, products.data());
        for (std::size_t j = 0; j < products.size(); ++j) {
            const double base = options_.scale * products[j] + options_.constant;
            double power = base;
            for (unsigned d = 1; d < options_.degree; ++d) power *= base;
            if (!factors_.empty()) power *= factors_[item] * factors_[j];
            out[j] = static_cast<Real>(power);
        }
    }

    Bags vectors_;
    Postings postings_;
    PowerOptions options_;
    std::vector<double> factors_;
    mutable RowCache<Real> cache_;
};

}  // namespace sapwood
