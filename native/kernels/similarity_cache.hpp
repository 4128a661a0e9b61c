// Similarities of row words to groups of column words, found once for all rows and threads while memory lasts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kernels/lexicon.hpp"

namespace sapwood {

// What was found for a word, wherever it lies.
struct KnownSimilarities {
    bool dense = false;
    const double* values = nullptr;  // if dense: by place, those before the place `from` left out
    std::size_t from = 0;
    std::span<const Similarities::Hit> hits;  // otherwise
};

// Every thread finds the same numbers, so it does not matter whose are kept.
class SimilarityCache {
  public:
    // Where a thread puts what it keeps.
    struct Room {
        std::byte* next = nullptr;
        std::size_t left = 0;
    };

    explicit SimilarityCache(std::size_t entries, std::size_t limit = kLimit) : limit_(limit), entry_(entries) {}
    SimilarityCache(const SimilarityCache&) = delete;
    SimilarityCache& operator=(const SimilarityCache&) = delete;

    // `make(own)` fills the similarities, and nobody will ask for places before `from`; `own` is what is returned where
    // the cache is full or not wanted, and must then stay untouched while in use.
    template <class Make>
    KnownSimilarities get(std::size_t number, bool keep, std::size_t from, Similarities& own, Room& room, Make make) {
        if (keep)
            if (const KnownSimilarities* known = entry_[number].load(std::memory_order_acquire)) return *known;
        make(own);
        if (!keep) return of(own);
        const std::size_t bytes =
            own.dense ? (own.values.size() - from) * sizeof(double) : own.hits.size() * sizeof(Similarities::Hit);
        std::byte* memory = take(sizeof(KnownSimilarities) + bytes, room);
        if (memory == nullptr) return of(own);
        auto* fresh = ::new (memory) KnownSimilarities();
        memory += sizeof(KnownSimilarities);
        if (own.dense) {
            fresh->dense = true;
            fresh->from = from;
            fresh->values = copied(std::span<const double>(own.values).subspan(from), memory);
        } else {
            fresh->hits = {copied(std::span<const Similarities::Hit>(own.hits), memory), own.hits.size()};
        }
        const KnownSimilarities* expected = nullptr;
        if (entry_[number].compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return *fresh;
        return *expected;
    }

  private:
    static constexpr std::size_t kLimit = std::size_t{256} << 20;
    // Pieces of memory grow up to what the system can give as one large page: fresh pages one by one would take longer
    // than what is written to them.
    static constexpr std::size_t kSmallest = std::size_t{1} << 14, kLargest = std::size_t{1} << 21;

    struct Free {
        std::size_t alignment;
        void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t{alignment}); }
    };

    static KnownSimilarities of(const Similarities& own) { return {own.dense, own.values.data(), 0, own.hits}; }

    template <class T>
    static const T* copied(std::span<const T> from, std::byte* memory) {
        std::uninitialized_copy(from.begin(), from.end(), reinterpret_cast<T*>(memory));
        return reinterpret_cast<const T*>(memory);
    }

    // Null if that is too much.
    std::byte* take(std::size_t bytes, Room& room) {
        static_assert(sizeof(KnownSimilarities) % alignof(Similarities::Hit) == 0);
        bytes = (bytes + 15) / 16 * 16;
        if (bytes > room.left) {
            const std::lock_guard<std::mutex> hold(lock_);
            const std::size_t usual = std::clamp(used_ / 2, kSmallest, kLargest);
            const std::size_t size = std::max(bytes, usual >= kLargest / 2 ? kLargest : usual);
            if (used_ + size > limit_) return nullptr;
            used_ += size;
            const std::size_t alignment = size >= kLargest ? kLargest : 64;
            auto* memory = static_cast<std::byte*>(::operator new(size, std::align_val_t{alignment}));
            pieces_.emplace_back(memory, Free{alignment});
#ifdef __linux__
            if (size >= kLargest) madvise(memory, size, MADV_HUGEPAGE);
#endif
            room = {memory, size};
        }
        std::byte* memory = room.next;
        room.next += bytes;
        room.left -= bytes;
        return memory;
    }

    std::size_t limit_;  // of memory, in bytes
    std::vector<std::atomic<const KnownSimilarities*>> entry_;
    std::mutex lock_;
    std::size_t used_ = 0;
    std::vector<std::unique_ptr<std::byte[], Free>> pieces_;
};

}  // namespace sapwood
