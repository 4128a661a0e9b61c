// Which nodes of an element a model's score comes from.
//
// The kernels here are sums over pairs of nodes, so f(x) is a sum over the nodes of x: what a node adds is everything
// that hangs from it. A kernel takes part by giving its columns a `node_visitor` (see kernels/subset.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "core/parallel.hpp"
#include "kernels/model.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// out: distinct subtrees of the element by ascending number x outputs, row major: what one occurrence of each adds to
// the outputs.
template <class Columns>
void attribute(const Model<Columns>& model, const Arena& arena, const Bags& rows, std::size_t element, double* out,
               Control& control) {
    const std::size_t outputs = model.outputs();
    const auto numbers = rows.numbers_of(element);
    std::fill(out, out + numbers.size() * outputs, 0.0);
    std::vector<std::size_t> order(numbers.size()), rank(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    for (std::size_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
    const ArenaMap map(arena, model.arena(), rows);
    const auto add = [&](const std::vector<double>& table, std::size_t k, std::size_t at, double value) {
        const double* weight = table.data() + at * outputs;
        for (std::size_t o = 0; o < outputs; ++o) out[rank[k] * outputs + o] += value * weight[o];
    };
    auto visit = model.columns().node_visitor(map, rows, control);
    visit(
        element,
        [&](std::size_t k, std::uint32_t feature, double value) { add(model.feature_weights(), k, feature, value); },
        [&](std::size_t k, std::size_t position, double value) { add(model.active_weights(), k, position, value); });
}

}  // namespace sapwood
