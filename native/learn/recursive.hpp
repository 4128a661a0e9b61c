// The recursive network: the state of a node from its label and the states of its children, over shared subtrees.
//
//     a(v) = bias + label weights + sum over children k of W_k u(child k),    u(v) = tanh a(v)
//
// What is computed follows a *plan*. A plan holds the distinct subtrees of a set of trees and, for each sequence of
// children, its distinct prefixes: an item (prefix, next child) is one product of a matrix with a state, and all nodes
// whose children begin alike share it. Alternatives of one sentence differ in a few nodes only, so a plan of many trees
// is little more than one of a single tree. Gradients run backwards over the same plan.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "trees/arena.hpp"

namespace sapwood {

// What to compute for a set of trees, as numbers in one block of memory. Nodes and items are in an order in which
// everything comes after what it needs: level by level, first the nodes and then the items that need no later ones, in
// runs of the same position. What is in a run is independent of each other, so that two can be computed at a time.
// Children beyond the largest outdegree do not exist here.
class Plan {
  public:
    std::uint32_t nodes = 0, items = 0, roots = 0, positions = 0, levels = 0, runs = 0;

    // Per node: its label in the vocabulary (kNone: unknown) and the item of all its children (kNone: a leaf).
    const std::uint32_t* label() const { return data_.data(); }
    const std::uint32_t* item() const { return label() + nodes; }
    // Per item: the item of the children before (kNone: none) and the last child.
    const std::uint32_t* before() const { return item() + nodes; }
    const std::uint32_t* child() const { return before() + items; }
    // The items by position, and where each position begins.
    const std::uint32_t* by_position() const { return child() + items; }
    const std::uint32_t* position_begin() const { return by_position() + items; }
    // Per level: where its nodes and its runs end.
    const std::uint32_t* node_end() const { return position_begin() + positions + 1; }
    const std::uint32_t* level_run_end() const { return node_end() + levels; }
    // Per run: its position and where its items end.
    const std::uint32_t* run_position() const { return level_run_end() + levels; }
    const std::uint32_t* run_end() const { return run_position() + runs; }
    // Per tree: its root.
    const std::uint32_t* root() const { return run_end() + runs; }

    std::size_t bytes() const { return data_.capacity() * 4 + sizeof(Plan); }

  private:
    friend class Planner;
    std::vector<std::uint32_t> data_;
};

// Makes plans from trees of one arena. Its tables are as long as the arena and are used for plan after plan.
class Planner {
  public:
    // vocabulary: per symbol of the arena its number in the network, or kNone.
    Planner(const Arena& arena, std::span<const std::uint32_t> vocabulary, std::size_t outdegree)
        : arena_(arena), vocabulary_(vocabulary), outdegree_(outdegree), place_(arena.size(), kNone), slots_(1024) {}

    Plan make(std::span<const Node> roots) {
        collect(roots);
        before_.clear();
        child_.clear();
        position_.clear();
        item_level_.clear();
        item_.clear();
        node_level_.clear();
        start_items();
        std::uint32_t levels = 0, positions = 0;
        for (std::uint32_t n = 0; n < found_.size(); ++n) {
            place_[found_[n]] = n;
            std::uint32_t item = kNone;
            const auto kids = children(found_[n]);
            for (std::uint32_t k = 0; k < kids.size(); ++k) item = next_item(item, place_[kids[k]], k);
            item_.push_back(item);
            node_level_.push_back(item == kNone ? 0 : item_level_[item] + 1);
            levels = std::max(levels, node_level_.back() + 1);
            positions = std::max(positions, static_cast<std::uint32_t>(kids.size()));
        }
        Plan plan = arrange(levels, positions);
        plan.roots = static_cast<std::uint32_t>(roots.size());
        for (const Node root : roots) plan.data_.push_back(new_node_[place_[root]]);
        for (const Node node : found_) place_[node] = kNone;
        return plan;
    }

  private:
    struct Slot {
        std::uint32_t before = 0, child = 0, item = 0, turn = 0;
    };

    std::span<const Node> children(Node node) const {
        const auto all = arena_.children(node);
        return all.first(std::min(all.size(), outdegree_));
    }

    // The distinct subtrees, children before parents.
    void collect(std::span<const Node> roots) {
        found_.clear();
        const auto visit = [&](Node node) {
            if (place_[node] != kNone) return;
            place_[node] = 0;
            found_.push_back(node);
            stack_.push_back(node);
        };
        for (const Node root : roots) {
            visit(root);
            while (!stack_.empty()) {
                const Node node = stack_.back();
                stack_.pop_back();
                for (const Node child : children(node)) visit(child);
            }
        }
        std::sort(found_.begin(), found_.end());
        if (found_.size() >= kNone / 8) throw std::length_error("a set of trees has too many distinct subtrees");
    }

    // Entries of earlier plans are told by their turn, so that nothing has to be cleared.
    void start_items() {
        std::size_t edges = 0;
        for (const Node node : found_) edges += children(node).size();
        if (edges >= kNone / 8) throw std::length_error("a set of trees has too many distinct children");
        std::size_t size = slots_.size();
        while (size < 2 * edges) size *= 2;
        if (size > slots_.size() || ++turn_ == 0) {
            slots_.assign(size, Slot{});
            turn_ = 1;
        }
    }

    std::uint32_t next_item(std::uint32_t before, std::uint32_t child, std::uint32_t position) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at =
            static_cast<std::size_t>(detail::mix(detail::hash_seed(), (std::uint64_t{before} << 32) | child)) & mask;
        for (;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            if (slot.turn != turn_) {
                const auto item = static_cast<std::uint32_t>(child_.size());
                slot = {before, child, item, turn_};
                before_.push_back(before);
                child_.push_back(child);
                position_.push_back(position);
                const std::uint32_t level = node_level_[child];
                item_level_.push_back(before == kNone ? level : std::max(level, item_level_[before]));
                return item;
            }
            if (slot.before == before && slot.child == child) return slot.item;
        }
    }

    // Turns numbers in order of `keys` (below `count`), equal ones in order of arrival: where each one goes. Afterwards
    // begin_[k] says where the key k begins.
    void sort_by(std::span<const std::uint32_t> keys, std::size_t count, std::vector<std::uint32_t>& where) {
        begin_.assign(count + 1, 0);
        for (const std::uint32_t key : keys) ++begin_[key + 1];
        for (std::size_t k = 1; k <= count; ++k) begin_[k] += begin_[k - 1];
        next_.assign(begin_.begin(), begin_.end());
        where.resize(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) where[i] = next_[keys[i]]++;
    }

    // Numbers nodes by level, and items by level and position, and writes everything down.
    Plan arrange(std::uint32_t levels, std::uint32_t positions) {
        Plan plan;
        plan.nodes = static_cast<std::uint32_t>(found_.size());
        plan.items = static_cast<std::uint32_t>(child_.size());
        plan.positions = positions;
        plan.levels = levels;
        std::vector<std::uint32_t>& data = plan.data_;
        data.resize(2 * found_.size() + 3 * child_.size());
        sort_by(node_level_, levels, new_node_);
        node_end_.assign(begin_.begin() + 1, begin_.end());
        key_.resize(child_.size());
        for (std::size_t i = 0; i < key_.size(); ++i) key_[i] = item_level_[i] * positions + position_[i];
        sort_by(key_, std::size_t{levels} * positions, new_item_);
        run_position_.clear();
        run_end_.clear();
        level_run_end_.clear();
        for (std::uint32_t level = 0; level < levels; ++level) {
            for (std::uint32_t k = 0; k < positions; ++k) {
                const std::size_t key = std::size_t{level} * positions + k;
                if (begin_[key] == begin_[key + 1]) continue;
                run_position_.push_back(k);
                run_end_.push_back(begin_[key + 1]);
            }
            level_run_end_.push_back(static_cast<std::uint32_t>(run_end_.size()));
        }
        plan.runs = static_cast<std::uint32_t>(run_end_.size());
        std::uint32_t* label = data.data();
        std::uint32_t* item = label + plan.nodes;
        std::uint32_t* before = item + plan.nodes;
        std::uint32_t* child = before + plan.items;
        std::uint32_t* by_position = child + plan.items;
        for (std::size_t n = 0; n < found_.size(); ++n) {
            label[new_node_[n]] = vocabulary_[arena_.label(found_[n])];
            item[new_node_[n]] = item_[n] == kNone ? kNone : new_item_[item_[n]];
        }
        for (std::size_t i = 0; i < child_.size(); ++i) {
            before[new_item_[i]] = before_[i] == kNone ? kNone : new_item_[before_[i]];
            child[new_item_[i]] = new_node_[child_[i]];
            key_[new_item_[i]] = position_[i];
        }
        sort_by(key_, positions, order_);
        for (std::uint32_t i = 0; i < order_.size(); ++i) by_position[order_[i]] = i;
        for (const auto* part : {&begin_, &node_end_, &level_run_end_, &run_position_, &run_end_})
            data.insert(data.end(), part->begin(), part->end());
        return plan;
    }

    const Arena& arena_;
    std::span<const std::uint32_t> vocabulary_;
    std::size_t outdegree_;
    std::vector<std::uint32_t> place_;  // per subtree of the arena, while a plan is made
    std::vector<Slot> slots_;
    std::uint32_t turn_ = 0;
    std::vector<Node> found_, stack_;
    std::vector<std::uint32_t> item_, node_level_, before_, child_, position_, item_level_;  // in order of arrival
    std::vector<std::uint32_t> new_node_, new_item_, node_end_, level_run_end_, run_position_, run_end_;
    std::vector<std::uint32_t> key_, begin_, order_, next_;
};

// Sizes of a network and where its weights lie. Weights are rows of `stride` numbers, padded with zeros that stay zero.
struct NetworkShape {
    std::size_t units, outdegree, labels, outputs, extras;

    std::size_t stride() const { return (units + 7) / 8 * 8; }
    std::size_t label_row(std::size_t label) const { return 1 + label; }  // row 0 is the bias
    // Row l of the matrix of a position: from unit l of the child to all units of the parent.
    std::size_t child_row(std::size_t position) const { return 1 + labels + position * units; }
    std::size_t output_row(std::size_t output) const { return 1 + labels + outdegree * units + output; }
    std::size_t rows() const { return 1 + labels + outdegree * units + outputs; }
    // After the rows: per output the weights of the extra inputs, then its bias.
    std::size_t extra_weights() const { return rows() * stride(); }
    std::size_t size() const { return extra_weights() + outputs * (extras + 1); }
};

namespace detail {

template <class Real>
struct Lanes {
    // Unaligned and allowed to alias: a window on plain arrays.
    typedef Real type __attribute__((vector_size(32), aligned(alignof(Real)), may_alias));
    using Integer = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    typedef Integer bits __attribute__((vector_size(32), aligned(alignof(Real)), may_alias));
    static constexpr std::size_t size = 32 / sizeof(Real);
};

// For each of `pair` outputs: out[j] = start[j] + sum over l of in[l] * rows[l * stride + j], for `count` vectors of
// lanes from column `first` on. Two outputs at a time need the rows once only; the sums are the same to the last bit.
template <class Real, std::size_t count, std::size_t pair>
SAPWOOD_INLINE void multiply_columns(Real* const* out, const Real* const* start, const Real* rows,
                                     const Real* const* in, std::size_t height, std::size_t stride, std::size_t first) {
    using V = typename Lanes<Real>::type;
    constexpr std::size_t lanes = Lanes<Real>::size;
    V sum[pair][count];
    for (std::size_t p = 0; p < pair; ++p)
        for (std::size_t c = 0; c < count; ++c)
            sum[p][c] = start[p] ? *reinterpret_cast<const V*>(start[p] + first + c * lanes) : V{};
    for (std::size_t l = 0; l < height; ++l) {
        const Real* row = rows + l * stride + first;
        for (std::size_t c = 0; c < count; ++c) {
            const V weight = *reinterpret_cast<const V*>(row + c * lanes);
            for (std::size_t p = 0; p < pair; ++p) sum[p][c] += in[p][l] * weight;
        }
    }
    for (std::size_t p = 0; p < pair; ++p)
        for (std::size_t c = 0; c < count; ++c) *reinterpret_cast<V*>(out[p] + first + c * lanes) = sum[p][c];
}

template <class Real, std::size_t pair>
SAPWOOD_INLINE void multiply(Real* const* out, const Real* const* start, const Real* rows, const Real* const* in,
                             std::size_t height, std::size_t stride) {
    constexpr std::size_t lanes = Lanes<Real>::size;
    std::size_t first = 0;
    for (; first + 4 * lanes <= stride; first += 4 * lanes)
        multiply_columns<Real, 4, pair>(out, start, rows, in, height, stride, first);
    for (; first < stride; first += lanes) multiply_columns<Real, 1, pair>(out, start, rows, in, height, stride, first);
}

// Two rows at once: rows[l][j] += sum over pairs of in[pair][l] * out[pair][j], which stays in registers.
template <class Real, std::size_t count, std::size_t height>
SAPWOOD_INLINE void add_outer(Real* row, std::size_t stride, std::size_t first, std::size_t l,
                              const std::uint32_t* items, std::size_t size, const std::uint32_t* child,
                              const Real* states, const Real* slopes) {
    using V = typename Lanes<Real>::type;
    constexpr std::size_t lanes = Lanes<Real>::size;
    V sum[height][count];
    for (std::size_t h = 0; h < height; ++h)
        for (std::size_t c = 0; c < count; ++c)
            sum[h][c] = *reinterpret_cast<const V*>(row + h * stride + first + c * lanes);
    for (std::size_t i = 0; i < size; ++i) {
        const Real* slope = slopes + items[i] * stride + first;
        const Real* state = states + child[items[i]] * stride + l;
        for (std::size_t c = 0; c < count; ++c) {
            const V value = *reinterpret_cast<const V*>(slope + c * lanes);
            for (std::size_t h = 0; h < height; ++h) sum[h][c] += state[h] * value;
        }
    }
    for (std::size_t h = 0; h < height; ++h)
        for (std::size_t c = 0; c < count; ++c) *reinterpret_cast<V*>(row + h * stride + first + c * lanes) = sum[h][c];
}

template <class Real>
SAPWOOD_INLINE void add_outers(Real* rows, std::size_t height, std::size_t stride, const std::uint32_t* items,
                               std::size_t size, const std::uint32_t* child, const Real* states, const Real* slopes) {
    constexpr std::size_t lanes = Lanes<Real>::size;
    for (std::size_t first = 0; first < stride;) {
        const bool wide = first + 4 * lanes <= stride;
        for (std::size_t l = 0; l < height;) {
            Real* row = rows + l * stride;
            const bool two = l + 1 < height;
            if (wide && two)
                add_outer<Real, 4, 2>(row, stride, first, l, items, size, child, states, slopes);
            else if (wide)
                add_outer<Real, 4, 1>(row, stride, first, l, items, size, child, states, slopes);
            else if (two)
                add_outer<Real, 1, 2>(row, stride, first, l, items, size, child, states, slopes);
            else
                add_outer<Real, 1, 1>(row, stride, first, l, items, size, child, states, slopes);
            l += two ? 2 : 1;
        }
        first += wide ? 4 * lanes : lanes;
    }
}

// out = tanh(bias + label + sum), the latter two if they are there: 1 - 2 / (exp(2x) + 1), with the exponential from
// its series around the nearest power of two. Absolute error below three units in the last place of 1; NaN stays NaN.
// `count` vectors at a time, without branches, so that nothing waits for the step before.
template <class Real, std::size_t count>
SAPWOOD_INLINE void activate_columns(Real* out, const Real* bias, const Real* label, const Real* sum,
                                     std::size_t first) {
    using V = typename Lanes<Real>::type;
    using Bits = typename Lanes<Real>::bits;
    constexpr std::size_t lanes = Lanes<Real>::size;
    constexpr bool is_float = sizeof(Real) == 4;
    constexpr int fraction = is_float ? 23 : 52;
    // Adding this rounds to a whole number and leaves it in the lowest bits.
    constexpr Real magic = is_float ? Real(12582912.0) : Real(6755399441055744.0);
    constexpr Real limit = is_float ? Real(10) : Real(20);
    // Part of ln 2 with zeros at the end, so that its multiples are exact, and the rest.
    constexpr Real ln2_head = is_float ? Real(0.693359375) : Real(0.6931471803691238);
    constexpr Real ln2_tail = is_float ? Real(-2.12194440e-4) : Real(1.9082149292705877e-10);
    constexpr double inverse[] = {
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
    constexpr int degree = is_float ? 7 : 13;
    V shifted[count], rest[count], power[count];
    for (std::size_t c = 0; c < count; ++c) {
        const std::size_t at = first + c * lanes;
        V y = *reinterpret_cast<const V*>(bias + at);
        if (label) y += *reinterpret_cast<const V*>(label + at);
        if (sum) y += *reinterpret_cast<const V*>(sum + at);
        y = y > limit ? V{} + limit : y;
        y = y < -limit ? V{} - limit : y;
        y += y;
        shifted[c] = y * Real(1.4426950408889634) + magic;
        const V whole = shifted[c] - magic;
        rest[c] = (y - whole * ln2_head) - whole * ln2_tail;
        power[c] = V{} + static_cast<Real>(inverse[degree]);
    }
    for (int k = degree - 1; k >= 0; --k)
        for (std::size_t c = 0; c < count; ++c) power[c] = power[c] * rest[c] + static_cast<Real>(inverse[k]);
    for (std::size_t c = 0; c < count; ++c) {
        const Bits scaled =
            reinterpret_cast<const Bits&>(power[c]) + (reinterpret_cast<const Bits&>(shifted[c]) << fraction);
        *reinterpret_cast<V*>(out + first + c * lanes) =
            Real(1) - Real(2) / (reinterpret_cast<const V&>(scaled) + Real(1));
    }
}

template <class Real>
SAPWOOD_INLINE void activate(Real* out, const Real* bias, const Real* label, const Real* sum, std::size_t stride) {
    constexpr std::size_t lanes = Lanes<Real>::size;
    std::size_t first = 0;
    for (; first + 4 * lanes <= stride; first += 4 * lanes) activate_columns<Real, 4>(out, bias, label, sum, first);
    for (; first < stride; first += lanes) activate_columns<Real, 1>(out, bias, label, sum, first);
}

template <class Real>
SAPWOOD_INLINE void forward(const Plan& plan, const NetworkShape& shape, const Real* weights, Real* states,
                            Real* sums) {
    const std::size_t stride = shape.stride(), units = shape.units;
    const std::uint32_t *before = plan.before(), *child = plan.child();
    std::uint32_t n = 0, run = 0, item = 0;
    for (std::uint32_t level = 0; level < plan.levels; ++level) {
        for (const std::uint32_t end = plan.node_end()[level]; n < end; ++n) {
            const std::uint32_t label = plan.label()[n], own = plan.item()[n];
            activate(states + n * stride, weights, label == kNone ? nullptr : weights + shape.label_row(label) * stride,
                     own == kNone ? nullptr : sums + own * stride, stride);
        }
        for (const std::uint32_t last = plan.level_run_end()[level]; run < last; ++run) {
            const Real* rows = weights + shape.child_row(plan.run_position()[run]) * stride;
            const std::uint32_t end = plan.run_end()[run];
            const auto start = [&](std::uint32_t i) {
                return before[i] == kNone ? nullptr : sums + before[i] * stride;
            };
            for (; item + 1 < end; item += 2) {
                Real* const out[] = {sums + item * stride, sums + (item + 1) * stride};
                const Real* const from[] = {start(item), start(item + 1)};
                const Real* const in[] = {states + child[item] * stride, states + child[item + 1] * stride};
                multiply<Real, 2>(out, from, rows, in, units, stride);
            }
            if (item < end) {
                Real* const out[] = {sums + item * stride};
                const Real* const from[] = {start(item)};
                const Real* const in[] = {states + child[item] * stride};
                multiply<Real, 1>(out, from, rows, in, units, stride);
                ++item;
            }
        }
    }
}

// state_slopes holds the derivatives by the states of the roots and zeros elsewhere; item_slopes zeros. `turned` are
// the matrices of the children with rows and columns exchanged.
template <class Real>
SAPWOOD_INLINE void backward(const Plan& plan, const NetworkShape& shape, const Real* turned, const Real* states,
                             Real* state_slopes, Real* item_slopes, Real* gradient) {
    const std::size_t stride = shape.stride(), units = shape.units;
    const std::uint32_t *before = plan.before(), *child = plan.child();
    std::uint32_t n = plan.nodes, run = plan.runs, item = plan.items;
    for (std::uint32_t level = plan.levels; level-- > 0;) {
        for (const std::uint32_t first = level == 0 ? 0 : plan.level_run_end()[level - 1]; run > first;) {
            --run;
            const Real* rows = turned + plan.run_position()[run] * units * stride;
            const std::uint32_t begin = run == 0 ? 0 : plan.run_end()[run - 1];
            while (item > begin) {
                // Two items may have one child, whose slope both add to: then one after the other.
                const bool two = item - begin >= 2 && child[item - 1] != child[item - 2];
                if (two) {
                    Real* const out[] = {state_slopes + child[item - 1] * stride,
                                         state_slopes + child[item - 2] * stride};
                    const Real* const in[] = {item_slopes + (item - 1) * stride, item_slopes + (item - 2) * stride};
                    multiply<Real, 2>(out, out, rows, in, units, stride);
                } else {
                    Real* const out[] = {state_slopes + child[item - 1] * stride};
                    const Real* const in[] = {item_slopes + (item - 1) * stride};
                    multiply<Real, 1>(out, out, rows, in, units, stride);
                }
                for (const std::uint32_t end = item - (two ? 2 : 1); item > end;) {
                    --item;
                    if (before[item] == kNone) continue;
                    const Real* own = item_slopes + item * stride;
                    Real* row = item_slopes + before[item] * stride;
                    for (std::size_t j = 0; j < stride; ++j) row[j] += own[j];
                }
            }
        }
        for (const std::uint32_t first = level == 0 ? 0 : plan.node_end()[level - 1]; n > first;) {
            --n;
            const Real* state = states + n * stride;
            Real* slope = state_slopes + n * stride;
            for (std::size_t j = 0; j < stride; ++j) slope[j] *= Real(1) - state[j] * state[j];
            for (std::size_t j = 0; j < stride; ++j) gradient[j] += slope[j];
            if (const std::uint32_t label = plan.label()[n]; label != kNone) {
                Real* row = gradient + shape.label_row(label) * stride;
                for (std::size_t j = 0; j < stride; ++j) row[j] += slope[j];
            }
            if (const std::uint32_t own = plan.item()[n]; own != kNone) {
                Real* row = item_slopes + own * stride;
                for (std::size_t j = 0; j < stride; ++j) row[j] += slope[j];
            }
        }
    }
    for (std::uint32_t k = 0; k < plan.positions; ++k) {
        const std::uint32_t begin = plan.position_begin()[k], end = plan.position_begin()[k + 1];
        add_outers(gradient + shape.child_row(k) * stride, units, stride, plan.by_position() + begin, end - begin,
                   plan.child(), states, item_slopes);
    }
}

// The same for both types, compiled for wider vector units too.
[[maybe_unused]] SAPWOOD_VECTOR static void run_forward(const Plan& plan, const NetworkShape& shape,
                                                        const float* weights, float* states, float* sums) {
    forward(plan, shape, weights, states, sums);
}
[[maybe_unused]] SAPWOOD_VECTOR static void run_forward(const Plan& plan, const NetworkShape& shape,
                                                        const double* weights, double* states, double* sums) {
    forward(plan, shape, weights, states, sums);
}
[[maybe_unused]] SAPWOOD_VECTOR static void run_backward(const Plan& plan, const NetworkShape& shape,
                                                         const float* turned, const float* states, float* state_slopes,
                                                         float* item_slopes, float* gradient) {
    backward(plan, shape, turned, states, state_slopes, item_slopes, gradient);
}
[[maybe_unused]] SAPWOOD_VECTOR static void run_backward(const Plan& plan, const NetworkShape& shape,
                                                         const double* turned, const double* states,
                                                         double* state_slopes, double* item_slopes, double* gradient) {
    backward(plan, shape, turned, states, state_slopes, item_slopes, gradient);
}

}  // namespace detail

// The memory that passes over plans need, used for plan after plan.
template <class Real>
struct NetworkScratch {
    std::vector<Real> states, sums, state_slopes, item_slopes;
};

// Fills scratch.states: per node of the plan `stride` numbers.
template <class Real>
void network_states(const Plan& plan, const NetworkShape& shape, const Real* weights, NetworkScratch<Real>& scratch) {
    const std::size_t stride = shape.stride();
    if (scratch.states.size() < plan.nodes * stride) scratch.states.resize(plan.nodes * stride);
    if (scratch.sums.size() < plan.items * stride) scratch.sums.resize(plan.items * stride);
    detail::run_forward(plan, shape, weights, scratch.states.data(), scratch.sums.data());
}

// outputs: trees x outputs. extras: trees x extra inputs.
template <class Real>
void network_outputs(const Plan& plan, const NetworkShape& shape, const Real* weights,
                     const NetworkScratch<Real>& scratch, const double* extras, double* outputs) {
    const std::size_t stride = shape.stride();
    for (std::uint32_t i = 0; i < plan.roots; ++i) {
        const Real* state = scratch.states.data() + plan.root()[i] * stride;
        for (std::size_t o = 0; o < shape.outputs; ++o) {
            const Real* row = weights + shape.output_row(o) * stride;
            const Real* tail = weights + shape.extra_weights() + o * (shape.extras + 1);
            double total = static_cast<double>(tail[shape.extras]);
            for (std::size_t j = 0; j < shape.units; ++j)
                total += static_cast<double>(row[j]) * static_cast<double>(state[j]);
            for (std::size_t e = 0; e < shape.extras; ++e)
                total += static_cast<double>(tail[e]) * extras[i * shape.extras + e];
            outputs[i * shape.outputs + o] = total;
        }
    }
}

// Adds to `gradient` what follows from the derivatives by the outputs (trees x outputs), after network_states.
template <class Real>
void network_gradient(const Plan& plan, const NetworkShape& shape, const Real* weights, const Real* turned,
                      NetworkScratch<Real>& scratch, const double* extras, const double* slopes, Real* gradient) {
    const std::size_t stride = shape.stride();
    scratch.state_slopes.assign(plan.nodes * stride, Real(0));
    scratch.item_slopes.assign(plan.items * stride, Real(0));
    for (std::uint32_t i = 0; i < plan.roots; ++i) {
        const Real* state = scratch.states.data() + plan.root()[i] * stride;
        Real* below = scratch.state_slopes.data() + plan.root()[i] * stride;
        for (std::size_t o = 0; o < shape.outputs; ++o) {
            const Real slope = static_cast<Real>(slopes[i * shape.outputs + o]);
            if (slope == Real(0)) continue;
            const Real* row = weights + shape.output_row(o) * stride;
            Real* own = gradient + shape.output_row(o) * stride;
            for (std::size_t j = 0; j < stride; ++j) own[j] += slope * state[j];
            for (std::size_t j = 0; j < stride; ++j) below[j] += slope * row[j];
            Real* tail = gradient + shape.extra_weights() + o * (shape.extras + 1);
            for (std::size_t e = 0; e < shape.extras; ++e)
                tail[e] += slope * static_cast<Real>(extras[i * shape.extras + e]);
            tail[shape.extras] += slope;
        }
    }
    detail::run_backward(plan, shape, turned, scratch.states.data(), scratch.state_slopes.data(),
                         scratch.item_slopes.data(), gradient);
}

}  // namespace sapwood
