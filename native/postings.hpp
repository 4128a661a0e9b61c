// Which elements hold a feature, and how often: an inverted index for sums of count products.
//
// Features that many elements hold are stored as dense columns, whose additions vectorise; the others as lists.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bags.hpp"
#include "vector.hpp"

namespace sapwood {

class Postings {
  public:
    Postings(const Bags& bags, std::size_t features)
        : Postings(bags, features, [](std::uint32_t) { return true; }) {}

    // Of the numbers that wanted(number) holds for.
    template <class Wanted>
    Postings(const Bags& bags, std::size_t features, Wanted wanted) : elements_(bags.size()), places_(features) {
        std::vector<std::uint32_t> held(features, 0);
        std::vector<std::uint32_t> unfit;  // features with a value that single precision would change
        const auto for_each = [&](auto visit) {
            for (std::size_t i = 0; i < elements_; ++i) {
                const auto numbers = bags.numbers_of(i);
                const auto counts = bags.counts_of(i);
                for (std::size_t k = 0; k < numbers.size(); ++k)
                    if (wanted(numbers[k])) visit(i, numbers[k], counts[k]);
            }
        };
        for_each([&](std::size_t, std::uint32_t number, double count) {
            ++held[number];
            // Dense columns are single precision, which is exact for counts below 2^24, but not for every value.
            if (static_cast<double>(static_cast<float>(count)) != count) unfit.push_back(number);
        });
        for (std::size_t f = 0; f < features; ++f) places_[f].dense = held[f] >= 16 && held[f] * kDenseShare >= elements_;
        for (const std::uint32_t number : unfit) places_[number].dense = false;
        std::size_t sparse = 0, dense = 0;
        for (std::size_t f = 0; f < features; ++f) {
            if (places_[f].dense) {
                places_[f].begin = dense;
                dense += elements_;
            } else {
                places_[f].begin = sparse;
                sparse += held[f];
            }
        }
        columns_.assign(dense, 0.0f);
        index_.resize(sparse);
        value_.resize(sparse);
        for_each([&](std::size_t element, std::uint32_t number, double count) {
            Place& place = places_[number];
            if (place.dense) {
                columns_[place.begin + element] = static_cast<float>(count);
                return;
            }
            const std::size_t at = place.begin + place.size++;
            index_[at] = static_cast<std::uint32_t>(element);
            value_[at] = count;
        });
    }

    // out[j] += weight * count of the feature in element j, for all j >= first.
    void add(std::uint32_t feature, double weight, std::size_t first, double* out) const {
        if (feature >= places_.size()) return;
        const Place& place = places_[feature];
        if (place.dense) {
            const float* column = columns_.data() + place.begin;
            if (first < elements_) add_scaled(out + first, column + first, weight, elements_ - first);
            return;
        }
        std::size_t k = place.begin;
        const std::size_t end = k + place.size;
        if (first > 0)
            k = std::lower_bound(index_.begin() + static_cast<std::ptrdiff_t>(k),
                                 index_.begin() + static_cast<std::ptrdiff_t>(end), first) - index_.begin();
        for (; k < end; ++k) out[index_[k]] += weight * value_[k];
    }

    std::size_t bytes() const { return columns_.size() * 4 + index_.size() * 12 + places_.size() * sizeof(Place); }

  private:
    // A dense column costs about as much as a list holding a sixteenth of the elements.
    static constexpr std::size_t kDenseShare = 16;

    struct Place {
        std::size_t begin = 0;
        std::uint32_t size = 0;  // of a list
        bool dense = false;
    };

    std::size_t elements_;
    std::vector<Place> places_;
    std::vector<float> columns_;
    std::vector<std::uint32_t> index_;
    std::vector<double> value_;
};

}  // namespace sapwood
