// Which of many numbers were met since the last time somebody began to ask, without clearing anything in between.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sapwood {

class Stamps {
  public:
    // For numbers below `size`.
    explicit Stamps(std::size_t size) : stamp_(size, 0) {}

    // From here on no number has been met.
    void begin() {
        if (++now_ != 0) return;
        std::fill(stamp_.begin(), stamp_.end(), 0);
        now_ = 1;
    }
    // Notes a number; whether it is met for the first time.
    bool meet(std::size_t number) {
        if (stamp_[number] == now_) return false;
        stamp_[number] = now_;
        return true;
    }
    bool met(std::size_t number) const { return stamp_[number] == now_; }

  private:
    std::vector<std::uint32_t> stamp_;
    std::uint32_t now_ = 1;
};

}  // namespace sapwood
