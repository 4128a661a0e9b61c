// NumPy arrays in and out: types that never convert silently, and vectors passed on without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

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

}  // namespace sapwood::bind
