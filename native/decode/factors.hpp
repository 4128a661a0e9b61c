// What a single factor can do: project a point onto its polytope, and find its best vertex.
//
// A factor is over a few binary variables. Its polytope is the convex hull of the assignments it allows.
// Both operations see plain literals: negation is resolved by the caller (a negated literal is 1 - z). Nothing here
// knows about graphs, iterations or search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sapwood::decode {

enum class Kind : std::uint8_t {
    Xor,        // exactly one literal is true
    AtMostOne,  // none or one
    Or,         // at least one
    OrOut,      // the last literal says whether any other is true
    Budget,     // at most `limit` literals are true
    Pair,       // no constraint: a score is earned when both literals are true
};

inline double clip(double value) { return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value; }

// Scratch space that projections reuse between calls.
struct Scratch {
    std::vector<double> values;
};

// Onto { z >= 0, sum z = 1 }. Entries at or below a rising threshold are dropped until none is left to drop.
inline void project_simplex(double* a, std::size_t count, Scratch& scratch) {
    double top = a[0];
    for (std::size_t i = 1; i < count; ++i) top = std::max(top, a[i]);
    // Relative to the largest entry, the threshold lies in [-1, 0): whatever is a whole unit below cannot survive.
    auto& kept = scratch.values;
    kept.clear();
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = a[i] - top;
        if (value > -1.0) {
            kept.push_back(value);
            sum += value;
        }
    }
    double threshold = (sum - 1.0) / static_cast<double>(kept.size());
    for (;;) {
        std::size_t left = 0;
        sum = 0.0;
        for (const double value : kept)
            if (value > threshold) {
                kept[left++] = value;
                sum += value;
            }
        if (left == kept.size() || left == 0) break;
        kept.resize(left);
        threshold = (sum - 1.0) / static_cast<double>(left);
    }
    for (std::size_t i = 0; i < count; ++i) a[i] = std::max(0.0, a[i] - top - threshold);
}

// Onto { 0 <= z <= 1, sum z <= limit }.
inline void project_budget(double* a, std::size_t count, std::size_t limit, Scratch& scratch) {
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += clip(a[i]);
    if (sum <= static_cast<double>(limit)) {
        for (std::size_t i = 0; i < count; ++i) a[i] = clip(a[i]);
        return;
    }
    if (limit == 0) {
        std::fill(a, a + count, 0.0);
        return;
    }
    // sum clip(a - t) falls piecewise linearly in t, with kinks at a and a - 1: find the piece that crosses the limit.
    auto& kinks = scratch.values;
    kinks.clear();
    for (std::size_t i = 0; i < count; ++i) {
        kinks.push_back(a[i]);
        kinks.push_back(a[i] - 1.0);
    }
    std::sort(kinks.begin(), kinks.end());
    const auto total = [&](double shift) {
        double result = 0.0;
        for (std::size_t i = 0; i < count; ++i) result += clip(a[i] - shift);
        return result;
    };
    std::size_t low = 0, high = kinks.size() - 1;  // total(kinks[low]) >= limit > total(kinks[high]) == 0
    while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (total(kinks[middle]) >= static_cast<double>(limit) ? low : high) = middle;
    }
    const double left = kinks[low], right = kinks[high];
    const double at_left = total(left), at_right = total(right);
    const double share = at_left > at_right ? (at_left - static_cast<double>(limit)) / (at_left - at_right) : 0.0;
    const double shift = left + share * (right - left);
    for (std::size_t i = 0; i < count; ++i) a[i] = clip(a[i] - shift);
}

inline void project_or(double* a, std::size_t count, Scratch& scratch) {
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += clip(a[i]);
    if (sum >= 1.0) {
        for (std::size_t i = 0; i < count; ++i) a[i] = clip(a[i]);
    } else {
        project_simplex(a, count, scratch);
    }
}

inline void project_at_most_one(double* a, std::size_t count, Scratch& scratch) {
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += clip(a[i]);
    if (sum <= 1.0) {
        for (std::size_t i = 0; i < count; ++i) a[i] = clip(a[i]);
    } else {
        project_simplex(a, count, scratch);
    }
}

// Onto { 0 <= z_i <= out <= 1, sum z_i >= out }; the last entry is out.
inline void project_or_out(double* a, std::size_t count, Scratch& scratch) {
    const std::size_t inputs = count - 1;
    // First without the sum: out joins the inputs above it in a common average (isotonic regression on a star).
    auto& sorted = scratch.values;
    sorted.assign(a, a + inputs);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = a[inputs], level = sum;
    for (std::size_t i = 0; i < inputs && sorted[i] > level; ++i) {
        sum += sorted[i];
        level = sum / static_cast<double>(i + 2);
    }
    const double out = clip(level);
    double total = 0.0;
    for (std::size_t i = 0; i < inputs; ++i) total += clip(std::min(a[i], level));
    if (total >= out) {
        for (std::size_t i = 0; i < inputs; ++i) a[i] = clip(std::min(a[i], level));
        a[inputs] = out;
        return;
    }
    // Otherwise the sum is tight, and with 1 - out in place of out that is the simplex.
    a[inputs] = 1.0 - a[inputs];
    project_simplex(a, count, scratch);
    a[inputs] = 1.0 - a[inputs];
}

// Maximises score * z12 - |z - a|^2 / 2 over the hull of the four assignments of a pair.
inline void project_pair(double* a, double score) {
    double first = a[0], second = a[1];
    const bool repel = score < 0.0;
    if (repel) {  // z12 = z2 - (1 - z1) z2: a repelled pair is an attracted pair of the opposite literal
        first = 1.0 - first;
        second += score;
        score = -score;
    }
    if (first > second + score) {
        second += score;
    } else if (second > first + score) {
        first += score;
    } else {
        first = second = (first + second + score) / 2.0;
    }
    first = clip(first);
    second = clip(second);
    a[0] = repel ? 1.0 - first : first;
    a[1] = second;
}

inline void project(Kind kind, double* a, std::size_t count, std::size_t limit, double score, Scratch& scratch) {
    switch (kind) {
        case Kind::Xor:
            project_simplex(a, count, scratch);
            break;
        case Kind::AtMostOne:
            project_at_most_one(a, count, scratch);
            break;
        case Kind::Or:
            project_or(a, count, scratch);
            break;
        case Kind::OrOut:
            project_or_out(a, count, scratch);
            break;
        case Kind::Budget:
            project_budget(a, count, limit, scratch);
            break;
        case Kind::Pair:
            project_pair(a, score);
            break;
    }
}

// The best value of weights . z over the assignments the factor allows; `best` receives one that reaches it.
inline double maximise(Kind kind, const double* weights, std::size_t count, std::size_t limit, double score,
                       Scratch& scratch, std::uint8_t* best) {
    if (best) std::fill(best, best + count, std::uint8_t{0});
    const auto any_of = [&](std::size_t size) {  // at least one true among the first `size`
        double sum = 0.0;
        std::size_t top = 0;
        bool positive = false;
        for (std::size_t i = 0; i < size; ++i) {
            if (weights[i] > weights[top]) top = i;
            if (weights[i] > 0.0) {
                positive = true;
                sum += weights[i];
                if (best) best[i] = 1;
            }
        }
        if (positive) return sum;
        if (best) best[top] = 1;
        return weights[top];
    };
    switch (kind) {
        case Kind::Xor:
        case Kind::AtMostOne: {
            std::size_t top = 0;
            for (std::size_t i = 1; i < count; ++i)
                if (weights[i] > weights[top]) top = i;
            if (kind == Kind::AtMostOne && weights[top] <= 0.0) return 0.0;
            if (best) best[top] = 1;
            return weights[top];
        }
        case Kind::Or:
            return any_of(count);
        case Kind::OrOut: {
            const double on = weights[count - 1] + any_of(count - 1);
            if (on > 0.0) {
                if (best) best[count - 1] = 1;
                return on;
            }
            if (best) std::fill(best, best + count, std::uint8_t{0});
            return 0.0;
        }
        case Kind::Budget: {
            auto& positive = scratch.values;
            positive.clear();
            for (std::size_t i = 0; i < count; ++i)
                if (weights[i] > 0.0) positive.push_back(weights[i]);
            double sum = 0.0, cut = 0.0;
            std::size_t at_cut = positive.size();
            if (positive.size() > limit) {
                std::sort(positive.begin(), positive.end(), std::greater<>());
                cut = limit ? positive[limit - 1] : positive[0];
                at_cut = 0;  // how many entries equal to the cut still fit
                for (std::size_t i = 0; i < limit; ++i) at_cut += positive[i] == cut;
                if (limit == 0) return 0.0;
            }
            for (std::size_t i = 0; i < count; ++i) {
                if (weights[i] <= 0.0 || weights[i] < cut) continue;
                if (weights[i] == cut) {
                    if (at_cut == 0) continue;
                    --at_cut;
                }
                sum += weights[i];
                if (best) best[i] = 1;
            }
            return sum;
        }
        case Kind::Pair: {
            const double both = weights[0] + weights[1] + score;
            const double value = std::max({0.0, weights[0], weights[1], both});
            if (best) {
                best[0] = value == both || (value == weights[0] && value != 0.0);
                best[1] = value == both || (value == weights[1] && value != 0.0 && !best[0]);
            }
            return value;
        }
    }
    return 0.0;
}

}  // namespace sapwood::decode
