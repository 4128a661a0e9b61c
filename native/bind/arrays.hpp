// NumPy arrays in and out: types that never convert silently, and vectors passed on without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/array.hpp"

namespace sapwood::bind {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = Input<std::uint32_t>;
using Offsets = Input<std::uint64_t>;
using Values = Input<double>;

// Results are written into arrays that Python has made.
template <class T>
using InputMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstMatrix = InputMatrix<double>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = Output<double>;

// An array made here.
template <class T>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class Array>
auto view(const Array& array) {
    return std::span(array.data(), array.shape(0));
}

// A NumPy array that owns the vector.
template <class T>
Result<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return Result<T>(owned->data(), {owned->size()}, owner);
}

// Arrays of a structure as the bytes that they are, and its numbers; see core/array.hpp.
using Bytes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;
using Parts = std::tuple<std::vector<Bytes>, std::vector<std::uint64_t>>;

// Without a copy; `owner` holds the structure.
template <class Structure>
Parts parts_of(Structure& structure, nb::handle owner) {
    Listing listing;
    structure.parts(listing);
    std::vector<Bytes> arrays;
    for (const auto bytes : listing.arrays)
        arrays.push_back(Bytes(reinterpret_cast<const std::uint8_t*>(bytes.data()), {bytes.size()}, owner));
    return {std::move(arrays), std::move(listing.numbers)};
}

// Whose arrays must be held by what is made of them.
using GivenArrays = std::vector<Input<std::uint8_t>>;

// Calls make(placing) with parts such as parts_of gives.
template <class Make>
auto from_parts(const GivenArrays& arrays, const std::vector<std::uint64_t>& numbers, Make make) {
    std::vector<std::span<const std::byte>> bytes;
    for (const auto& array : arrays) bytes.push_back(std::as_bytes(view(array)));
    Placing placing(bytes, numbers);
    return make(placing);
}

}  // namespace sapwood::bind
