// A set of small numbers that is cleared in constant time, for marking what a pass has visited.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sapwood {

class VisitedSet {
  public:
    // For numbers below `size`.
    explicit VisitedSet(std::size_t size) : round_of_(size, 0) {}

    void clear() {
        if (++round_ != 0) return;
        std::fill(round_of_.begin(), round_of_.end(), 0);
        round_ = 1;
    }
    // Adds a number; whether it is new.
    bool insert(std::size_t number) {
        if (round_of_[number] == round_) return false;
        round_of_[number] = round_;
        return true;
    }
    bool contains(std::size_t number) const { return round_of_[number] == round_; }

  private:
    std::vector<std::uint32_t> round_of_;  // the round in which a number was last added
    std::uint32_t round_ = 1;
};

}  // namespace sapwood
