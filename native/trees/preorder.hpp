// Trees spelled out in pre-order, as tables of other programs hold them: labels and numbers of children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// Calls place(node, children) for every node under a root, parents before children, from left to right. The stack is
// the caller's, so that it is made once for many trees.
template <class Place>
void for_each_in_preorder(const Arena& arena, Node root, std::vector<Node>& stack, Place place) {
    stack.assign(1, root);
    while (!stack.empty()) {
        const Node node = stack.back();
        stack.pop_back();
        const auto kids = arena.children(node);
        place(node, kids);
        stack.insert(stack.end(), kids.rbegin(), kids.rend());
    }
}

// The inverse for one tree: labels with the number of children of each. Gives kNone unless they make exactly one tree.
inline Node node_of_preorder(Arena& arena, std::span<const Symbol> symbols, std::span<const std::uint32_t> labels,
                             std::span<const std::uint32_t> counts, std::vector<Node>& stack) {
    stack.clear();
    std::vector<Node> kids;
    // From right to left every child is there before its parent, and the first child is on top.
    for (std::size_t place = labels.size(); place-- > 0;) {
        if (counts[place] > stack.size()) return kNone;
        kids.assign(stack.rbegin(), stack.rbegin() + counts[place]);
        stack.resize(stack.size() - counts[place]);
        stack.push_back(arena.node(symbols[labels[place]], kids));
    }
    return stack.size() == 1 ? stack[0] : kNone;
}

}  // namespace sapwood
