// Best-first search for the heaviest fragments: of all that could still grow into one, the most promising is grown
// next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <utility>

#include "core/parallel.hpp"

namespace sapwood {

// Grown is a fragment with whatever the search needs to know about it.
template <class Grown>
class BestFirst {
  public:
    // A fragment that has not been made yet: what it grows from, where, and by which step.
    struct Waiting {
        double bound;         // no weight of it, or of what grows from it, is larger
        std::size_t arrival;  // first come, first served among equals, so that the order is always the same
        std::shared_ptr<const Grown> from;  // null: it is the first step
        std::uint32_t at, step;
        bool operator<(const Waiting& other) const {
            return bound != other.bound ? bound < other.bound : arrival > other.arrival;
        }
    };

    void push(double bound, std::shared_ptr<const Grown> from, std::uint32_t at, std::uint32_t step) {
        waiting_.push({bound, arrivals_++, std::move(from), at, step});
    }

    // Calls take(waiting) until no bound is above threshold(), or until `work`, which take adds to, is above the limit:
    // false then.
    template <class Threshold, class Take>
    bool run(std::size_t limit, const std::size_t& work, const Control& control, Threshold threshold, Take take) {
        std::size_t checked = work;
        while (!waiting_.empty()) {
            const Waiting next = waiting_.top();
            if (next.bound <= threshold()) break;
            if (work > limit) return false;
            waiting_.pop();
            take(next);
            if (work - checked > 1000000) {
                control.check();
                checked = work;
            }
        }
        return true;
    }

  private:
    std::priority_queue<Waiting> waiting_;
    std::size_t arrivals_ = 0;
};

}  // namespace sapwood
