// Words as dense vectors of length 1, and how similar they are:
//
//     s(v, w) = weight * v·w                              without a sharpness
//             = weight * exp(sharpness * (v·w - 1))       with one
//
// Both are kernels. A word whose vector is zero is like nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/matrix.hpp"
#include "core/vectorized.hpp"

namespace sapwood {

struct VectorMeasure {
    double weight = 1.0;
    double sharpness = 0.0;

    double operator()(float product) const {
        return sharpness == 0.0 ? weight * static_cast<double>(product) : sharpened(product);
    }
    SAPWOOD_INLINE double sharpened(float product) const {
        return weight * static_cast<double>(fast_exp(static_cast<float>(sharpness) * (product - 1.0f)));
    }
};

// One vector per word.
class WordVectors {
  public:
    WordVectors() = default;
    // The owner keeps the numbers alive.
    WordVectors(std::span<const float> values, std::size_t width, VectorMeasure measure,
                std::shared_ptr<const void> owner)
        : measure(measure), width_(width), values_(values), owner_(std::move(owner)) {}

    VectorMeasure measure;

    bool empty() const { return width_ == 0; }
    std::size_t width() const { return width_; }
    std::span<const float> of(std::uint32_t word) const { return values_.subspan(word * width_, width_); }
    bool known(std::uint32_t word) const {
        for (const float value : of(word))
            if (value != 0.0f) return true;
        return false;
    }

  private:
    std::size_t width_ = 0;
    std::span<const float> values_;
    std::shared_ptr<const void> owner_;
};

// The similarity of two words, with the bits that a group gives.
inline double similarity(const WordVectors& left, std::uint32_t word, const WordVectors& right, std::uint32_t other) {
    if (!left.known(word) || !right.known(other)) return 0.0;
    const auto a = left.of(word), b = right.of(other);
    float product = 0.0f;
    for (std::size_t k = 0; k < a.size(); ++k) product += a[k] * b[k];
    return right.measure(product);
}

// sums[j] += scale * measure(products[j])
[[maybe_unused]] SAPWOOD_VECTOR static void add_measured(double* __restrict sums, const float* __restrict products,
                                                         double scale, VectorMeasure measure, std::size_t size) {
    if (measure.sharpness == 0.0) {
        for (std::size_t j = 0; j < size; ++j) sums[j] += scale * (measure.weight * static_cast<double>(products[j]));
    } else {
        for (std::size_t j = 0; j < size; ++j) sums[j] += scale * measure.sharpened(products[j]);
    }
}

// The vectors of a group of words, packed so that some words are compared with all of them at once.
class VectorGroup {
  public:
    VectorGroup(const WordVectors& vectors, std::span<const std::uint32_t> words)
        : measure_(vectors.measure),
          panels_(vectors.width(), words.size(), [&](std::size_t column) { return vectors.of(words[column]).data(); }) {
        for (std::size_t column = 0; column < words.size(); ++column)
            if (!vectors.known(words[column])) unknown_.push_back(static_cast<std::uint32_t>(column));
    }

    std::size_t width() const { return panels_.inner(); }

    // How many numbers the products of one word take.
    std::size_t stride() const { return panels_.stride(); }

    // The products of some words, whose vectors stand one after the other, with those of the columns from `from` on.
    void multiply(std::span<const float> vectors, std::size_t from, float* products) const {
        panels_.multiply_from(vectors.data(), width(), vectors.size() / width(), from, products);
    }

    // sums[column] += scale * s(a word, word of the column), by the products of the word, for columns from `from` on.
    void add(const float* products, double scale, std::size_t from, double* sums) const {
        std::vector<double> kept;
        for (const std::uint32_t column : unknown_) kept.push_back(sums[column]);
        const std::size_t count = panels_.outer() - std::min(from, panels_.outer());
        add_measured(sums + from, products + from, scale, measure_, count);
        for (std::size_t k = 0; k < unknown_.size(); ++k) sums[unknown_[k]] = kept[k];
    }

  private:
    VectorMeasure measure_;
    Affine panels_;
    std::vector<std::uint32_t> unknown_;  // columns whose vector is zero
};

}  // namespace sapwood
