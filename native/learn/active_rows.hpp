// The rows of a solver that were used last, over the points that it has not set aside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/hash_tables.hpp"

namespace sapwood {

// The rows used last over the points that are still active, in one block of memory.
template <class Real>
class ActiveRowCache {
  public:
    explicit ActiveRowCache(std::size_t bytes) : room_(std::max<std::size_t>(2, bytes / sizeof(Real))) {}

    // Forgets everything; rows will have this many values, and come from points below `points`.
    void reset(std::size_t points, std::size_t width) {
        // A window must hold two rows at least, however long they are.
        if (!values_ || room_ < 2 * width) {
            room_ = std::max(room_, 2 * width);
            values_.reset(new Real[room_]);
        }
        slot_.assign(points, kNone);
        slots_.clear();
        width_ = width;
        resize();
    }

    // How many rows asked for one after the other stay in place together.
    std::size_t at_once() const { return capacity_ / 2; }

    // The row of a point; compute(values) fills it where it is not there.
    template <class Compute>
    const Real* get(std::uint32_t point, Compute compute) {
        std::uint32_t slot = slot_[point];
        if (slot == kNone) {
            slot = take();
            slots_[slot].point = point;
            compute(values_.get() + slot * width_);
            slot_[point] = slot;
        }
        slots_[slot].used = ++clock_;
        return values_.get() + slot * width_;
    }

    // The row of a point if it is there.
    const Real* find(std::uint32_t point) const {
        return slot_[point] == kNone ? nullptr : values_.get() + slot_[point] * width_;
    }

    // Drops all columns but those listed, which ascend.
    void keep(const std::vector<std::uint32_t>& columns) {
        // Rows move towards the front and never overtake themselves.
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
            const Real* from = values_.get() + slot * width_;
            Real* to = values_.get() + slot * columns.size();
            for (std::size_t k = 0; k < columns.size(); ++k) to[k] = from[columns[k]];
        }
        width_ = columns.size();
        resize();
    }

  private:
    struct Slot {
        std::uint32_t point = kNone;
        std::uint64_t used = 0;
    };

    void resize() { capacity_ = std::max<std::size_t>(2, room_ / std::max<std::size_t>(1, width_)); }

    std::uint32_t take() {
        if (slots_.size() < capacity_) {
            slots_.emplace_back();
            return static_cast<std::uint32_t>(slots_.size() - 1);
        }
        // Nearly the row that has not been used for longest, found without a list to be kept in order.
        const std::uint64_t old = clock_ > capacity_ / 2 ? clock_ - capacity_ / 2 : 0;
        std::size_t tries = 0;
        do hand_ = (hand_ + 1) % slots_.size();
        while (slots_[hand_].used > old && (slots_[hand_].used + at_once() > clock_ || ++tries < 8));
        slot_[slots_[hand_].point] = kNone;
        return static_cast<std::uint32_t>(hand_);
    }

    std::size_t room_, width_ = 0, capacity_ = 2, hand_ = 0;
    std::uint64_t clock_ = 0;
    std::unique_ptr<Real[]> values_;
    std::vector<std::uint32_t> slot_;  // per point
    std::vector<Slot> slots_;
};

}  // namespace sapwood
