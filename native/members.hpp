// Numbering the distinct subtrees of columns that a kernel has to look at, its *members*, group by group.
//
// Members of a group are numbered from 1 in order of the last element that holds them, so that a symmetric Gram matrix
// can pass over those that only earlier elements hold. Place 0 stands for all other subtrees of the group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"

namespace sapwood {

// Per subtree of the arena the last element that holds it; kNone if none does.
inline std::vector<std::uint32_t> last_holders(const Arena& arena, const Bags& bags) {
    std::vector<std::uint32_t> last(arena.size(), kNone);
    for (std::size_t i = 0; i < bags.size(); ++i)
        for (const Node node : bags.numbers_of(i)) last[node] = static_cast<std::uint32_t>(i);
    return last;
}

// Fills begin and places of every group that has members, and the tables: per subtree its place; per position (begin of
// the group plus place) the member, kNone at place 0, and the last element that holds it.
template <class Group, class GroupOf>
void number_members(std::span<const Node> members, std::span<const std::uint32_t> last, std::size_t elements,
                    GroupOf group_of, std::vector<Group>& groups, std::vector<std::uint32_t>& place,
                    std::vector<Node>& member_at, std::vector<std::uint32_t>& last_at) {
    for (const Node node : members) ++groups[group_of(node)].places;
    std::size_t total = 0;
    for (Group& group : groups) {
        if (group.places == 0) continue;
        group.begin = total;
        total += group.places + 1;
        group.places = 1;
    }
    member_at.assign(total, kNone);
    last_at.assign(total, 0);
    // A counting sort by the last element keeps this linear.
    std::vector<std::size_t> start(elements + 1, 0);
    for (const Node node : members) ++start[last[node] + 1];
    for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    std::vector<Node> ordered(members.size());
    for (const Node node : members) ordered[start[last[node]]++] = node;
    for (const Node node : ordered) {
        Group& group = groups[group_of(node)];
        place[node] = static_cast<std::uint32_t>(group.places);
        member_at[group.begin + group.places] = node;
        last_at[group.begin + group.places++] = last[node];
    }
}

}  // namespace sapwood
