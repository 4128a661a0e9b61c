// The heaviest fragments of a partial-tree model, of one of its decisions, or of the kernel of two trees.
//
// Fragments grow by one node at a time, always at the right edge, so that each is reached in one way. Since they may
// leave out children, a fragment can fit a node in many ways; what matters for growing is only where its right edge
// lies, so fits that agree there are added up. The search is best first, as in heaviest.hpp. Its bound is the sum of
// the values of all fragments that could grow from one, which follows from a table of sums per node and child.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "heaviest.hpp"
#include "lens.hpp"
#include "model.hpp"
#include "parallel.hpp"
#include "partial.hpp"

namespace sapwood {

// One side of the search: its nodes by common label, what they weigh, and sums over everything below them.
class PartialSide {
  public:
    // `useful` says which labels a fragment can have at all; empty: every label.
    PartialSide(const Arena& arena, std::span<const Symbol> labels, std::size_t symbols, std::vector<double> weight,
                const std::vector<bool>& useful, const PartialOptions& options)
        : arena(arena), labels(labels), weight(std::move(weight)), useful_(useful), begin_(arena.size() + 1, 0), start_(arena.size(), 0.0),
          ends_(symbols, 0) {
        const double root = std::sqrt(options.depth_decay);
        std::vector<double> all(arena.size(), 0.0);
        for (Node node = 0; node < arena.size(); ++node) {
            const auto kids = arena.children(node);
            begin_[node + 1] = begin_[node] + kids.size();
            rest_.resize(begin_[node + 1]);
            double right = 0.0;  // everything that may follow a child, up to the gap
            for (std::size_t j = kids.size(); j-- > 0;) {
                double& rest = rest_[begin_[node] + j];
                rest = 1.0 + right;
                start_[node] += all[kids[j]] * rest;
                right = all[kids[j]] * rest + options.decay * right;
            }
            if (is_useful(labels[node]) && (!kids.empty() || options.leaves)) all[node] = root * (options.decay + start_[node]);
        }
        for (Node node = 0; node < arena.size(); ++node)
            if (starts(node, options)) ++ends_[labels[node]];
        std::size_t total = 0;
        for (std::size_t& end : ends_) {
            const std::size_t length = end;
            end = total;
            total += length;
        }
        nodes_.resize(total);
        for (Node node = 0; node < arena.size(); ++node)
            if (starts(node, options)) nodes_[ends_[labels[node]]++] = node;
    }

    const Arena& arena;
    std::span<const Symbol> labels;
    std::vector<double> weight;

    bool is_useful(Symbol label) const { return label != kNone && (useful_.empty() || useful_[label]); }
    // The nodes with this label that weigh something.
    std::span<const Node> of(Symbol label) const {
        const std::size_t begin = label == 0 ? 0 : ends_[label - 1];
        return std::span(nodes_).subspan(begin, ends_[label] - begin);
    }
    // Sum over all sequences of further children to the right of child j, the empty one included.
    double rest(Node node, std::size_t j) const { return rest_[begin_[node] + j]; }
    // Sum over all sequences of children, the empty one not included.
    double start(Node node) const { return start_[node]; }

  private:
    bool starts(Node node, const PartialOptions& options) const {
        return weight[node] != 0.0 && labels[node] != kNone && (options.leaves || !arena.is_leaf(node));
    }

    std::vector<bool> useful_;
    std::vector<std::size_t> begin_;
    std::vector<double> rest_, start_;
    std::vector<std::size_t> ends_;
    std::vector<Node> nodes_;
};

class PartialSearch {
  public:
    // With two sides the second is the element whose score is explained.
    PartialSearch(std::vector<PartialSide> sides, const PartialOptions& options, std::size_t capacity, std::size_t limit,
                  const Control& control)
        : sides_(std::move(sides)), options_(options), root_(std::sqrt(options.depth_decay)), limit_(limit),
          control_(control), best_(capacity), group_(sides_[0].arena.symbols.size()) {}

    Heaviest run() {
        start();
        std::size_t checked = 0;
        while (!waiting_.empty()) {
            const Waiting next = waiting_.top();
            if (next.bound <= best_.threshold()) break;
            if (work_ > limit_) {
                exact_ = false;
                break;
            }
            waiting_.pop();
            expand(std::make_shared<const Grown>(next.from ? grow(*next.from, next.depth, next.step) : seed(next.step)));
            if (work_ - checked > 1000000) {
                control_.check();
                checked = work_;
            }
        }
        return result();
    }

  private:
    // A fragment's node: the label, and how deep on the right edge of the fragment before it the parent was.
    struct Step {
        std::uint32_t before, depth;
        Symbol label;
    };
    // Fits: per row the right edge as (node, its position among its siblings), from the root down.
    struct Rows {
        std::vector<std::uint32_t> edges;
        std::vector<double> values;
    };
    struct Grown {
        std::uint32_t step = kNone;
        std::vector<std::size_t> children;  // of the fragment's nodes on the right edge
        Rows rows[2];
    };
    struct Waiting {
        double bound;
        std::size_t arrival;
        std::shared_ptr<const Grown> from;  // null: a bare label
        std::uint32_t depth, step;
        bool operator<(const Waiting& other) const {
            return bound != other.bound ? bound < other.bound : arrival > other.arrival;
        }
    };
    struct Group {
        double total[2] = {0.0, 0.0}, positive[2] = {0.0, 0.0}, negative = 0.0;
        bool seen = false;
        void add(std::size_t side, double weight, double value, double more) {
            total[side] += weight * value;
            (weight > 0 ? positive[side] : negative) += weight * value * more;
        }
    };
    struct Entry {
        std::uint32_t step;
    };

    Group& group(Symbol label) {
        Group& found = group_[label];
        if (!found.seen) {
            found = {};
            found.seen = true;
            touched_.push_back(label);
        }
        return found;
    }

    void start() {
        const double bare = root_ * options_.decay;
        for (Symbol label = 0; label < group_.size(); ++label) {
            if (sides_.size() == 2 && sides_[1].of(label).empty()) continue;
            for (std::size_t side = 0; side < sides_.size(); ++side)
                for (const Node node : sides_[side].of(label))
                    group(label).add(side, sides_[side].weight[node], bare, sides_[side].start(node) / options_.decay);
            settle(nullptr, 0);
        }
    }

    // Weighs the groups and lets those wait that may lead further.
    void settle(const std::shared_ptr<const Grown>& from, std::uint32_t depth) {
        for (const Symbol label : touched_) {
            Group& found = group_[label];
            found.seen = false;
            const bool two = sides_.size() == 2;
            const double weight = found.total[0] * (two ? found.total[1] : 1.0);
            const double bound = std::max(found.positive[0], -found.negative) * (two ? found.positive[1] : 1.0);
            if (!best_.takes(weight) && bound <= best_.threshold()) continue;
            const auto step = static_cast<std::uint32_t>(steps_.size());
            steps_.push_back({from ? from->step : kNone, depth, label});
            best_.add(weight, {step});
            if (bound > best_.threshold()) waiting_.push({bound, arrivals_++, from, depth, step});
        }
        touched_.clear();
    }

    // Calls use(position, child, label, value) for every way to put a node below depth `depth` of one row's edge.
    template <class Use>
    void extend(const PartialSide& side, const std::uint32_t* edge, std::size_t length, std::size_t depth, double value,
                Use use) {
        const Node parent = edge[2 * depth];
        const bool first = depth + 1 == length;
        const auto kids = side.arena.children(parent);
        // A node that gets its first child is no longer bare: its decay passes to the child.
        double factor = value * root_ * (first ? 1.0 : options_.decay);
        for (std::size_t j = first ? 0 : edge[2 * depth + 3] + 1; j < kids.size(); ++j) {
            const Symbol label = side.labels[kids[j]];
            if (side.is_useful(label) && (options_.leaves || !side.arena.is_leaf(kids[j]))) use(j, kids[j], label, factor);
            if (!first) factor *= options_.decay;
        }
        work_ += kids.size() + 1;
    }

    void expand(const std::shared_ptr<const Grown>& grown) {
        const std::size_t length = grown->children.size();
        for (std::size_t depth = 0; depth < length; ++depth) {
            if (options_.max_subsequence != 0 && grown->children[depth] >= options_.max_subsequence) continue;
            for (std::size_t s = 0; s < sides_.size(); ++s) {
                const PartialSide& side = sides_[s];
                const Rows& rows = grown->rows[s];
                for (std::size_t i = 0; i < rows.values.size(); ++i) {
                    const std::uint32_t* edge = rows.edges.data() + i * 2 * length;
                    double above = 1.0;
                    for (std::size_t k = 0; k < depth; ++k) above *= side.rest(edge[2 * k], edge[2 * k + 3]);
                    extend(side, edge, length, depth, rows.values[i],
                           [&](std::size_t j, Node child, Symbol label, double value) {
                               const double more = above * side.rest(edge[2 * depth], j) *
                                                   (1.0 + side.start(child) / options_.decay);
                               group(label).add(s, side.weight[edge[0]], value, more - 1.0);
                           });
                }
            }
            settle(grown, static_cast<std::uint32_t>(depth));
        }
    }

    Grown seed(std::uint32_t step) {
        Grown grown;
        grown.step = step;
        grown.children.assign(1, 0);
        for (std::size_t side = 0; side < sides_.size(); ++side)
            for (const Node node : sides_[side].of(steps_[step].label)) {
                grown.rows[side].edges.insert(grown.rows[side].edges.end(), {node, 0});
                grown.rows[side].values.push_back(root_ * options_.decay);
            }
        return grown;
    }

    Grown grow(const Grown& from, std::size_t depth, std::uint32_t step) {
        Grown grown;
        grown.step = step;
        grown.children.assign(from.children.begin(), from.children.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        ++grown.children[depth];
        grown.children.push_back(0);
        const std::size_t length = from.children.size(), width = 2 * (depth + 2);
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            const Rows& rows = from.rows[s];
            Rows loose;
            for (std::size_t i = 0; i < rows.values.size(); ++i) {
                const std::uint32_t* edge = rows.edges.data() + i * 2 * length;
                extend(sides_[s], edge, length, depth, rows.values[i],
                       [&](std::size_t j, Node child, Symbol label, double value) {
                           if (label != steps_[step].label) return;
                           loose.edges.insert(loose.edges.end(), edge, edge + 2 * depth + 2);
                           loose.edges.insert(loose.edges.end(), {child, static_cast<std::uint32_t>(j)});
                           loose.values.push_back(value);
                       });
            }
            // Below the end of the edge nothing is cut off, so no two rows can have become the same.
            if (depth + 1 == length) grown.rows[s] = std::move(loose);
            else merge(loose, width, grown.rows[s]);
        }
        return grown;
    }

    // Adds up the rows that have the same edge.
    static void merge(const Rows& loose, std::size_t width, Rows& out) {
        std::vector<std::size_t> order(loose.values.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto edge = [&](std::size_t i) { return std::span(loose.edges).subspan(i * width, width); };
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::lexicographical_compare(edge(a).begin(), edge(a).end(), edge(b).begin(), edge(b).end());
        });
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k > 0 && std::equal(edge(order[k]).begin(), edge(order[k]).end(), edge(order[k - 1]).begin())) {
                out.values.back() += loose.values[order[k]];
                continue;
            }
            out.edges.insert(out.edges.end(), edge(order[k]).begin(), edge(order[k]).end());
            out.values.push_back(loose.values[order[k]]);
        }
    }

    Node write(std::uint32_t last, Arena& out) const {
        std::vector<std::uint32_t> chain;
        for (std::uint32_t at = last; at != kNone; at = steps_[at].before) chain.push_back(at);
        std::reverse(chain.begin(), chain.end());
        std::vector<std::vector<std::size_t>> children(chain.size());
        std::vector<std::size_t> edge{0};
        for (std::size_t i = 1; i < chain.size(); ++i) {
            edge.resize(steps_[chain[i]].depth + 1);
            children[edge.back()].push_back(i);
            edge.push_back(i);
        }
        std::vector<Node> built(chain.size()), kids;
        for (std::size_t i = chain.size(); i-- > 0;) {
            kids.clear();
            for (const std::size_t child : children[i]) kids.push_back(built[child]);
            built[i] = out.node(out.symbols.intern(sides_[0].arena.symbols.text(steps_[chain[i]].label)), kids);
        }
        return built[0];
    }

    Heaviest result() {
        Heaviest found;
        for (const auto& kept : best_.sorted()) {
            found.roots.push_back(write(kept.entry.step, found.arena));
            found.weights.push_back(kept.weight);
            // A fragment fits in many ways with different values, so there is no plain count.
            if (sides_.size() == 2) found.counts.push_back(std::numeric_limits<double>::quiet_NaN());
        }
        found.exact = exact_;
        return found;
    }

    std::vector<PartialSide> sides_;
    PartialOptions options_;
    double root_;
    std::size_t limit_;
    const Control& control_;
    Best<Entry> best_;
    std::vector<Group> group_;  // per label, between two uses of touched_
    std::vector<Symbol> touched_;
    std::vector<Step> steps_;
    std::priority_queue<Waiting> waiting_;
    std::size_t arrivals_ = 0, work_ = 0;
    bool exact_ = true;
};

// The terminal factor must be 1: any other makes a leaf weigh differently by what it meets.
inline Heaviest heaviest(const Model<PartialColumns>& model, std::span<const double> combination, const Arena* arena,
                         const Bags* element, std::size_t capacity, std::size_t limit, const Control& control) {
    const Arena& own = model.arena();
    const std::size_t symbols = own.symbols.size();
    const PartialOptions& options = model.columns().options();
    const std::vector<double> feature = combine(model.feature_weights(), combination);
    const std::vector<double> member = combine(model.member_weights(), combination);
    const auto& position = model.columns().positions_of_nodes();
    std::vector<double> weight(own.size(), 0.0);
    for (Node node = 0; node < own.size(); ++node) {
        if (own.is_leaf(node)) weight[node] = feature[symbols + own.label(node)];
        else if (position[node] != kNone) weight[node] = member[position[node]];
    }
    std::vector<PartialSide> sides;
    if (!element) {
        sides.emplace_back(own, own.labels(), symbols, std::move(weight), std::vector<bool>{}, options);
        return PartialSearch(std::move(sides), options, capacity, limit, control).run();
    }
    const Lens lens(*arena, own, *element);
    std::vector<double> count(arena->size(), 0.0);
    std::vector<bool> held(symbols, false);
    const auto numbers = element->numbers_of(0);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        count[numbers[k]] = element->counts_of(0)[k];
        if (lens.labels[numbers[k]] != kNone) held[lens.labels[numbers[k]]] = true;
    }
    sides.emplace_back(own, own.labels(), symbols, std::move(weight), held, options);
    sides.emplace_back(*arena, lens.labels, symbols, std::move(count), held, options);
    return PartialSearch(std::move(sides), options, capacity, limit, control).run();
}

}  // namespace sapwood
