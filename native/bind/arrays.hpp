// NumPy arrays in and out: types that never convert silently, and vectors handed over without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <vector>

namespace sapwood::bind {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = Input<std::uint32_t>;
using Offsets = Input<std::uint64_t>;
using Values = Input<double>;

template <class Array>
auto view(const Array& array) {
    return std::span(array.data(), array.shape(0));
}

// A NumPy array that owns the vector.
template <class T>
auto give(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

}  // namespace sapwood::bind
