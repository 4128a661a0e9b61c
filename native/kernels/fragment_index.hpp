// A subset-tree model as an index of the fragments that its trees share: see kernels/fragment_tables.hpp.
//
// Comparing walks down whatever two subtrees share, which is little for trees of language and too much for very deep
// ones: see kernels/scorers.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/active_subtrees.hpp"
#include "kernels/fragment_growth.hpp"
#include "kernels/fragment_tables.hpp"
#include "kernels/scoring.hpp"
#include "kernels/subset.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

class FragmentIndex {
    using Below = FragmentTables::Below;
    using Entry = FragmentTables::Entry;
    using Kind = FragmentTables::Kind;
    using Quad = FragmentTables::Quad;
    using Root = FragmentTables::Root;
    static constexpr std::size_t kPlaces = FragmentTables::kPlaces;

  public:
    // weights: elements x outputs, row major. The arena must outlive the index and not change.
    FragmentIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                  const SubsetOptions& options)
        : arena_(arena), tall_(arena.production_count(), false) {
        tables_.outputs = outputs;
        tables_.decay = options.decay;
        if (options.height_limit != 0) tables_.height = options.height_limit;
        tables_.roots.resize(arena.production_count());
        tables_.bare.assign(arena.production_count() * outputs, 0.0);
        if (options.bag_of_words) tables_.leaf.assign(arena.symbols.size() * outputs, 0.0);
        for (unsigned places = 0; places < bonus_.size(); ++places) {
            bonus_[places] = 1.0;
            for (int k = 0; k < std::popcount(places); ++k) bonus_[places] *= 1.0 + options.decay;
        }
        const std::vector<double> worth = subtree_weights(arena, bags, weights, outputs);
        const std::vector<std::uint32_t> holder = last_holders(arena, bags);
        std::vector<Node> active;
        for (Node node = 0; node < arena.size(); ++node) {
            if (holder[node] == kNone) continue;
            const bool leaf = arena.is_leaf(node);
            if (leaf && tables_.leaf.empty()) continue;
            double* sum = leaf ? tables_.leaf.data() + arena.label(node) * outputs
                               : tables_.bare.data() + arena.production_of(node) * outputs;
            for (std::size_t o = 0; o < outputs; ++o) sum[o] += worth[node * outputs + o];
            const auto kids = arena.children(node);
            if (std::all_of(kids.begin(), kids.end(), [&](Node child) { return arena.is_leaf(child); })) continue;
            active.push_back(node);
            tall_[arena.production_of(node)] = tables_.height > 1;
        }
        if (tables_.height > 1) FragmentGrowth(arena, std::move(active), worth, tables_);
    }

    std::size_t outputs() const { return tables_.outputs; }
    // Of how many productions.
    std::size_t productions() const { return static_cast<std::size_t>(std::count(tall_.begin(), tall_.end(), true)); }
    std::size_t fragments() const { return tables_.weight.size() / std::max<std::size_t>(1, tables_.outputs); }
    std::size_t bytes() const { return tables_.bytes(); }

    // Subtrees of another arena as the index sees them.
    class Translation {
      public:
        Translation(const FragmentIndex& index, const Arena& rows, const UsedSubtrees& used)
            : own(used.nodes().size(), {kUnknown, 0}),
              leaves(index.tables_.leaf.empty() ? 0 : own.size(), kNone),
              bins_(index.arena_.production_count() + 1) {
            const auto nodes = used.nodes();
            const LabelMap labels(rows, index.arena_, nodes);
            const ProductionMap productions(rows, index.arena_, labels, nodes);
            lists.reserve(nodes.size());
            closed.reserve(nodes.size());
            lists.emplace_back();
            closed.push_back(0);
            for (std::size_t k = 0; k < nodes.size(); ++k) {
                const auto children = rows.children(nodes[k]);
                if (children.empty()) {
                    if (!leaves.empty()) leaves[k] = labels(rows.label(nodes[k]));
                    continue;
                }
                const Production production = productions(rows.production_of(nodes[k]));
                if (production == kNone) continue;
                own[k].production = production;
                // What the model has only seen over leaves is never looked into.
                if (index.tall_[production]) own[k].children = list(children, used);
            }
        }

        // A place, and what is there.
        struct Start {
            std::uint32_t place;
            Below what;
        };
        // All of them: first those with nothing to look at below, then the others, those with the same production
        // together.
        std::vector<Start> order() const {
            std::vector<Start> result(own.size());
            // With few places each goes to a production of its own, more or less, and counting them would take longer.
            if (own.size() * 16 < bins_) {
                for (std::size_t k = 0; k < own.size(); ++k) result[k] = {static_cast<std::uint32_t>(k), own[k]};
                return result;
            }
            // No branch: it could not be predicted.
            const auto bin = [](const Below& what) {
                return (what.production + 1) & -static_cast<std::uint32_t>(what.children != 0);
            };
            std::vector<std::uint32_t> start(bins_ + 1, 0);
            for (const Below& what : own) ++start[bin(what) + 1];
            for (std::size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
            for (std::size_t k = 0; k < own.size(); ++k)
                result[start[bin(own[k])]++] = {static_cast<std::uint32_t>(k), own[k]};
            return result;
        }

        std::vector<Below>
            own;  // per place; the production of a leaf, or of what the model has never seen, is kUnknown
        std::vector<Symbol> leaves;  // per place: the label of a leaf, where leaves count
        std::vector<Quad> lists;     // of children; the first belongs to none
        // Per quad: the places (as bits) below which nothing can match, and kMore if another quad of the list follows.
        std::vector<std::uint8_t> closed;

      private:
        std::size_t bins_;

        std::uint32_t list(std::span<const Node> children, const UsedSubtrees& used) {
            if (lists.size() + children.size() >= kNone)
                throw std::length_error("more than 4294967295 children in a batch");
            const auto result = static_cast<std::uint32_t>(lists.size());
            for (std::size_t begin = 0; begin < children.size(); begin += kPlaces) {
                const std::size_t count = std::min(kPlaces, children.size() - begin);
                Quad quad{{kUnknown, kUnknown, kUnknown, kUnknown}, {}};
                unsigned bits = begin + kPlaces < children.size() ? kMore : 0;
                for (std::size_t k = 0; k < count; ++k) {
                    const Below& child = own[used.place(children[begin + k])];
                    quad.put(k, child);
                    bits |= static_cast<unsigned>(child.children == 0) << k;
                }
                lists.push_back(quad);
                closed.push_back(static_cast<std::uint8_t>(bits));
            }
            return result;
        }
    };

    // Scores subtrees that have been translated. Several are on their way at a time: what the next step of one will
    // look at is asked for when the step before is done, and steps of others are made until it is there.
    class Reader {
        using Start = Translation::Start;

      public:
        Reader(const FragmentIndex& index, const Translation& translation, const Control& control)
            : tables_(index.tables_),
              translation_(translation),
              control_(control),
              lists_(translation.lists.data()),
              below_(index.tables_.below.data()),
              closed_(translation.closed.data()),
              bonus_(index.bonus_.data()),
              decay_(index.tables_.decay) {}

        // Per place x outputs, worth += the sum over the model of weight * D(subtree, .).
        void add(std::span<const Start> starts, double* worth) {
            for (std::size_t k = 0; k < starts.size(); ++k) {
                if (k + kAhead < starts.size()) {
                    const Start& next = starts[k + kAhead];
                    __builtin_prefetch(lists_ + next.what.children);
                    __builtin_prefetch(worth + next.place * tables_.outputs);
                }
                add(starts[k], worth + starts[k].place * tables_.outputs);
            }
            finish();
        }

      private:
        static constexpr std::size_t kAhead = 8;              // places to ask for memory for
        static constexpr std::size_t kBegun = 16;             // subtrees that are on their way at a time
        static constexpr std::size_t kLine = 64, kLines = 4;  // bytes of a line of cache; lines of a list to ask for

        // Done at the latest when finish() is called.
        void add(const Start& start, double* out) {
            const Below own = start.what;
            if (own.production == kUnknown) {
                const auto& leaves = translation_.leaves;
                if (!leaves.empty() && leaves[start.place] != kNone)
                    add(tables_.leaf, leaves[start.place], tables_.decay, out);
                return;
            }
            add(tables_.bare, own.production, tables_.decay, out);
            if (own.children == 0) return;
            const Root& root = tables_.roots[own.production];
            Task& task = room();
            task.length = root.arity;
            task.factor = tables_.decay;
            task.root = &root;
            task.out = out;
            if (root.entry.kind == Kind::kWhole) {
                task.productions()[0] = own.production;
                task.children()[0] = own.children;
            } else {
                put(lists_[own.children], task);
            }
            push(task, root.entry, root.number);
            if (++begun_ == kBegun) finish();
        }

        void finish() {
            // Whatever comes first is done first, so that a subtree adds up in the same order whatever else there is.
            for (std::size_t t = 0; t < used_; ++t) {
                room();
                run(tasks_[t]);
            }
            used_ = begun_ = 0;
        }

        // A fragment that a subtree has in common with the model, to be gone on from: it has factor * (E - sum of
        // weights) to add.
        struct Task {
            // Productions and children of the open places, and room for four words to be taken from or put to any
            // place.
            std::array<std::uint32_t, 3 * kPlaces> words;
            Entry entry;
            std::uint32_t number;
            std::uint32_t length;  // how many places are open
            double factor;
            const Root* root;
            double* out;

            std::uint32_t* productions() { return words.data(); }
            std::uint32_t* children() { return words.data() + kPlaces; }
            const std::uint32_t* productions() const { return words.data(); }
            const std::uint32_t* children() const { return words.data() + kPlaces; }
        };

        void add(const std::vector<double>& table, std::size_t at, double value, double* out) const {
            const double* weight = table.data() + at * tables_.outputs;
            for (std::size_t o = 0; o < tables_.outputs; ++o) out[o] += value * weight[o];
        }

        // A task to be filled in and pushed. There is room for as many more as one step may push.
        Task& room() {
            if (used_ + kPlaces >= tasks_.size()) tasks_.resize(2 * (tasks_.size() + kPlaces));
            return tasks_[used_];
        }

        static void copy_places(const std::uint32_t* from, std::uint32_t* to) {
            std::memcpy(to, from, kPlaces * sizeof(std::uint32_t));
        }
        static void put(const Quad& quad, Task& task) {
            copy_places(quad.production.data(), task.productions());
            copy_places(quad.children.data(), task.children());
        }
        // Puts what another task has from one place on behind the first `at` places of this one, whose children are
        // those of the quad. Productions go first: they may be written beyond their end.
        static void put(const Quad& quad, std::size_t at, const Task& other, std::size_t from, Task& task) {
            copy_places(other.productions() + from, task.productions() + at);
            copy_places(quad.children.data(), task.children());
            copy_places(other.children() + from, task.children() + at);
        }

        void push(Task& task, const Entry& entry, std::uint32_t number) {
            task.entry = entry;
            task.number = number;
            switch (entry.kind) {
                case Kind::kEnd:
                    return;
                case Kind::kListed:
                case Kind::kWhole: {
                    const auto* items = reinterpret_cast<const char*>(tables_.items.data() + entry.at);
                    const std::size_t bytes = std::min(entry.count * sizeof(FragmentTables::Item), kLines * kLine);
                    for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(items + at);
                    break;
                }
                case Kind::kSplit:
                    __builtin_prefetch(tables_.splits.data() + entry.at);
                    break;
                case Kind::kGrown:
                    for (std::size_t k = 0; k < task.length; ++k)
                        __builtin_prefetch(tables_.seek(*task.root, number, k, task.productions()[k]));
            }
            ++used_;
        }

        void run(const Task& task) {
            if (task.entry.kind == Kind::kGrown)
                follow(task);
            else if (task.entry.kind == Kind::kSplit)
                split(task);
            else
                compare(task);
            if (work_ < 1000000) return;
            control_.check();
            work_ = 0;
        }

        void follow(const Task& task) {
            const double factor = task.factor * decay_;
            for (std::uint32_t k = 0; k < task.length; ++k) {
                const Production production = task.productions()[k];
                if (production == kUnknown) continue;
                const FragmentTables::Edge& edge = tables_.find(*task.root, task.number, k, production);
                if (edge.child == kNone) continue;
                if (tables_.outputs == 1)
                    *task.out += factor * edge.weight;
                else
                    add(tables_.weight, edge.child, factor, task.out);
                const std::uint32_t opens = edge.entry.opens, from = edge.entry.kind == Kind::kWhole ? k : k + 1;
                Task& next = tasks_[used_];
                const Quad& below = lists_[task.children()[k]];
                copy_places(below.production.data(), next.productions());
                put(below, opens, task, from, next);
                next.length = opens + task.length - from;
                next.factor = factor;
                next.root = task.root;
                next.out = task.out;
                push(next, edge.entry, edge.child);
            }
            work_ += task.length;
        }

        void split(const Task& task) {
            const FragmentTables::Split& split = tables_.splits[task.entry.at];
            const std::size_t place = split.place;
            double factor = task.factor;
            if (task.productions()[place] == split.subtree.production) {
                const std::uint32_t mine = task.children()[place], theirs = split.subtree.children;
                const double value =
                    factor * decay_ *
                    (split.height == 0 ? under<false>(mine, theirs, 0) : under<true>(mine, theirs, split.height));
                if (tables_.outputs == 1)
                    *task.out += value * split.weight;
                else
                    add(tables_.weight, split.same, value, task.out);
                factor += value;
            }
            Task& same = tasks_[used_];
            same = task;
            copy_places(task.productions() + place + 1, same.productions() + place);
            copy_places(task.children(), same.children());
            copy_places(task.children() + place + 1, same.children() + place);
            same.length = task.length - 1;
            same.factor = factor;
            push(same, split.same_entry, split.same);
            Task& others = tasks_[used_];
            others = task;
            push(others, split.others_entry, split.others);
        }

        void compare(const Task& task) {
            if (tables_.height == FragmentTables::kUnlimited)
                compare<false>(task);
            else
                compare<true>(task);
        }

        template <bool kLimited>
        void compare(const Task& task) {
            const std::uint32_t *mine = task.productions(), *lists = task.children(), count = task.entry.count;
            const FragmentTables::Item* items = tables_.items.data() + task.entry.at;
            static constexpr std::array<std::uint32_t, kPlaces> kNothing{};
            const unsigned closed = FragmentTables::equal(lists, kNothing.data());
            // Of the place that was matched before only what lies below counts.
            const unsigned whole = task.entry.kind == Kind::kWhole ? 1 : 0;
            const unsigned open = ((1U << task.length) - 1) & ~whole;
            if (hits_.size() < count) hits_.resize(count);
            // No branch: which items have something in common could not be predicted.
            std::size_t hits = 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                const Quad& theirs = items[i].quad;
                const unsigned same = (FragmentTables::equal(mine, theirs.production.data()) & open) | whole;
                hits_[hits] = {i, same};
                hits += same != 0;
                const unsigned rest = (same & ~closed) | 1U << (kPlaces - 1);
                __builtin_prefetch(below_ + theirs.children[static_cast<std::size_t>(std::countr_zero(rest))]);
            }
            double sum = 0.0;
            for (std::size_t h = 0; h < hits; ++h) {
                const std::uint32_t i = hits_[h].item, same = hits_[h].same;
                const Quad& theirs = items[i].quad;
                const auto below = [&](std::size_t k) {
                    return under<kLimited>(lists[k], theirs.children[k],
                                           kLimited ? tables_.item_height[task.entry.at + i][k] : 0);
                };
                double product = bonus_[same & closed & ~whole];
                if (whole != 0) product *= below(0);
                for (unsigned rest = same & ~closed & ~whole; rest != 0; rest &= rest - 1)
                    product *= 1.0 + decay_ * below(static_cast<std::size_t>(std::countr_zero(rest)));
                if (tables_.outputs == 1)
                    sum += (product - 1.0) * items[i].weight;
                else if (product != 1.0)
                    add(tables_.subtree_weight, tables_.item_subtree[task.entry.at + i], task.factor * (product - 1.0),
                        task.out);
            }
            if (tables_.outputs == 1) *task.out += task.factor * sum;
            work_ += count;
        }

        // D of two subtrees with the same production, but for the decay of that production itself, by the lists of
        // their children. Recursion ends at leaves of the model, whose height is limited (see kernels/scorers.hpp).
        template <bool kLimited>
        double under(std::uint32_t mine, std::uint32_t theirs, std::size_t height) {
            double value = 1.0;
            if (theirs == 0 || (kLimited && height == 1)) return value;
            for (;; ++mine, ++theirs) {
                ++work_;
                const Quad &here = lists_[mine], &there = below_[theirs];
                const unsigned same = FragmentTables::equal(here.production.data(), there.production.data());
                const unsigned closed = closed_[mine];
                value *= bonus_[same & closed];
                for (unsigned rest = same & ~closed; rest != 0; rest &= rest - 1) {
                    const auto k = static_cast<std::size_t>(std::countr_zero(rest));
                    value *= 1.0 + decay_ * under<kLimited>(here.children[k], there.children[k], height - 1);
                }
                if ((closed & kMore) == 0) return value;
            }
        }

        // An item of a list that has something in common, and where, as bits.
        struct Hit {
            std::uint32_t item, same;
        };

        const FragmentTables& tables_;
        const Translation& translation_;
        const Control& control_;
        // What every comparison looks at, one step nearer.
        const Quad *lists_, *below_;
        const std::uint8_t* closed_;
        const double* bonus_;
        const double decay_;
        std::vector<Task> tasks_;
        std::size_t used_ = 0, begun_ = 0;
        std::vector<Hit> hits_;
        std::size_t work_ = 0;
    };

  private:
    // What no production of the model is equal to: stands for leaves and for what the model has never seen.
    static constexpr Production kUnknown = kNone - 1;
    static constexpr unsigned kMore = 1U << kPlaces;

    const Arena& arena_;
    FragmentTables tables_;
    std::vector<std::uint8_t> tall_;  // per production: whether some subtree of the model has it over an internal child
    std::array<double, 1U << kPlaces> bonus_;  // per set of places: what those count that match and have nothing below
};

}  // namespace sapwood
