// Roots of trees that come from Python: every number must name a node.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "bind/arrays.hpp"
#include "trees/arena.hpp"

namespace sapwood::bind {

inline void check_roots(const Arena& arena, std::span<const Node> roots) {
    for (const Node root : roots)
        if (root >= arena.size()) throw nb::index_error("root outside the arena");
}

inline std::span<const Node> checked_roots(const Arena& arena, const Numbers& array) {
    check_roots(arena, view(array));
    return view(array);
}

}  // namespace sapwood::bind
