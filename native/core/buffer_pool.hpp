// Scratch vectors that are used again, kept apart by size.
//
// Without sizes kept apart, every vector would grow to the largest size ever needed.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace sapwood {

class BufferPool {
  public:
    // A vector of at least this many doubles with whatever values it last had.
    std::vector<double> take(std::size_t size) {
        const std::size_t own = bucket_of(size);
        // A larger one that lies idle is better than another one.
        for (std::size_t bucket = own; bucket < free_.size(); ++bucket) {
            if (free_[bucket].empty()) continue;
            std::vector<double> buffer = std::move(free_[bucket].back());
            free_[bucket].pop_back();
            return buffer;
        }
        return std::vector<double>(largest(own));
    }

    void give(std::vector<double>&& buffer) {
        if (buffer.empty()) return;
        const std::size_t bucket = bucket_of(buffer.size());
        if (bucket >= free_.size()) free_.resize(bucket + 1);
        free_[bucket].push_back(std::move(buffer));
    }

  private:
    // Sizes grow by an eighth or less from bucket to bucket, so that little of a vector is never used. Sizes below 16
    // have a bucket each.
    static std::size_t bucket_of(std::size_t size) {
        if (size < 16) return size;
        const std::size_t shift = static_cast<std::size_t>(std::bit_width(size - 1)) - 4;
        return 8 * shift + ((size - 1) >> shift) + 1;
    }
    static std::size_t largest(std::size_t bucket) {
        if (bucket < 16) return bucket;
        const std::size_t shift = (bucket - 9) / 8;
        return (bucket - 8 * shift) << shift;
    }

    std::vector<std::vector<std::vector<double>>> free_;  // by bucket
};

}  // namespace sapwood
