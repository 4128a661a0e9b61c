// Plans of things of which it is known how often they will be asked for: those are kept that will be asked for most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/hash_tables.hpp"

namespace sapwood {

// Plan has size(): how many numbers of four bytes it holds, roughly. In text few productions come again and again, and
// most but once or twice: beside a cache of what was used last, this needs a quarter of the memory for as many hits.
template <class Plan>
class PlanShelf {
  public:
    // uses: for each thing, how often it may be asked for. Plans kept hold at most `room` numbers, and the last one.
    PlanShelf(std::vector<std::uint32_t> uses, std::size_t room)
        : uses_(std::move(uses)), left_(uses_), place_(uses_.size(), kNone), room_(room) {}

    // The plan of a thing; make(plan) fills a new one, which may hold what an older one did. It is valid until the next
    // call.
    template <class Make>
    const Plan& get(std::uint32_t thing, Make make) {
        if (done_ != kNone) drop(std::exchange(done_, kNone));
        const bool last = left_[thing] <= 1;
        left_[thing] -= left_[thing] != 0;
        if (place_[thing] != kNone) {
            if (last) done_ = thing;
            return kept_[place_[thing]].plan;
        }
        make(fresh_);
        if (last) return fresh_;
        if (size_ > room_) make_room();
        // A copy takes no more memory than it needs, and the next plan is made where this one was.
        place_[thing] = static_cast<std::uint32_t>(kept_.size());
        kept_.push_back({thing, fresh_});
        size_ += kOverhead + fresh_.size();
        return kept_.back().plan;
    }

    // As it was at first.
    void clear() {
        for (const Kept& one : kept_) place_[one.thing] = kNone;
        kept_.clear();
        left_ = uses_;
        size_ = 0;
        done_ = kNone;
    }

  private:
    struct Kept {
        std::uint32_t thing;
        Plan plan;
    };
    // Numbers that the memory of any plan would hold: itself, and what the heap needs for it.
    static constexpr std::size_t kOverhead = sizeof(Kept) / 4 + 32;

    void drop(std::uint32_t thing) {
        Kept& gone = kept_[std::exchange(place_[thing], kNone)];
        size_ -= kOverhead + gone.plan.size();
        if (&gone != &kept_.back()) {
            gone = std::move(kept_.back());
            place_[gone.thing] = static_cast<std::uint32_t>(&gone - kept_.data());
        }
        kept_.pop_back();
    }

    // Drops a tenth: what will be asked for least.
    void make_room() {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
        for (const Kept& one : kept_) order.emplace_back(left_[one.thing], one.thing);
        std::sort(order.begin(), order.end());
        for (auto one = order.begin(); one != order.end() && size_ > room_ - room_ / 10; ++one) drop(one->second);
    }

    std::vector<std::uint32_t> uses_, left_, place_;  // place_: in kept_; kNone: none
    std::vector<Kept> kept_;
    std::size_t room_, size_ = 0;
    std::uint32_t done_ = kNone;  // will not be asked for again
    Plan fresh_;
};

}  // namespace sapwood
