// Scratch vectors that are used again and again, kept apart by size.
//
// One heap of them would let every vector grow to the largest size ever asked for.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace sapwood {

class Buffers {
  public:
    // A vector of at least this many doubles with whatever values it last had.
    std::vector<double> take(std::size_t size) {
        const std::size_t bucket = std::bit_width(size);
        if (bucket < free_.size() && !free_[bucket].empty()) {
            std::vector<double> buffer = std::move(free_[bucket].back());
            free_[bucket].pop_back();
            return buffer;
        }
        return std::vector<double>(std::size_t{1} << bucket);
    }

    void give(std::vector<double>&& buffer) {
        if (buffer.empty()) return;
        const std::size_t bucket = std::bit_width(buffer.size() - 1);
        if (bucket >= free_.size()) free_.resize(bucket + 1);
        free_[bucket].push_back(std::move(buffer));
    }

  private:
    std::vector<std::vector<std::vector<double>>> free_;  // by the binary logarithm of their size
};

}  // namespace sapwood
