// Trees as tree edit distance reads them: nodes in post-order, from the left and from the right.
//
// A subtree is a range of its post-order, so whatever is known of a node with all others is a row, and that of a whole
// subtree a block of rows. Reading from the right is reading the mirror image, whose distances are the same; one of the
// two can take far fewer steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// One direction of one tree, nodes in post-order.
struct EditOrder {
    // A path of first children that no longer path holds, by its highest node.
    struct Path {
        std::uint32_t top;
        std::uint32_t same;  // the first path whose top is the same subtree; its own number if there is none before
    };

    std::vector<std::uint32_t> keys;    // what labels are called in costs
    std::vector<std::uint32_t> first;   // the first node of the subtree: its outermost leaf
    std::vector<std::uint32_t> parent;  // kNone for the root
    std::vector<std::uint32_t> place;   // the number in pre-order, from the left in both directions
    std::vector<std::uint32_t> leaves;
    std::vector<Path> paths;  // those of more than a leaf, ascending
    double steps = 0;         // rows that all paths together have, where equal ones count once

    std::size_t size() const { return keys.size(); }
};

struct EditTree {
    Node root;
    EditOrder orders[2];                     // from the left, from the right
    std::vector<std::uint32_t> sorted_keys;  // with repetitions
    std::size_t size() const { return orders[0].size(); }
};

namespace detail {

// `key_of(node)` numbers labels. Nothing recurses.
template <class KeyOf>
EditOrder edit_order(const Arena& arena, Node root, bool mirrored, KeyOf key_of) {
    struct Open {
        Node node;
        std::uint32_t done, first, place;
    };
    EditOrder order;
    std::vector<Open> stack;
    std::vector<Node> nodes;                // in post-order
    std::vector<std::uint32_t> unattached;  // nodes that wait for their parent
    std::uint32_t places = 0;
    const auto open = [&](Node node) {
        stack.push_back({node, 0, static_cast<std::uint32_t>(nodes.size()), places++});
        if (places == kNone) throw std::length_error("a tree has more than 4294967294 nodes");
    };
    open(root);
    while (!stack.empty()) {
        Open& top = stack.back();
        const auto children = arena.children(top.node);
        if (top.done < children.size()) {
            const std::size_t next = mirrored ? children.size() - 1 - top.done : top.done;
            ++top.done;
            open(children[next]);
            continue;
        }
        const auto number = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back(top.node);
        order.keys.push_back(key_of(top.node));
        order.first.push_back(top.first);
        order.parent.push_back(kNone);
        order.place.push_back(top.place);
        if (children.empty()) order.leaves.push_back(number);
        for (std::size_t k = 0; k < children.size(); ++k) {
            order.parent[unattached.back()] = number;
            unattached.pop_back();
        }
        unattached.push_back(number);
        stack.pop_back();
    }
    // Pre-order from the right numbers the same nodes otherwise: a node comes after its ancestors, which come after it
    // in post-order, and after all that is further left, which is what mirrored post-order puts behind it.
    const std::size_t size = nodes.size();
    if (mirrored)
        for (std::size_t i = 0; i < size; ++i) order.place[i] = static_cast<std::uint32_t>(size - 1 - i);
    std::vector<std::pair<Node, std::uint32_t>> tops;
    for (std::uint32_t i = 0; i < size; ++i) {
        const std::uint32_t above = order.parent[i];
        const bool is_top = above == kNone || order.first[above] != order.first[i];
        if (!is_top || order.first[i] == i) continue;
        tops.emplace_back(nodes[i], static_cast<std::uint32_t>(order.paths.size()));
        order.paths.push_back({i, static_cast<std::uint32_t>(order.paths.size())});
    }
    std::sort(tops.begin(), tops.end());
    for (std::size_t k = 1; k < tops.size(); ++k)
        if (tops[k].first == tops[k - 1].first) order.paths[tops[k].second].same = order.paths[tops[k - 1].second].same;
    for (std::uint32_t k = 0; k < order.paths.size(); ++k)
        if (order.paths[k].same == k) order.steps += order.paths[k].top - order.first[order.paths[k].top] + 1.0;
    return order;
}

}  // namespace detail

// Trees of one arena. Labels in use are numbered from 0, those of leaves apart from others if asked for.
class EditForest {
  public:
    EditForest(const Arena& arena, std::span<const Node> roots, bool leaves_apart) {
        NumberMap numbers(2 * arena.symbols.size(), roots.size() * 64);
        const auto key_of = [&](Node node) {
            const std::uint32_t name = 2 * arena.label(node) + (leaves_apart && arena.is_leaf(node));
            std::uint32_t number = numbers.at(name);
            if (number == kNone) {
                number = static_cast<std::uint32_t>(samples_.size());
                numbers.set(name, number);
                samples_.push_back(node);
            }
            return number;
        };
        trees_.reserve(roots.size());
        for (const Node root : roots) {
            EditTree& tree = trees_.emplace_back();
            tree.root = root;
            for (const bool mirrored : {false, true})
                tree.orders[mirrored] = detail::edit_order(arena, root, mirrored, key_of);
            tree.sorted_keys = tree.orders[0].keys;
            std::sort(tree.sorted_keys.begin(), tree.sorted_keys.end());
        }
    }

    std::size_t size() const { return trees_.size(); }
    const EditTree& operator[](std::size_t tree) const { return trees_[tree]; }
    // Per key, some node that has it.
    const std::vector<Node>& samples() const { return samples_; }

  private:
    std::vector<EditTree> trees_;
    std::vector<Node> samples_;
};

}  // namespace sapwood
