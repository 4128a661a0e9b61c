// A subset-tree model that can grow, and what it makes of whole forests.
//
// The model is a weight per distinct subtree, f(x) = sum over subtrees m of weight_m * sum over nodes n of x of D(n,
// m), with D as in kernels/subset.hpp. A whole forest is scored in one pass over its distinct subtrees: what a subtree
// contributes does not depend on the tree it is in. An update that prefers one alternative to another leaves the
// subtrees that both share untouched, so that the model holds what makes a difference and little else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/buffer_pool.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"

namespace sapwood {

namespace detail {

inline bool has_internal_child(const Arena& arena, Node node) {
    for (const Node child : arena.children(node))
        if (!arena.is_leaf(child)) return true;
    return false;
}

}  // namespace detail

// Weights on subtrees of one arena, which must not change. Subtrees that have internal children are active: they have a
// place among those of their production. The others compare alike with everything of their production, at place 0.
class GrowingModel {
  public:
    struct Entry {
        std::uint32_t place, child;  // of an active subtree and of its child in a slot
    };

    GrowingModel(const Arena& arena, double decay, bool bag_of_words)
        : arena_(arena),
          decay_(decay),
          bag_of_words_(bag_of_words),
          place_(arena.size(), 0),
          group_(arena.production_count()),
          leaf_(arena.symbols.size(), 0.0) {}

    const Arena& arena() const { return arena_; }
    double decay() const { return decay_; }
    bool bag_of_words() const { return bag_of_words_; }

    void add(Node node, double weight) {
        if (arena_.is_leaf(node)) {
            leaf_[arena_.label(node)] += weight;
            return;
        }
        insert(node);
        Group& group = group_[arena_.production_of(node)];
        if (group.weight.empty()) group.weight.push_back(0.0);
        group.weight[place_[node]] += weight;
        group.total += weight;
    }

    // Sum of the weights of all subtrees with this production.
    double total(Production production) const { return group_[production].total; }
    double leaf(Symbol label) const { return leaf_[label]; }
    // Place 0 and the active subtrees of a production; empty if it has never had a weight.
    const std::vector<double>& weights(Production production) const { return group_[production].weight; }
    // The active subtrees with this production whose child in a slot has that production.
    std::span<const Entry> entries(Production production, std::uint32_t slot, Production child) const {
        const std::uint32_t list = lists_.find({production, slot, child});
        if (list == kNone) return {};
        return entries_[list];
    }
    std::size_t bytes() const {
        std::size_t total = place_.size() * 4 + leaf_.size() * 8 + lists_.bytes();
        for (const Group& group : group_) total += sizeof(Group) + group.weight.capacity() * 8;
        for (const auto& list : entries_) total += sizeof(list) + list.capacity() * sizeof(Entry);
        return total;
    }

  private:
    struct Group {
        std::vector<double> weight;
        double total = 0.0;
    };

    // Gives places to a subtree and to all below it that need one, children first.
    void insert(Node root) {
        if (place_[root] != 0 || !detail::has_internal_child(arena_, root)) return;
        stack_.assign(1, root);
        while (!stack_.empty()) {
            const Node node = stack_.back();
            const std::size_t before = stack_.size();
            if (place_[node] == 0)
                for (const Node child : arena_.children(node))
                    if (place_[child] == 0 && detail::has_internal_child(arena_, child)) stack_.push_back(child);
            if (stack_.size() > before) continue;
            stack_.pop_back();
            if (place_[node] == 0) give_place(node);
        }
    }

    void give_place(Node node) {
        const Production production = arena_.production_of(node);
        Group& group = group_[production];
        if (group.weight.empty()) group.weight.push_back(0.0);
        place_[node] = static_cast<std::uint32_t>(group.weight.size());
        group.weight.push_back(0.0);
        const auto kids = arena_.children(node);
        for (std::uint32_t slot = 0; slot < kids.size(); ++slot) {
            if (arena_.is_leaf(kids[slot])) continue;
            const detail::ShortKeyTable::Key key{production, slot, arena_.production_of(kids[slot])};
            std::uint32_t list = lists_.find(key);
            if (list == kNone) {
                list = static_cast<std::uint32_t>(entries_.size());
                lists_.insert(key, list);
                entries_.emplace_back();
            }
            entries_[list].push_back({place_[node], place_[kids[slot]]});
        }
    }

    const Arena& arena_;
    double decay_;
    bool bag_of_words_;
    std::vector<std::uint32_t> place_;  // per subtree of the arena; 0: not active
    std::vector<Group> group_;          // per production
    std::vector<double> leaf_;          // per symbol
    detail::ShortKeyTable lists_;
    std::vector<std::vector<Entry>> entries_;
    std::vector<Node> stack_;
};

// The distinct subtrees of a set of trees, children first, and what a model makes of each.
class ForestScorer {
  public:
    ForestScorer(const ArenaMap& map, const GrowingModel& model, const Control& control)
        : map_(map), arena_(map.arena), model_(model), control_(control), local_(arena_.size(), kNone) {}

    // Finds and scores the subtrees below the roots.
    void score(std::span<const Node> roots) {
        collect(roots);
        own_.resize(nodes_.size());
        values_.resize(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) own_[i] = evaluate(i);
        add_up();
    }

    // f of a tree, after score().
    double value(Node root) const { return sum_[local_[root]]; }

    // For a ranker: the subtrees and their own contributions, which it may change, and sums over trees made anew.
    const std::vector<Node>& nodes() const { return nodes_; }
    std::vector<double>& own() { return own_; }
    std::uint32_t local(Node node) const { return local_[node]; }
    void add_up() {
        sum_.resize(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            double total = own_[i];
            for (const Node child : arena_.children(nodes_[i])) total += sum_[local_[child]];
            sum_[i] = total;
        }
    }

  private:
    // In the order in which a walk leaves them: a tree's own subtrees come right before it, so that few intermediate
    // results are alive at a time.
    void collect(std::span<const Node> roots) {
        for (const Node node : nodes_) local_[node] = kNone;
        nodes_.clear();
        parents_.clear();
        for (const Node root : roots) {
            if (local_[root] != kNone) continue;
            walk_.assign(1, {root, 0});
            local_[root] = 0;
            while (!walk_.empty()) {
                auto& [node, next] = walk_.back();
                const auto kids = arena_.children(node);
                if (next < kids.size()) {
                    const Node child = kids[next++];
                    if (local_[child] == kNone) {
                        local_[child] = 0;
                        walk_.push_back({child, 0});
                    }
                    continue;
                }
                local_[node] = static_cast<std::uint32_t>(nodes_.size());
                nodes_.push_back(node);
                walk_.pop_back();
            }
        }
        parents_.assign(nodes_.size(), 0);
        for (const Node node : nodes_)
            for (const Node child : arena_.children(node)) ++parents_[local_[child]];
        find_prefixes();
    }

    double evaluate(std::size_t i) {
        const Node node = nodes_[i];
        if (arena_.is_leaf(node)) {
            const Symbol label = map_.labels[node];
            return model_.bag_of_words() && label != kNone ? model_.decay() * model_.leaf(label) : 0.0;
        }
        const double result = compare(i, node);
        for (const Node child : arena_.children(node))
            if (const std::uint32_t at = local_[child]; --parents_[at] == 0 && !values_[at].empty()) {
                buffers_.give(std::move(values_[at]));
                values_[at] = {};
            }
        return result;
    }

    // Alternatives differ at the end of child sequences more than anywhere else. So the children but the last are
    // multiplied in once for all nodes that have them; for what no parent asks for, even the last need not be.
    double compare(std::size_t i, Node node) {
        if (prefix_of_[i] == kNone) {
            const Production production = map_.productions[node];
            return production == kNone ? 0.0 : model_.decay() * model_.total(production);
        }
        const Production production = map_.productions[node];
        const std::vector<double>& weights = model_.weights(production);
        const auto kids = arena_.children(node);
        Prefix& prefix = prefix_[prefix_of_[i]];
        if (prefix.values.empty()) fill(prefix, production, kids.first(kids.size() - 1), weights);
        const bool last_use = --prefix.uses == 0, needed = parents_[i] > 0;
        const Node last = kids.back();
        std::span<const GrowingModel::Entry> entries;
        if (!arena_.is_leaf(last) && map_.productions[last] != kNone)
            entries = model_.entries(production, static_cast<std::uint32_t>(kids.size() - 1), map_.productions[last]);
        work_ += entries.size() + weights.size();
        if (work_ > 1000000) {
            control_.check();
            work_ = 0;
        }
        std::vector<double> own;
        if (needed && !last_use) {
            own = buffers_.take(weights.size());
            std::copy(prefix.values.begin(), prefix.values.begin() + static_cast<std::ptrdiff_t>(weights.size()),
                      own.begin());
        } else {
            own = std::move(prefix.values);
        }
        // Without values of its own, a child shares the bare decay with everything of its production.
        const std::vector<double>& below = values_[local_[last]];
        const double* child = below.empty() ? nullptr : below.data();
        const double total = prefix.sum + (needed ? gains<true>(own.data(), entries, child, weights.data())
                                                  : gains<false>(own.data(), entries, child, weights.data()));
        if (needed)
            values_[i] = std::move(own);
        else if (last_use)
            buffers_.give(std::move(own));
        else
            prefix.values = std::move(own);
        return total;
    }

    // Multiplies (1 + D of the child) into the entries and returns the weighted sum of what they gain. Four sums side
    // by side, and a function of its own, so that no addition waits for the one before.
    template <bool write>
    __attribute__((noinline)) double gains(double* values, std::span<const GrowingModel::Entry> entries,
                                           const double* child, const double* weights) const {
        const double decay = model_.decay();
        double part[4] = {};
        const auto step = [&](std::size_t k) {
            const GrowingModel::Entry entry = entries[k];
            const double before = values[entry.place], gain = before * (child ? child[entry.child] : decay);
            if (write) values[entry.place] = before + gain;
            return gain * weights[entry.place];
        };
        std::size_t k = 0;
        for (; k + 4 <= entries.size(); k += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) part[lane] += step(k + lane);
        for (; k < entries.size(); ++k) part[0] += step(k);
        return (part[0] + part[1]) + (part[2] + part[3]);
    }

    struct Prefix {
        Node sample;         // a node that has it
        std::uint32_t uses;  // nodes that still need it
        std::vector<double> values;
        double sum;
    };

    void fill(Prefix& prefix, Production production, std::span<const Node> kids, const std::vector<double>& weights) {
        const double decay = model_.decay();
        prefix.values = buffers_.take(weights.size());
        double* values = prefix.values.data();
        std::fill(values, values + weights.size(), decay);
        for (std::uint32_t slot = 0; slot < kids.size(); ++slot) {
            if (arena_.is_leaf(kids[slot]) || map_.productions[kids[slot]] == kNone) continue;
            const auto entries = model_.entries(production, slot, map_.productions[kids[slot]]);
            work_ += entries.size();
            const std::vector<double>& below = values_[local_[kids[slot]]];
            if (below.empty())
                for (const GrowingModel::Entry& entry : entries) values[entry.place] += values[entry.place] * decay;
            else
                for (const GrowingModel::Entry& entry : entries)
                    values[entry.place] += values[entry.place] * below[entry.child];
        }
        prefix.sum = dot(weights.data(), values, weights.size());
    }

    // Finds the nodes that have the same production and the same children but the last.
    void find_prefixes() {
        prefix_.clear();
        prefix_of_.assign(nodes_.size(), kNone);
        std::size_t size = slots_.size();
        while (size < 2 * nodes_.size()) size *= 2;
        if (size > slots_.size() || ++turn_ == 0) {
            slots_.assign(size, {0, 0});
            turn_ = 1;
        }
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Node node = nodes_[i];
            if (!detail::has_internal_child(arena_, node) || map_.productions[node] == kNone) continue;
            if (model_.weights(map_.productions[node]).size() <= 1) continue;
            const auto kids = arena_.children(node);
            std::uint64_t hash = detail::mix(detail::hash_seed(), arena_.production_of(node));
            for (const Node child : kids.first(kids.size() - 1)) hash = detail::mix(hash, child);
            for (std::size_t at = static_cast<std::size_t>(hash) & mask;; at = (at + 1) & mask) {
                auto& [turn, number] = slots_[at];
                if (turn != turn_) {
                    turn = turn_;
                    number = static_cast<std::uint32_t>(prefix_.size());
                    prefix_.push_back({node, 1, {}, 0.0});
                    prefix_of_[i] = number;
                    break;
                }
                const Node sample = prefix_[number].sample;
                const auto theirs = arena_.children(sample);
                if (arena_.production_of(sample) == arena_.production_of(node) &&
                    std::equal(kids.begin(), kids.end() - 1, theirs.begin())) {
                    ++prefix_[number].uses;
                    prefix_of_[i] = number;
                    break;
                }
            }
        }
    }

    const ArenaMap& map_;
    const Arena& arena_;
    const GrowingModel& model_;
    const Control& control_;
    std::vector<std::uint32_t> local_;  // per subtree of the arena: its place in nodes_
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> parents_;       // that still need the values
    std::vector<std::vector<double>> values_;  // D against the places of its production, while it is needed
    std::vector<std::uint32_t> prefix_of_;     // kNone: compares alike with everything of its production
    std::vector<Prefix> prefix_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> slots_{64, {0, 0}};  // turn and number, by hash
    std::uint32_t turn_ = 0;
    std::vector<double> own_, sum_;
    std::vector<std::pair<Node, std::size_t>> walk_;
    BufferPool buffers_;
    std::size_t work_ = 0;
};

// The weight of every subtree when trees have weights: a subtree counts as often as its parents do. All at once,
// exactly if the weights are whole numbers.
inline void add_trees(GrowingModel& model, std::span<const Node> roots, std::span<const double> weights) {
    const Arena& arena = model.arena();
    std::vector<double> total(arena.size(), 0.0);
    for (std::size_t i = 0; i < roots.size(); ++i) total[roots[i]] += weights[i];
    for (std::size_t node = arena.size(); node-- > 0;)
        if (total[node] != 0.0)
            for (const Node child : arena.children(static_cast<Node>(node))) total[child] += total[node];
    for (Node node = 0; node < arena.size(); ++node)
        if (total[node] != 0.0) model.add(node, total[node]);
}

// out[i] = f(root i), for trees of any arena, in blocks that are scored as one forest each.
inline void evaluate_model(const GrowingModel& model, const Arena& arena, std::span<const Node> roots, double* out,
                           std::size_t threads, Control& control) {
    Bags used;
    if (&arena != &model.arena()) used.numbers = reachable(arena, roots);
    const ArenaMap map(arena, model.arena(), used);
    parallel_blocks(roots.size(), 256, threads, control, [&] {
        return [&, scorer = ForestScorer(map, model, control)](std::size_t begin, std::size_t end) mutable {
            scorer.score(roots.subspan(begin, end - begin));
            for (std::size_t i = begin; i < end; ++i) out[i] = scorer.value(roots[i]);
        };
    });
}

}  // namespace sapwood
