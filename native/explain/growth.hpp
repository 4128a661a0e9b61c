// How much a fragment can still gain by growing: what all bounds of searches for fragments have in common.
#pragma once

#include <algorithm>

namespace sapwood {

// Bounds stay below this, so that products of two are finite.
inline constexpr double kLargestGrowth = 1e150;

// The most that can come of growing at several places, each of which multiplies by its own most; at least one grows.
struct Growth {
    double product = 1.0, largest = 0.0;
    void at(double most) {
        product = std::min(kLargestGrowth, product * std::max(1.0, most));
        largest = std::max(largest, most);
    }
    double most() const { return largest > 1.0 ? product : largest; }
};

}  // namespace sapwood
