// Objects that are expensive to make, such as scratch space, and are used again by one thread after another.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sapwood {

template <class Object>
class ObjectPool {
  public:
    // At most `capacity` idle objects are kept.
    explicit ObjectPool(std::size_t capacity) : capacity_(capacity) { idle_.reserve(capacity); }

    // An idle object, or a new one from make().
    template <class Make>
    std::unique_ptr<Object> acquire(Make make) {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            if (!idle_.empty()) {
                std::unique_ptr<Object> object = std::move(idle_.back());
                idle_.pop_back();
                return object;
            }
        }
        return make();
    }
    // Allocates nothing: it is also called while memory is exhausted.
    void release(std::unique_ptr<Object> object) noexcept {
        const std::lock_guard<std::mutex> hold(lock_);
        if (idle_.size() < capacity_) idle_.push_back(std::move(object));
    }

  private:
    std::size_t capacity_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Object>> idle_;
};

}  // namespace sapwood
