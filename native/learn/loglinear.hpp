// Log-linear choice among candidates: softmax over the rows of a set, for each of several roles at once.
//
// A row is a list of features in groups. A weight belongs to a feature and a key; every role has keys of its own,
// each for some of the groups, and key 0 is shared by all roles. The weights live in one table of a power of two,
// at a place that a hash of feature and key gives: the product of features and keys would be far too large to store.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace sapwood {

struct CandidateSets {
    std::span<const std::uint32_t> features;
    std::span<const std::uint64_t> ends;       // row × group: where its features end; starts at ends[-1]
    std::span<const std::uint64_t> row_ends;   // set: where its rows end
    std::span<const std::uint64_t> role_ends;  // set: where its roles end
    std::span<const std::uint64_t> key_ends;   // role: where its keys end
    std::span<const std::uint32_t> keys;
    std::span<const std::uint32_t> masks;  // key: which groups it meets, bit g for group g
    std::uint32_t shared = 0;              // which groups key 0 meets
    std::uint32_t groups = 1;

    std::size_t size() const { return row_ends.size(); }
    std::uint64_t first_row(std::size_t set) const { return set ? row_ends[set - 1] : 0; }
    std::uint64_t first_role(std::size_t set) const { return set ? role_ends[set - 1] : 0; }
    std::uint64_t first_key(std::uint64_t role) const { return role ? key_ends[role - 1] : 0; }
    std::uint64_t first_feature(std::uint64_t place) const { return place ? ends[place - 1] : 0; }

    // Where the scores of each set begin in a flat array of roles × rows, set after set.
    std::vector<std::uint64_t> score_offsets() const {
        std::vector<std::uint64_t> offsets(size() + 1, 0);
        for (std::size_t set = 0; set < size(); ++set)
            offsets[set + 1] = offsets[set] + (row_ends[set] - first_row(set)) * (role_ends[set] - first_role(set));
        return offsets;
    }
};

// The place of a (feature, key) pair: both are already hashes, so one multiplication mixes them well enough.
inline std::uint32_t weight_place(std::uint32_t feature, std::uint32_t key, int bits) {
    return ((feature ^ key) * 0x9E3779B1u) >> (32 - bits);
}

// Calls visit(begin, end) for every run of features of a row that a key with this mask meets.
template <class Visit>
inline void for_runs(const CandidateSets& sets, std::uint64_t row, std::uint32_t mask, Visit visit) {
    for (std::uint32_t group = 0; group < sets.groups;) {
        if (!(mask >> group & 1)) {
            ++group;
            continue;
        }
        std::uint32_t last = group;
        while (last + 1 < sets.groups && (mask >> (last + 1) & 1)) ++last;
        visit(sets.first_feature(row * sets.groups + group), sets.ends[row * sets.groups + last]);
        group = last + 1;
    }
}

// The keys of a set's roles, each once: roles that share a key share what it says about every row.
struct SetKeys {
    std::vector<std::uint64_t> distinct;                           // key and mask in one number, ascending
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of_role;  // (which distinct key, role), sorted

    void collect(const CandidateSets& sets, std::size_t set) {
        const std::uint64_t first = sets.first_role(set), last = sets.role_ends[set];
        distinct.clear();
        of_role.clear();
        for (std::uint64_t k = sets.first_key(first); last > first && k < sets.key_ends[last - 1]; ++k)
            distinct.push_back(static_cast<std::uint64_t>(sets.keys[k]) << 32 | sets.masks[k]);
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        for (std::uint64_t role = first; role < last; ++role)
            for (std::uint64_t k = sets.first_key(role); k < sets.key_ends[role]; ++k) {
                const std::uint64_t key = static_cast<std::uint64_t>(sets.keys[k]) << 32 | sets.masks[k];
                const auto at = std::lower_bound(distinct.begin(), distinct.end(), key) - distinct.begin();
                of_role.emplace_back(static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(role - first));
            }
        std::sort(of_role.begin(), of_role.end());
    }

    std::uint32_t key(std::size_t at) const { return static_cast<std::uint32_t>(distinct[at] >> 32); }
    std::uint32_t mask(std::size_t at) const { return static_cast<std::uint32_t>(distinct[at]); }
};

// Scores of one set, roles × rows.
template <class Weight>
void score_set(const CandidateSets& sets, std::size_t set, const Weight* weights, int bits, double* out) {
    const std::uint64_t first = sets.first_row(set), rows = sets.row_ends[set] - first;
    const std::uint64_t roles = sets.role_ends[set] - sets.first_role(set);
    if (!roles) return;
    const auto sum = [&](std::uint64_t row, std::uint32_t key, std::uint32_t mask) {
        double total = 0.0;
        for_runs(sets, row, mask, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i)
                total += static_cast<double>(weights[weight_place(sets.features[i], key, bits)]);
        });
        return total;
    };
    for (std::uint64_t row = 0; row < rows; ++row) {
        const double plain = sum(first + row, 0, sets.shared);
        for (std::uint64_t role = 0; role < roles; ++role) out[role * rows + row] = plain;
    }
    SetKeys keys;
    keys.collect(sets, set);
    std::vector<double> said(rows);
    std::size_t at = 0;
    for (std::size_t k = 0; k < keys.distinct.size(); ++k) {
        for (std::uint64_t row = 0; row < rows; ++row) said[row] = sum(first + row, keys.key(k), keys.mask(k));
        for (; at < keys.of_role.size() && keys.of_role[at].first == k; ++at) {
            double* scores = out + keys.of_role[at].second * rows;
            for (std::uint64_t row = 0; row < rows; ++row) scores[row] += said[row];
        }
    }
}

// Turns scores into probability minus truth, the derivative of the loss; returns the loss.
inline double softmax_difference(double* scores, std::uint64_t rows, std::uint64_t right) {
    double largest = scores[0];
    for (std::uint64_t row = 1; row < rows; ++row) largest = std::max(largest, scores[row]);
    const double wanted = scores[right] - largest;
    double total = 0.0;
    for (std::uint64_t row = 0; row < rows; ++row) total += scores[row] = std::exp(scores[row] - largest);
    for (std::uint64_t row = 0; row < rows; ++row) scores[row] /= total;
    scores[right] -= 1.0;
    return std::log(total) - wanted;
}

// Calls add(place, amount) for every weight that the derivatives of one set move, always in the same order.
template <class Add>
void spread_set(const CandidateSets& sets, std::size_t set, const double* slopes, double negligible, int bits,
                Add add) {
    const std::uint64_t first = sets.first_row(set), rows = sets.row_ends[set] - first;
    const std::uint64_t roles = sets.role_ends[set] - sets.first_role(set);
    const auto each = [&](std::uint64_t row, std::uint32_t key, std::uint32_t mask, double slope) {
        if (std::abs(slope) <= negligible) return;
        for_runs(sets, row, mask, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) add(weight_place(sets.features[i], key, bits), slope);
        });
    };
    for (std::uint64_t row = 0; row < rows && roles; ++row) {
        double total = 0.0;
        for (std::uint64_t role = 0; role < roles; ++role) total += slopes[role * rows + row];
        each(first + row, 0, sets.shared, total);
    }
    SetKeys keys;
    keys.collect(sets, set);
    std::vector<double> pull(rows);
    std::size_t at = 0;
    for (std::size_t k = 0; k < keys.distinct.size(); ++k) {
        std::fill(pull.begin(), pull.end(), 0.0);
        for (; at < keys.of_role.size() && keys.of_role[at].first == k; ++at)
            for (std::uint64_t row = 0; row < rows; ++row) pull[row] += slopes[keys.of_role[at].second * rows + row];
        for (std::uint64_t row = 0; row < rows; ++row) each(first + row, keys.key(k), keys.mask(k), pull[row]);
    }
}

inline void score_sets(const CandidateSets& sets, const float* weights, int bits, double* out, std::size_t threads,
                       Control& control) {
    const std::vector<std::uint64_t> offsets = sets.score_offsets();
    parallel_blocks(sets.size(), 16, threads, control, [&] {
        return [&](std::size_t begin, std::size_t end) {
            for (std::size_t set = begin; set < end; ++set) {
                control.check();
                score_set(sets, set, weights, bits, out + offsets[set]);
            }
        };
    });
}

// The loss, summed over all roles, and its gradient.
inline double loss_and_gradient(const CandidateSets& sets, std::span<const std::uint32_t> right, const double* weights,
                                int bits, double* gradient, Control& control) {
    std::vector<double> slopes;
    double loss = 0.0;
    for (std::size_t set = 0; set < sets.size(); ++set) {
        control.check();
        const std::uint64_t rows = sets.row_ends[set] - sets.first_row(set);
        const std::uint64_t first_role = sets.first_role(set), roles = sets.role_ends[set] - first_role;
        slopes.resize(rows * roles);
        score_set(sets, set, weights, bits, slopes.data());
        for (std::uint64_t role = 0; role < roles; ++role)
            loss += softmax_difference(slopes.data() + role * rows, rows, right[first_role + role]);
        spread_set(sets, set, slopes.data(), 0.0, bits,
                   [&](std::uint32_t place, double amount) { gradient[place] += amount; });
        control.done.fetch_add(1, std::memory_order_relaxed);
    }
    return loss;
}

// The state of AdaGrad: weights, sums of squared gradients, and when each weight last moved.
struct AdaGradState {
    float* weights;
    float* squares;
    std::uint32_t* moved;
    std::uint32_t step;  // batches seen so far
};

struct AdaGradSettings {
    int bits;
    double rate;
    double decay;  // derivative of the penalty with respect to a weight of 1, for one batch
    double negligible;
    std::size_t batch;
    std::size_t threads;
};

inline float decayed(float weight, float square, double rate, double decay, std::uint32_t steps) {
    if (square <= 0.0f) return weight;
    return static_cast<float>(weight / (1.0 + steps * decay * rate / std::sqrt(static_cast<double>(square))));
}

// One pass over the sets in the order given. The batches are fixed by the order, the gradient of a weight is summed in
// that order, and each weight belongs to one thread, so the number of threads changes nothing. The penalty on a weight
// that no batch has moved for a while is made up for when it moves next. Returns the loss before each batch, summed.
inline double adagrad_epoch(const CandidateSets& sets, std::span<const std::uint32_t> right,
                            std::span<const std::uint64_t> order, AdaGradState& state, const AdaGradSettings& settings,
                            Control& control) {
    const std::vector<std::uint64_t> offsets = sets.score_offsets();
    const std::size_t threads = std::max<std::size_t>(1, settings.threads), size = std::size_t{1} << settings.bits;
    std::vector<float> gradient(size, 0.0f);
    std::vector<std::vector<std::uint32_t>> touched(threads);
    std::vector<std::vector<double>> slopes(settings.batch);
    std::vector<double> losses(settings.batch);
    Control inner;  // the blocks below are too small to be counted as progress
    double loss = 0.0;
    for (std::size_t begin = 0; begin < order.size(); begin += settings.batch) {
        control.check();
        const std::size_t count = std::min(settings.batch, order.size() - begin);
        ++state.step;
        const auto differentiate = [&](std::size_t at) {
            const std::size_t set = order[begin + at];
            const std::uint64_t rows = sets.row_ends[set] - sets.first_row(set);
            const std::uint64_t first_role = sets.first_role(set), roles = sets.role_ends[set] - first_role;
            slopes[at].resize(rows * roles);
            score_set(sets, set, state.weights, settings.bits, slopes[at].data());
            losses[at] = 0.0;
            for (std::uint64_t role = 0; role < roles; ++role)
                losses[at] += softmax_difference(slopes[at].data() + role * rows, rows, right[first_role + role]);
        };
        parallel_blocks(count, 1, threads, inner, [&] {
            return [&](std::size_t from, std::size_t to) {
                for (std::size_t at = from; at < to; ++at) differentiate(at);
            };
        });
        parallel_blocks(threads, 1, threads, inner, [&] {
            return [&](std::size_t from, std::size_t to) {
                for (std::size_t shard = from; shard < to; ++shard) {
                    const std::uint64_t low = size * shard / threads, high = size * (shard + 1) / threads;
                    std::vector<std::uint32_t>& mine = touched[shard];
                    for (std::size_t at = 0; at < count; ++at)
                        spread_set(sets, order[begin + at], slopes[at].data(), settings.negligible, settings.bits,
                                   [&](std::uint32_t place, double amount) {
                                       if (place < low || place >= high) return;
                                       if (gradient[place] == 0.0f) mine.push_back(place);
                                       gradient[place] += static_cast<float>(amount);
                                   });
                    for (const std::uint32_t place : mine) {
                        const float slope = gradient[place];
                        if (slope == 0.0f) continue;  // cancelled out, or entered twice and done
                        gradient[place] = 0.0f;
                        float weight = decayed(state.weights[place], state.squares[place], settings.rate,
                                               settings.decay, state.step - state.moved[place]);
                        state.squares[place] += slope * slope;
                        weight -= static_cast<float>(settings.rate * slope /
                                                     std::sqrt(static_cast<double>(state.squares[place])));
                        state.weights[place] = weight;
                        state.moved[place] = state.step;
                    }
                    mine.clear();
                }
            };
        });
        for (std::size_t at = 0; at < count; ++at) loss += losses[at];
        control.done.fetch_add(count, std::memory_order_relaxed);
    }
    return loss;
}

// Makes up for the penalty of weights that have not moved lately; call it before the weights are used.
inline void adagrad_settle(AdaGradState& state, const AdaGradSettings& settings) {
    const std::size_t size = std::size_t{1} << settings.bits;
    for (std::size_t place = 0; place < size; ++place) {
        state.weights[place] = decayed(state.weights[place], state.squares[place], settings.rate, settings.decay,
                                       state.step - state.moved[place]);
        state.moved[place] = state.step;
    }
}

}  // namespace sapwood
