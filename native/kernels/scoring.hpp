// Scores of elements under a model, by what each of their distinct subtrees is worth.
//
// The kernels here are sums over pairs of subtrees, so a weighted sum of kernels gives every subtree a worth of its
// own. Trees share subtrees, within a call and within themselves: each distinct one is looked at once, and a tree is
// worth its root and whatever its children are worth. A model takes part as an index with
//
//     outputs()
//     Translation(index, arena, used)       what the index calls subtrees of another arena
//     translation.order()                   all of them, in the order in which they are best scored
//     Reader(index, translation, control)   one per thread
//     reader.add(some of them, worth)       adds the worth of one occurrence, per place x outputs
//
// or, if it is quick, with
//
//     reader.add(place, out)                adds the worth of one occurrence, per output
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// The roots of elements: one each, or up to `ends` for each.
struct Elements {
    std::span<const Node> roots;
    std::span<const std::uint64_t> ends;
    bool one_each;

    std::size_t size() const { return one_each ? roots.size() : ends.size(); }
    std::size_t end(std::size_t element) const { return one_each ? element + 1 : ends[element]; }
    std::size_t begin(std::size_t element) const { return element == 0 ? 0 : end(element - 1); }
    std::span<const Node> between(std::size_t first, std::size_t last) const {
        return roots.subspan(begin(first), last == first ? 0 : end(last - 1) - begin(first));
    }
};

// The subtrees under some roots, ascending, and their places in that list.
class UsedSubtrees {
  public:
    UsedSubtrees(const Arena& arena, std::span<const Node> roots) {
        if (roots.empty()) return;
        const std::size_t end = std::size_t{*std::max_element(roots.begin(), roots.end())} + 1;
        // A tree of a treebank has some seventy nodes; a few trees must not cost a walk over a large store.
        if (roots.size() * 1024 < end) {
            nodes_ = reachable(arena, roots);
            all_ = nodes_.size() == end;
        } else if ((all_ = every(arena, roots, end))) {
            nodes_.resize(end);
            std::iota(nodes_.begin(), nodes_.end(), Node{0});
        } else {
            nodes_ = marked(arena, roots, end);
        }
        if (all_) return;
        place_ = NumberMap(end, nodes_.size());
        for (std::size_t k = 0; k < nodes_.size(); ++k) place_.set(nodes_[k], static_cast<std::uint32_t>(k));
    }

    std::span<const Node> nodes() const { return nodes_; }
    std::uint32_t place(Node node) const { return all_ ? node : place_.at(node); }

  private:
    // Whether all nodes before `end` are under the roots: the last is a root, and of the others each has a parent if it
    // is none. Parents have larger numbers than their children.
    static bool every(const Arena& arena, std::span<const Node> roots, std::size_t end) {
        std::vector<std::uint8_t> mark(end, 0);
        for (const Node root : roots) mark[root] = 1;
        for (const Node child : arena.children_before(static_cast<Node>(end))) mark[child] = 1;
        return std::find(mark.begin(), mark.end(), 0) == mark.end();
    }

    static std::vector<Node> marked(const Arena& arena, std::span<const Node> roots, std::size_t end) {
        std::vector<std::uint8_t> mark(end, 0);
        for (const Node root : roots) mark[root] = 1;
        std::size_t count = 0;
        for (std::size_t node = end; node-- > 0;) {
            if (mark[node] == 0) continue;
            ++count;
            for (const Node child : arena.children(static_cast<Node>(node))) mark[child] = 1;
        }
        std::vector<Node> result;
        result.reserve(count);
        for (std::size_t node = 0; node < end; ++node)
            if (mark[node] != 0) result.push_back(static_cast<Node>(node));
        return result;
    }

    std::vector<Node> nodes_;
    bool all_ = false;  // whether there are no others up to the largest: then they are their own places
    NumberMap place_{0, 0};
};

// Whether an index looks a subtree up in one step, so that neither an order nor threads would help.
template <class Index>
concept IsQuick = requires { requires Index::kQuick; };

// out: elements x outputs, row major.
template <class Index>
void score(const Index& index, const Arena& arena, const Elements& elements, double* out, std::size_t threads,
           Control& control) {
    const std::size_t outputs = index.outputs();
    // A tree of a treebank has some thirty distinct subtrees of its own; 32 million numbers are 256 MB.
    const std::size_t batch = std::max<std::size_t>(4096, (std::size_t{1} << 20) / std::max<std::size_t>(1, outputs));
    for (std::size_t first = 0, last; first < elements.size(); first = last) {
        last = std::min(first + batch, elements.size());
        const UsedSubtrees used(arena, elements.between(first, last));
        const auto nodes = used.nodes();
        const typename Index::Translation translation(index, arena, used);
        std::vector<double> worth(nodes.size() * outputs, 0.0);
        const auto add_children = [&](std::size_t k) {
            for (const Node child : arena.children(nodes[k])) {
                const double* below = worth.data() + used.place(child) * outputs;
                for (std::size_t o = 0; o < outputs; ++o) worth[k * outputs + o] += below[o];
            }
        };
        if constexpr (IsQuick<Index>) {
            typename Index::Reader reader(index, translation, control);
            for (std::size_t k = 0; k < nodes.size(); ++k) {
                if (k % 65536 == 0) control.check();
                reader.add(k, worth.data() + k * outputs);
                add_children(k);
            }
        } else {
            const auto order = translation.order();
            parallel_blocks(
                nodes.size(), 512, threads, control,
                [&] {
                    return [&, reader = typename Index::Reader(index, translation, control)](std::size_t begin,
                                                                                             std::size_t end) mutable {
                        reader.add(std::span(order).subspan(begin, end - begin), worth.data());
                    };
                },
                Progress::silent);
            for (std::size_t k = 0; k < nodes.size(); ++k) add_children(k);
        }
        for (std::size_t element = first; element < last; ++element) {
            double* values = out + element * outputs;
            std::fill(values, values + outputs, 0.0);
            for (const Node root : elements.between(element, element + 1)) {
                const double* whole = worth.data() + used.place(root) * outputs;
                for (std::size_t o = 0; o < outputs; ++o) values[o] += whole[o];
            }
        }
        control.done.fetch_add(last - first, std::memory_order_relaxed);
    }
}

// Per subtree of the arena x outputs: the sum over elements of weight * count. weights: elements x outputs.
inline std::vector<double> subtree_weights(const Arena& arena, const Bags& bags, const double* weights,
                                           std::size_t outputs) {
    std::vector<double> result(arena.size() * outputs, 0.0);
    for (std::size_t i = 0; i < bags.size(); ++i) {
        const auto numbers = bags.numbers_of(i);
        const auto counts = bags.counts_of(i);
        for (std::size_t k = 0; k < numbers.size(); ++k)
            for (std::size_t o = 0; o < outputs; ++o)
                result[numbers[k] * outputs + o] += counts[k] * weights[i * outputs + o];
    }
    return result;
}

}  // namespace sapwood
