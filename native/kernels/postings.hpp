// Which elements hold a feature, and how often: an inverted index for sums of count products.
//
// Features that many elements hold are stored as dense columns, whose additions vectorise; the others as lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/array.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class Postings {
  public:
    // For parts that lie in memory of others.
    Postings() = default;
    template <class Visit>
    void parts(Visit& visit) {
        visit(elements_);
        visit(places_);
        visit(columns_);
        visit(index_);
        visit(value_);
    }

    Postings(const Bags& bags, std::size_t features, std::size_t threads = 1)
        : Postings(bags, features, [](std::uint32_t) { return true; }, threads) {}

    // Of the numbers that wanted(number) holds for.
    template <class Wanted>
    Postings(const Bags& bags, std::size_t features, Wanted wanted, std::size_t threads)
        : elements_(bags.size()), places_(features) {
        // Each part of the elements counts for itself, so that it then knows where in every list its entries go.
        const std::size_t parts = std::clamp<std::size_t>(std::min(threads, elements_ / 512), 1, 8);
        std::vector<std::vector<std::uint32_t>> held(parts);
        std::vector<std::vector<bool>> fits(parts);
        const auto for_each = [&](std::size_t part, auto visit) {
            const std::size_t last = elements_ * (part + 1) / parts;
            for (std::size_t i = elements_ * part / parts; i < last; ++i) {
                const auto numbers = bags.numbers_of(i);
                const auto counts = bags.counts_of(i);
                for (std::size_t k = 0; k < numbers.size(); ++k)
                    if (wanted(numbers[k])) visit(i, numbers[k], counts[k]);
            }
        };
        in_parts(parts, [&](std::size_t part) {
            held[part].assign(features, 0);
            fits[part].assign(features, true);
            for_each(part, [&](std::size_t, std::uint32_t number, double count) {
                ++held[part][number];
                if (!is_small(count)) fits[part][number] = false;
            });
        });
        std::size_t sparse = 0, dense = 0;
        for (std::size_t f = 0; f < features; ++f) {
            std::uint32_t total = 0;
            bool fit = true;
            for (std::size_t part = 0; part < parts; ++part) {
                total += std::exchange(held[part][f], total);
                fit = fit && fits[part][f];
            }
            places_[f].dense = fit && total >= 16 && total * kDenseShare >= elements_;
            if (places_[f].dense) {
                places_[f].begin = dense;
                dense += elements_;
            } else {
                places_[f].begin = sparse;
                places_[f].end = sparse += total;
            }
        }
        columns_.assign(dense, 0);
        index_.resize(sparse);
        value_.resize(sparse);
        in_parts(parts, [&](std::size_t part) {
            for_each(part, [&](std::size_t element, std::uint32_t number, double count) {
                const Place& place = places_[number];
                if (place.dense) {
                    columns_[place.begin + element] = static_cast<std::uint8_t>(count);
                    return;
                }
                const std::size_t at = place.begin + held[part][number]++;
                index_[at] = static_cast<std::uint32_t>(element);
                value_[at] = count;
            });
        });
    }

    // out[j] += weight * count of the feature in element j, for all j >= first; up to seven before may be changed, too.
    void add(std::uint32_t feature, double weight, std::size_t first, double* out) const {
        if (feature >= places_.size()) return;
        const Place& place = places_[feature];
        if (!place.dense) return add_list(place, weight, first, out);
        const std::uint8_t* column = columns_.data() + place.begin;
        first = first / 8 * 8;
        if (first < elements_) add_counts(out + first, column + first, weight, elements_ - first);
    }

    std::size_t bytes() const { return columns_.size() + index_.size() * 12 + places_.size() * sizeof(Place); }

  private:
    template <class Work>
    static void in_parts(std::size_t parts, Work work) {
        Control control;
        parallel_blocks(parts, 1, parts, control, [&] { return [&](std::size_t part, std::size_t) { work(part); }; });
    }

    // Dense columns hold whole numbers of one byte, since they are read from one end to the other for row after row.
    static bool is_small(double count) {
        return count >= 0.0 && count <= 255.0 && static_cast<double>(static_cast<std::uint8_t>(count)) == count;
    }
    // A dense column costs about as much as a list holding a sixteenth of the elements.
    static constexpr std::size_t kDenseShare = 16;

    struct Place {
        std::size_t begin = 0, end = 0, dense = 0;
    };

    void add_list(const Place& place, double weight, std::size_t first, double* out) const {
        // Elements ascend, so that those before `first` are the last ones met from behind.
        for (std::size_t k = place.end; k-- > place.begin && index_[k] >= first;) out[index_[k]] += weight * value_[k];
    }

    std::size_t elements_ = 0;
    Array<Place> places_;
    Array<std::uint8_t> columns_;
    Array<std::uint32_t> index_;
    Array<double> value_;
};

}  // namespace sapwood
