// Work that depends on a short list of numbers alone, such as labels, and is therefore done once for all that have the same.
#pragma once

#include <cstdint>
#include <vector>

#include "arena.hpp"

namespace sapwood {

// Plan has size(): how many numbers it holds, roughly.
template <class Plan>
class Plans {
  public:
    // All plans are forgotten once they hold more numbers than there is room for.
    explicit Plans(std::size_t room) : room_(room) {}

    // The plan with this key; make(plan) fills a new one. It is good until the next call.
    template <class Make>
    const Plan& get(const std::vector<std::uint32_t>& key, Make make) {
        Arena::Hash hash(static_cast<Symbol>(key.size()));
        for (const std::uint32_t part : key) hash.add(part);
        const std::uint32_t found = table_.find(hash.value(), [&](std::uint32_t number) { return kept_[number].key == key; });
        if (found != kNone) return kept_[found].plan;
        if (size_ > room_) {
            kept_.clear();
            table_ = {};
            size_ = 0;
        }
        table_.insert(hash.value(), static_cast<std::uint32_t>(kept_.size()));
        kept_.push_back({key, {}});
        make(kept_.back().plan);
        size_ += key.size() + kept_.back().plan.size();
        return kept_.back().plan;
    }

  private:
    struct Kept {
        std::vector<std::uint32_t> key;
        Plan plan;
    };

    std::size_t room_, size_ = 0;
    std::vector<Kept> kept_;
    detail::IndexTable table_;
};

}  // namespace sapwood
