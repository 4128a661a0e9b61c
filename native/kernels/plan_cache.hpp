// A cache of results (plans) that depend on a short list of numbers alone, such as labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// Plan has size(): how many numbers it holds, roughly.
template <class Plan>
class PlanCache {
  public:
    // Plans that were not used lately are dropped once all together hold more than `capacity` numbers.
    explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

    // The plan with this key; make(plan) fills a new one, which may hold what an older one did. It is valid until the
    // next call.
    template <class Make>
    const Plan& get(const std::vector<std::uint32_t>& key, Make make) {
        Arena::Hash hash(static_cast<Symbol>(key.size()));
        for (const std::uint32_t part : key) hash.add(part);
        if (const Kept* found = young_.find(hash.value(), key)) return found->plan;
        if (const Kept* found = old_.find(hash.value(), key))
            fresh_ = found->plan;
        else
            make(fresh_);
        // A copy takes no more memory than it needs, and the next plan is made where this one was.
        if (young_.size > capacity_ / 2) old_ = std::exchange(young_, {});
        young_.kept.push_back({key, fresh_});
        young_.table.insert(hash.value(), static_cast<std::uint32_t>(young_.kept.size() - 1));
        young_.size += kOverhead + key.size() + fresh_.size();
        return young_.kept.back().plan;
    }

  private:
    struct Kept {
        std::vector<std::uint32_t> key;
        Plan plan;
    };
    // Numbers that the memory of any plan would hold: itself, and what the heap and the table need for it.
    static constexpr std::size_t kOverhead = sizeof(Kept) / 4 + 32;

    struct Generation {
        std::vector<Kept> kept;
        detail::IndexTable table;
        std::size_t size = 0;

        const Kept* find(std::uint32_t hash, const std::vector<std::uint32_t>& key) const {
            const std::uint32_t found = table.find(hash, [&](std::uint32_t number) { return kept[number].key == key; });
            return found == kNone ? nullptr : &kept[found];
        }
    };

    std::size_t capacity_;
    Generation young_, old_;  // used lately, and before that
    Plan fresh_;
};

}  // namespace sapwood
