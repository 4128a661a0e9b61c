// Kernel values of elements with themselves.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/gram.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Copies one element into an arena of its own, so that preparing a kernel costs by the size of the element and not by
// that of the whole store. Labels become numbers: only equality matters to a kernel.
inline Bags isolate(const Arena& arena, const Bags& bags, std::size_t element, std::vector<Node>& number,
                    Arena& alone) {
    Bags result;
    std::vector<Node> kids;
    const auto nodes = bags.numbers_of(element);
    for (const Node node : nodes) {
        const Symbol label = arena.label(node);
        char name[sizeof label];
        std::memcpy(name, &label, sizeof label);
        kids.clear();
        for (const Node child : arena.children(node)) kids.push_back(number[child]);
        number[node] = alone.node(alone.symbols.intern({name, sizeof label}), kids);
        result.numbers.push_back(number[node]);
    }
    const auto counts = bags.counts_of(element);
    result.counts.assign(counts.begin(), counts.end());
    result.ends.push_back(result.numbers.size());
    return result;
}

// For kernels without a quicker way: none of the elements can be done by it.
struct NoShortcut {
    bool operator()(std::span<const Node>, std::span<const double>, double&) const { return false; }
};

template <class Make>
auto shortcut_of(const Make& make, const Arena& arena) {
    if constexpr (requires { make.shortcut(arena); })
        return make.shortcut(arena);
    else
        return NoShortcut{};
}

// make(arena, bags) gives the columns of a kernel; make.shortcut(arena), if there is one, something that may do an
// element directly.
template <class Make>
void diagonal(const Arena& arena, const Bags& bags, double* out, std::size_t threads, Control& control, Make make) {
    parallel_blocks(bags.size(), 16, threads, control, [&] {
        return [&, number = std::vector<Node>(arena.size()), shortcut = shortcut_of(make, arena)](
                   std::size_t begin, std::size_t end) mutable {
            for (std::size_t i = begin; i < end; ++i) {
                if (shortcut(bags.numbers_of(i), bags.counts_of(i), out[i])) continue;
                Arena alone;
                const Bags one = isolate(arena, bags, i, number, alone);
                const ArenaMap map(alone, alone, one);
                gram(make(alone, one), alone, one, map, one, true, out + i, 1, control);
            }
        };
    });
}

}  // namespace sapwood
