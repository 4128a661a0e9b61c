// The distinct subtrees of columns that a kernel has to compare one by one, its *active* subtrees, numbered group by
// group.
//
// Active subtrees of a group are numbered from 1 in order of the last element that holds them, so that a symmetric Gram
// matrix can skip those that only earlier elements hold. Place 0 stands for all other subtrees of the group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Per subtree of the arena the last element that holds it; kNone if none does.
inline std::vector<std::uint32_t> last_holders(const Arena& arena, const Bags& bags) {
    std::vector<std::uint32_t> last(arena.size(), kNone);
    for (std::size_t i = 0; i < bags.size(); ++i)
        for (const Node node : bags.numbers_of(i)) last[node] = static_cast<std::uint32_t>(i);
    return last;
}

struct ActiveSubtrees {
    Array<std::uint32_t> place;  // per subtree of the arena; 0: not active
    std::vector<Node> node;      // per position (begin of the group plus place); kNone at place 0
    Array<std::uint32_t> last;   // per position: the last element that holds it

    // Numbers the subtrees `nodes`, and fills begin and places of every group that has some. `last_holder` is what
    // last_holders gives for `elements` elements.
    template <class Groups, class GroupOf>
    void number(std::span<const Node> nodes, std::span<const std::uint32_t> last_holder, std::size_t elements,
                GroupOf group_of, Groups& groups) {
        for (const Node one : nodes) ++groups[group_of(one)].places;
        std::size_t total = 0;
        for (auto& group : groups) {
            if (group.places == 0) continue;
            group.begin = total;
            total += group.places + 1;
            group.places = 1;
        }
        place.assign(last_holder.size(), 0);
        node.assign(total, kNone);
        last.assign(total, 0);
        // A counting sort by the last element keeps this linear.
        std::vector<std::size_t> start(elements + 1, 0);
        for (const Node one : nodes) ++start[last_holder[one] + 1];
        for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
        std::vector<Node> ordered(nodes.size());
        for (const Node one : nodes) ordered[start[last_holder[one]]++] = one;
        for (const Node one : ordered) {
            auto& group = groups[group_of(one)];
            place[one] = static_cast<std::uint32_t>(group.places);
            node[group.begin + group.places] = one;
            last[group.begin + group.places++] = last_holder[one];
        }
    }
};

}  // namespace sapwood
