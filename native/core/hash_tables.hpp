// Hash tables from keys to 32-bit numbers, as the arena and the kernels use them.
//
// They hold numbers given in order of arrival; what a number stands for is stored by the owner of the table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace sapwood {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

namespace detail {

// Keys are hashed with a seed drawn once per process, so that no input can be made to collide on purpose.
// Numbers are given in order of arrival, hence no result depends on the seed.
inline const std::uint64_t kDrawnSeed = [] {
    std::random_device source;
    return (std::uint64_t{source()} << 32) ^ source();
}();

inline std::uint64_t hash_seed() { return kDrawnSeed; }

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd1b54a32d192ed03ull);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint32_t hash_bytes(std::string_view bytes) {
    std::uint64_t state = mix(hash_seed(), bytes.size());
    const char* data = bytes.data();
    std::size_t left = bytes.size();
    while (left >= 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        state = mix(state, word);
        data += 8;
        left -= 8;
    }
    if (left > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, data, left);
        state = mix(state, word);
    }
    return static_cast<std::uint32_t>(state ^ (state >> 32));
}

// Open addressing with linear probing over 32-bit numbers; the keys live with the owner.
class IndexTable {
  public:
    IndexTable() : slots_(64, Slot{kNone, 0}) {}

    // Returns the number whose key has this hash and satisfies `equal`, or kNone.
    template <class Equal>
    std::uint32_t find(std::uint32_t hash, Equal equal) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone) return kNone;
            if (slot.hash == hash && equal(slot.number)) return slot.number;
        }
    }

    std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

    // Asks for the memory where a key with this hash is, which then takes less time to be found.
    void prefetch(std::uint32_t hash) const { __builtin_prefetch(slots_.data() + (hash & (slots_.size() - 1))); }

    // Makes room for so many keys in all.
    void reserve(std::size_t keys) {
        std::size_t size = slots_.size();
        while (2 * keys > size) size *= 2;
        if (size > slots_.size()) grow(size);
    }

    void clear() {
        std::fill(slots_.begin(), slots_.end(), Slot{kNone, 0});
        used_ = 0;
    }

    void insert(std::uint32_t hash, std::uint32_t number) {
        if (2 * (used_ + 1) > slots_.size()) grow(2 * slots_.size());
        place(Slot{number, hash});
        ++used_;
    }

  private:
    struct Slot {
        std::uint32_t number, hash;
    };

    void place(Slot slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = slot.hash & mask;
        while (slots_[at].number != kNone) at = (at + 1) & mask;
        slots_[at] = slot;
    }

    void grow(std::size_t size) {
        std::vector<Slot> old(size, Slot{kNone, 0});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) place(slot);
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

// The same for keys of up to 96 bits, which are kept in the slot itself: finding one touches a single cache line.
// Labels of up to eight bytes and nodes of one or two children, nearly all there are, are found this way.
class ShortKeyTable {
  public:
    struct Key {
        std::uint32_t a, b, c;
        bool operator==(const Key&) const = default;
    };

    ShortKeyTable() : slots_(64, Slot{{0, 0, 0}, kNone}) {}

    std::uint32_t find(const Key& key) const { return find(hash(key), key); }
    void insert(const Key& key, std::uint32_t number) {
        claim(hash(key), key, [](const Key& other, std::uint32_t) { return hash(other); }) = number;
    }

    // The same for an owner that has hashes of its own.
    std::uint32_t find(std::size_t hash, const Key& key) const { return slots_[seek(hash, key)].number; }

    // Where the number of this key is. A key that is new has kNone there, for the caller to replace before anything
    // else is asked of this table: so a look-up that ends in an insertion goes through memory once. hash_of(key,
    // number) gives the hash of what is in the table already.
    template <class HashOf>
    std::uint32_t& claim(std::size_t hash, const Key& key, HashOf hash_of) {
        // Three quarters full: more probes, but fewer cache misses than in a table of twice the size.
        if (4 * (used_ + 1) > 3 * slots_.size()) grow(2 * slots_.size(), hash_of);
        Slot& slot = slots_[seek(hash, key)];
        if (slot.number == kNone) {
            slot.key = key;
            ++used_;
        }
        return slot.number;
    }
    std::uint32_t& claim(const Key& key) {
        return claim(hash(key), key, [](const Key& other, std::uint32_t) { return hash(other); });
    }

    // Asks for the memory where a key with this hash is, which then takes less time to be found.
    void prefetch(const Key& key) const { prefetch(hash(key)); }
    void prefetch(std::size_t hash) const { __builtin_prefetch(slots_.data() + (hash & (slots_.size() - 1))); }

    std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

    void reserve(std::size_t keys) {
        reserve(keys, [](const Key& other, std::uint32_t) { return hash(other); });
    }
    template <class HashOf>
    void reserve(std::size_t keys, HashOf hash_of) {
        std::size_t size = slots_.size();
        while (3 * size < 4 * keys) size *= 2;
        if (size > slots_.size()) grow(size, hash_of);
    }

    static std::size_t hash(const Key& key) {
        return static_cast<std::size_t>(mix(hash_seed() ^ key.c, (std::uint64_t{key.a} << 32) | key.b));
    }

  private:
    struct Slot {
        Key key;
        std::uint32_t number;
    };

    // The slot of a key, or the free one where it belongs.
    std::size_t seek(std::size_t hash, const Key& key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at].number != kNone && !(slots_[at].key == key)) at = (at + 1) & mask;
        return at;
    }

    template <class HashOf>
    void grow(std::size_t size, HashOf hash_of) {
        std::vector<Slot> old(size, Slot{{0, 0, 0}, kNone});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) slots_[seek(hash_of(slot.key, slot.number), slot.key)] = slot;
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace detail

}  // namespace sapwood
