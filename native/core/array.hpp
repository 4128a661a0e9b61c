// Arrays that are vectors like any other, or lie in memory of somebody else, such as a file that is mapped.
//
// Large structures consist of such arrays and of a few numbers. parts(visit) of a structure calls visit for each of
// them, always in the same order: so a structure can be written down, and read where it lies, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace sapwood {

// Gives memory that is there already, once, for all elements that are in it; without such memory a usual allocator.
// Copies of an array have memory of their own.
template <class T>
struct Placed {
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    const void* memory = nullptr;
    std::size_t count = 0;

    Placed() = default;
    Placed(const void* memory, std::size_t count) : memory(memory), count(count) {}
    template <class Other>
    Placed(const Placed<Other>&) {}

    T* allocate(std::size_t size) {
        if (!memory) return std::allocator<T>().allocate(size);
        if (size > count) throw std::logic_error("an array in memory of others cannot grow");
        return static_cast<T*>(const_cast<void*>(memory));
    }
    void deallocate(T* array, std::size_t size) {
        if (array != memory) std::allocator<T>().deallocate(array, size);
    }
    // What is there already stays as it is.
    template <class U>
    void construct(U* element) {
        if (!memory) ::new (static_cast<void*>(element)) U();
    }
    Placed select_on_container_copy_construction() const { return {}; }
    template <class Other>
    bool operator==(const Placed<Other>& other) const {
        return memory == other.memory;
    }
};

template <class T>
using Array = std::vector<T, Placed<T>>;

// The parts of a structure as they lie in memory.
class Listing {
  public:
    template <class T>
    void operator()(Array<T>& array) {
        static_assert(std::is_trivially_copyable_v<T>);
        arrays.push_back(std::as_bytes(std::span(array)));
    }
    void operator()(std::size_t& number) { numbers.push_back(number); }

    std::vector<std::span<const std::byte>> arrays;
    std::vector<std::uint64_t> numbers;
};

// Gives a structure its parts. The memory must outlive it.
class Placing {
  public:
    Placing(std::span<const std::span<const std::byte>> arrays, std::span<const std::uint64_t> numbers)
        : arrays_(arrays), numbers_(numbers) {}

    template <class T>
    void operator()(Array<T>& array) {
        if (arrays_.empty()) throw std::invalid_argument("an array is missing");
        const std::span<const std::byte> bytes = arrays_.front();
        arrays_ = arrays_.subspan(1);
        if (bytes.size() % sizeof(T) != 0) throw std::invalid_argument("an array has a size that no array has");
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0)
            throw std::invalid_argument("an array lies where none can lie");
        const std::size_t count = bytes.size() / sizeof(T);
        array = count == 0 ? Array<T>() : Array<T>(count, Placed<T>(bytes.data(), count));
    }
    void operator()(std::size_t& number) {
        if (numbers_.empty()) throw std::invalid_argument("a number is missing");
        number = static_cast<std::size_t>(numbers_.front());
        numbers_ = numbers_.subspan(1);
    }
    bool done() const { return arrays_.empty() && numbers_.empty(); }

  private:
    std::span<const std::span<const std::byte>> arrays_;
    std::span<const std::uint64_t> numbers_;
};

}  // namespace sapwood
