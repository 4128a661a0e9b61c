// The heaviest fragments of a subset-tree model, of one of its decisions, or of the kernel of two trees.
//
// Best first: fragments wait in a heap under the most that anything grown from them could weigh, and the search stops
// when that is no more than the lightest fragment kept. A fragment grown further fits no more nodes than before and
// pays for each production, so the sums of the positive and of the negative weights where it fits bound it. The limit
// of a search is the number of table cells (see explain/fragments.hpp) it may look at.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "explain/best_first.hpp"
#include "explain/fragments.hpp"
#include "kernels/model.hpp"
#include "kernels/subset.hpp"
#include "kernels/subtree.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// What a search has found, heaviest first.
struct Heaviest {
    Arena arena;
    std::vector<Node> roots;   // the fragments, as trees of that arena
    std::vector<Node> others;  // the fragments of the other tree that these are like, if pairs were asked for
    std::vector<double> weights;
    std::vector<double> counts;  // how often the element holds each; empty for a whole model
    std::vector<std::vector<std::string>> deleted, other_deleted;  // labels of the children left out, if any were
    bool exact = true;  // false: the search met its limit, so there may be heavier ones
};

// Keeps the `capacity` entries of largest absolute weight.
template <class Entry>
class Best {
  public:
    explicit Best(std::size_t capacity) : capacity_(capacity) {}

    double threshold() const {
        if (heap_.size() < capacity_) return 0.0;
        return capacity_ == 0 ? std::numeric_limits<double>::infinity() : heap_.front().size;
    }
    // Whether an entry of this weight would be kept.
    bool takes(double weight) const { return std::abs(weight) > threshold(); }

    void add(double weight, const Entry& entry) {
        if (!takes(weight)) return;
        if (heap_.size() == capacity_) {
            std::pop_heap(heap_.begin(), heap_.end(), lighter);
            heap_.pop_back();
        }
        heap_.push_back({std::abs(weight), arrivals_++, weight, entry});
        std::push_heap(heap_.begin(), heap_.end(), lighter);
    }

    struct Kept {
        double size;
        std::size_t arrival;
        double weight;
        Entry entry;
    };
    std::vector<Kept> sorted() {
        std::sort(heap_.begin(), heap_.end(), lighter);
        return std::move(heap_);
    }

  private:
    // A heap of these has the lightest at the front; among equals the one that came last goes first.
    static bool lighter(const Kept& a, const Kept& b) {
        return a.size != b.size ? a.size > b.size : a.arrival < b.arrival;
    }

    std::size_t capacity_, arrivals_ = 0;
    std::vector<Kept> heap_;
};

// The outputs of a model combined into one by `combination`.
inline std::vector<double> combine(const std::vector<double>& table, std::span<const double> combination) {
    std::vector<double> result(table.size() / combination.size(), 0.0);
    for (std::size_t i = 0; i < result.size(); ++i)
        for (std::size_t o = 0; o < combination.size(); ++o)
            result[i] += table[i * combination.size() + o] * combination[o];
    return result;
}

// Sides is 1 for the weights of the model itself (decay^(size/2) per fragment), 2 for those of a decision about an
// element (decay^size, times how often the element holds the fragment).
template <std::size_t Sides>
class SubsetSearch {
  public:
    // map and element are null for a whole model.
    SubsetSearch(const Model<SubsetColumns>& model, std::span<const double> combination, const ArenaMap* map,
                 const Bags* element, std::size_t capacity, std::size_t limit, const Control& control)
        : model_(model),
          map_(map),
          element_(element),
          options_(model.columns().options()),
          control_(control),
          limit_(limit),
          factor_(Sides == 1 ? std::sqrt(options_.decay) : options_.decay),
          feature_(combine(model.feature_weights(), combination)),
          active_(combine(model.active_weights(), combination)),
          best_(capacity),
          group_(model.arena().production_count()) {}

    Heaviest run() {
        const Arena& arena = model_.arena();
        if constexpr (Sides == 2) {
            count_.assign(map_->arena.size(), 0.0);
            const auto numbers = element_->numbers_of(0);
            const auto counts = element_->counts_of(0);
            for (std::size_t k = 0; k < numbers.size(); ++k) count_[numbers[k]] = counts[k];
            const FragmentSide sides[2] = {{arena, arena.productions()}, {map_->arena, map_->productions}};
            search(sides);
        } else {
            const FragmentSide sides[1] = {{arena, arena.productions()}};
            search(sides);
        }
        return result();
    }

  private:
    using Grown = GrownFragment<Sides>;
    // The weights of the rows that have one production in one slot.
    struct Group {
        double total = 0.0, positive = 0.0, negative = 0.0, count = 0.0;
        bool seen = false;
        void add(double weight) {
            total += weight;
            (weight > 0 ? positive : negative) += weight;
        }
    };
    struct Entry {
        std::uint32_t step;  // kNone: the leaf `label`
        Symbol label;
        double count;
    };

    double weight_of(Node node) const {
        const std::uint32_t position = model_.columns().positions_of_nodes()[node];
        return position == kNone ? 0.0 : active_[position];
    }

    void search(const FragmentSide (&sides)[Sides]) {
        FragmentGrower<Sides> grower(sides, options_.height_limit);
        start();
        std::size_t work = 0;
        exact_ = waiting_.run(
            limit_, work, control_, [&] { return best_.threshold(); },
            [&](const auto& next) {
                const Production production = steps_[next.step].production;
                const std::size_t arity = model_.arena().children(model_.arena().sample(production)).size();
                auto grown = std::make_shared<Grown>();
                if (next.from) {
                    *grown = grower.grow(*next.from, next.at, production, next.step, arity);
                } else {
                    std::span<const Node> roots[Sides];
                    for (std::size_t side = 0; side < Sides; ++side) roots[side] = starts_[side].of(production);
                    *grown = grower.start(next.step, arity, roots);
                }
                expand(grown, sides);
                work += grown->rows[0].fillings.size() + 64;
            });
    }

    // Nodes with some internal child, by production.
    struct Starts {
        std::vector<std::size_t> ends;
        std::vector<Node> nodes;
        std::span<const Node> of(Production production) const {
            const std::size_t begin = production == 0 ? 0 : ends[production - 1];
            return std::span(nodes).subspan(begin, ends[production] - begin);
        }
        Starts() = default;
        template <class Productions>
        Starts(const std::vector<Node>& all, const Productions& productions, std::size_t count) : ends(count, 0) {
            for (const Node node : all) ++ends[productions[node]];
            std::size_t total = 0;
            for (std::size_t& end : ends) {
                const std::size_t length = end;
                end = total;
                total += length;
            }
            nodes.resize(total);
            for (const Node node : all) nodes[ends[productions[node]]++] = node;
        }
    };

    void start() {
        const Arena& arena = model_.arena();
        const std::size_t count = arena.production_count();
        const auto& position = model_.columns().positions_of_nodes();
        std::vector<Node> active;
        std::vector<double> positive(count, 0.0), negative(count, 0.0), times(count, Sides == 1 ? 1.0 : 0.0);
        std::vector<double> growing(count, Sides == 1 ? 1.0 : 0.0);
        for (Node node = 0; node < arena.size(); ++node) {
            if (position[node] == kNone) continue;
            const double weight = active_[position[node]];
            if (weight == 0.0) continue;
            active.push_back(node);
            (weight > 0 ? positive : negative)[arena.production_of(node)] += weight;
        }
        starts_[0] = Starts(active, arena.productions(), count);
        if constexpr (Sides == 2) start_element(times, growing);
        for (Production p = 0; p < count; ++p) {
            if (times[p] == 0.0) continue;
            const auto step = static_cast<std::uint32_t>(steps_.size());
            const double weight = factor_ * times[p] * feature_[p];
            const double bound = factor_ * factor_ * growing[p] * std::max(positive[p], -negative[p]);
            if (!best_.takes(weight) && bound <= best_.threshold()) continue;
            steps_.push_back({kNone, 0, p});
            best_.add(weight, {step, kNone, times[p]});
            push(bound, nullptr, 0, step);
        }
        if (!options_.bag_of_words) return;
        for (Symbol label = 0; label < arena.symbols.size(); ++label) {
            const double times_here = Sides == 1 ? 1.0 : leaf_count_[label];
            best_.add(factor_ * times_here * feature_[count + label], {kNone, label, times_here});
        }
    }

    void start_element(std::vector<double>& times, std::vector<double>& growing) {
        std::vector<Node> able;
        const auto numbers = element_->numbers_of(0);
        leaf_count_.assign(model_.arena().symbols.size(), 0.0);
        for (const Node node : numbers) {
            if (map_->arena.is_leaf(node)) {
                if (map_->labels[node] != kNone) leaf_count_[map_->labels[node]] += count_[node];
                continue;
            }
            const Production production = map_->productions[node];
            if (production == kNone) continue;
            times[production] += count_[node];
            for (const Node child : map_->arena.children(node))
                if (!map_->arena.is_leaf(child)) {
                    growing[production] += count_[node];
                    able.push_back(node);
                    break;
                }
        }
        starts_[1] = Starts(able, map_->productions, model_.arena().production_count());
    }

    void push(double bound, std::shared_ptr<const Grown> from, std::uint32_t at, std::uint32_t step) {
        if (bound > best_.threshold()) waiting_.push(bound, std::move(from), at, step);
    }

    // Weighs every fragment with one production more, and lets those wait that may lead further.
    void expand(const std::shared_ptr<const Grown>& grown, const FragmentSide (&sides)[Sides]) {
        const double here = std::pow(factor_, static_cast<double>(grown->size + 1));
        const std::size_t width = grown->open.size();
        if (here * best_possible(*grown) <= best_.threshold()) return;
        for (std::uint32_t at = 0; at < width; ++at) {
            const FragmentRows& rows = grown->rows[0];
            for (std::size_t i = 0; i < rows.roots.size(); ++i) {
                const Node filling = rows.fillings[i * width + at];
                if (filling == kNone) continue;
                Group& group = group_[sides[0].productions[filling]];
                if (!group.seen) {
                    group = {};
                    group.seen = true;
                    touched_.push_back(sides[0].productions[filling]);
                }
                group.add(weight_of(rows.roots[i]));
            }
            if constexpr (Sides == 2) {
                const FragmentRows& theirs = grown->rows[1];
                for (std::size_t i = 0; i < theirs.roots.size(); ++i) {
                    const Node filling = theirs.fillings[i * width + at];
                    if (filling == kNone || sides[1].productions[filling] == kNone) continue;
                    if (Group& group = group_[sides[1].productions[filling]]; group.seen)
                        group.count += count_[theirs.roots[i]];
                }
            }
            for (const Production production : touched_) {
                Group& group = group_[production];
                group.seen = false;
                const double times = Sides == 1 ? 1.0 : group.count;
                const double weight = here * times * group.total;
                const double bound = here * factor_ * times * std::max(group.positive, -group.negative);
                if (!best_.takes(weight) && bound <= best_.threshold()) continue;
                const auto step = static_cast<std::uint32_t>(steps_.size());
                steps_.push_back({grown->step, grown->open[at].number, production});
                best_.add(weight, {step, kNone, times});
                push(bound, grown, at, step);
            }
            touched_.clear();
        }
    }

    // The same bound again, now that rows that cannot grow are gone.
    double best_possible(const Grown& grown) const {
        double positive = 0.0, negative = 0.0, times = Sides == 1 ? 1.0 : 0.0;
        for (const Node root : grown.rows[0].roots) {
            const double weight = weight_of(root);
            (weight > 0 ? positive : negative) += weight;
        }
        if constexpr (Sides == 2)
            for (const Node root : grown.rows[1].roots) times += count_[root];
        return times * std::max(positive, -negative);
    }

    Heaviest result() {
        Heaviest found;
        FragmentWriter writer(model_.arena(), found.arena);
        for (const auto& kept : best_.sorted()) {
            const Entry& entry = kept.entry;
            found.roots.push_back(entry.step == kNone ? writer.leaf(entry.label) : writer.write(steps_, entry.step));
            found.weights.push_back(kept.weight);
            if (Sides == 2) found.counts.push_back(entry.count);
        }
        found.exact = exact_;
        return found;
    }

    const Model<SubsetColumns>& model_;
    const ArenaMap* map_;
    const Bags* element_;
    SubsetOptions options_;
    const Control& control_;
    std::size_t limit_;
    double factor_;
    std::vector<double> feature_, active_, count_, leaf_count_;
    Best<Entry> best_;
    std::vector<Group> group_;  // per production, between two uses of touched_
    std::vector<Production> touched_;
    std::vector<FragmentStep> steps_;
    BestFirst<Grown> waiting_;
    Starts starts_[Sides];
    bool exact_ = true;
};

// element null: the model itself.
inline Heaviest heaviest(const Model<SubsetColumns>& model, std::span<const double> combination, const Arena* arena,
                         const Bags* element, std::size_t capacity, std::size_t limit, const Control& control) {
    if (!element) return SubsetSearch<1>(model, combination, nullptr, nullptr, capacity, limit, control).run();
    const ArenaMap map(*arena, model.arena(), *element);
    return SubsetSearch<2>(model, combination, &map, element, capacity, limit, control).run();
}

// The subtree kernel has one fragment per distinct subtree, so there is nothing to search.
inline Heaviest heaviest(const Model<SubtreeColumns>& model, std::span<const double> combination, const Arena* arena,
                         const Bags* element, std::size_t capacity, std::size_t, const Control&) {
    const std::vector<double> feature = combine(model.feature_weights(), combination);
    const std::span<const double> weight = model.columns().weights();
    struct Entry {
        Node node;
        double count;
    };
    Best<Entry> best(capacity);
    if (element) {
        const ArenaMap map(*arena, model.arena(), *element);
        const auto numbers = element->numbers_of(0);
        const auto counts = element->counts_of(0);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const Node node = map.node(numbers[k]);
            if (node != kNone) best.add(weight[node] * counts[k] * feature[node], {node, counts[k]});
        }
    } else {
        for (Node node = 0; node < feature.size(); ++node)
            best.add(std::sqrt(weight[node]) * feature[node], {node, 1.0});
    }
    Heaviest found;
    std::vector<Node> nodes;
    for (const auto& kept : best.sorted()) {
        nodes.push_back(kept.entry.node);
        found.weights.push_back(kept.weight);
        if (element) found.counts.push_back(kept.entry.count);
    }
    found.roots = transplant(model.arena(), nodes, found.arena);
    return found;
}

}  // namespace sapwood
