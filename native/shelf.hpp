// Things that one thread at a time works with and leaves to whoever comes next, so that nobody begins from nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sapwood {

template <class Thing>
class Shelf {
  public:
    // What is left beyond this many is thrown away.
    explicit Shelf(std::size_t most) : most_(most) { things_.reserve(most); }

    // One that was left, or a new one: make() returns it.
    template <class Make>
    std::unique_ptr<Thing> take(Make make) {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            if (!things_.empty()) {
                std::unique_ptr<Thing> thing = std::move(things_.back());
                things_.pop_back();
                return thing;
            }
        }
        return make();
    }
    // Takes no memory, since it happens where somebody may just have run out of it.
    void leave(std::unique_ptr<Thing> thing) noexcept {
        const std::lock_guard<std::mutex> hold(lock_);
        if (things_.size() < most_) things_.push_back(std::move(thing));
    }

  private:
    std::size_t most_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Thing>> things_;
};

}  // namespace sapwood
