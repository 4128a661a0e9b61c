// The subset-tree kernel of rows against a fixed set of columns.
//
//     D(n1, n2) = decay * prod over children (1 + D(child1, child2))   if the productions are equal, else 0
//
// Two nodes with equal productions and nothing in common below have D = decay. Summed over all pairs that is a
// product of production counts, which `Postings` adds up fast. What is left are the pairs with some child in common,
// a few per pair of trees. They are found without looking at any other pair: for every production, child slot and
// production of that child the columns keep the list of distinct subtrees that have it there, so that a row node
// multiplies (1 + D of that child) into exactly the entries that it concerns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/array.hpp"
#include "core/buffer_pool.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "kernels/active_subtrees.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct SubsetOptions {
    double decay;              // lambda
    bool bag_of_words;         // matching leaves add lambda
    std::size_t height_limit;  // of fragments; 0: none
};

class SubsetMatcher;

// Columns prepared for matching. An *active* subtree is a distinct subtree with an internal child; only for active
// subtrees can D exceed the decay. Active subtrees of a production are numbered from 1 in order of the last element
// that holds them; place 0 stands for all subtrees of that production without internal children.
class SubsetColumns {
  public:
    struct Entry {
        std::uint32_t place;  // place of the subtree among the active subtrees of its production
        std::uint32_t child;  // place of its child in that slot among the active subtrees of the child's production
        std::uint32_t last;   // the last element that holds the subtree
    };

    SubsetColumns(const Arena& arena, const Bags& bags, const SubsetOptions& options, std::size_t threads = 1)
        : options_(options), symbols_(arena.symbols.size()), group_(arena.production_count()) {
        drop_idle_limit(arena, bags);
        collect_active(arena, bags);
        build_lists(arena, threads);
    }

    // For parts that lie in memory of others; what describes the columns themselves is not among them.
    explicit SubsetColumns(const SubsetOptions& options) : options_(options), symbols_(0) {}
    template <class Visit>
    void parts(Visit& visit) {
        visit(options_.height_limit);
        visit(symbols_);
        visit(group_);
        visit(active_.place);
        visit(active_.last);
        visit(list_);
        visit(slot_list_);
        visit(list_of_);
        visit(first_list_);
        visit(entry_);
    }

    // The bulk: productions, and leaves where the bag of words counts.
    std::size_t feature_count() const { return group_.size() + symbols_; }
    std::size_t production_count() const { return group_.size(); }
    Bags features(const Arena& arena, const Bags& bags) const {
        return features_of(bags, arena, arena.productions(), arena.labels());
    }
    std::size_t positions() const { return active_.last.size(); }
    const std::vector<std::uint32_t>& positions_of_nodes() const { return position_; }

    // The features of the rows, by the columns' numbers.
    Bags prepare(const ArenaMap& map, const Bags& rows) const {
        return features_of(rows, map.arena, map.productions, map.labels);
    }
    auto visitor(const ArenaMap& map, const Bags& rows, const Bags& features, const Control& control) const;
    // The same walk node by node: bulk(k, feature, weight) and active(k, position, value) are about one occurrence of
    // the k-th subtree of the element.
    auto node_visitor(const ArenaMap& map, const Bags& rows, const Control& control) const;
    const SubsetOptions& options() const { return options_; }

    // Number of places (active subtrees and place 0) of a production; 0 if no column holds an active subtree of it.
    std::size_t places(Production production) const {
        return production < group_.size() ? group_[production].places : 0;
    }

    // Place of a subtree among the active subtrees of its production; 0 if it is not active.
    std::uint32_t place(Node node) const { return node == kNone ? 0 : active_.place[node]; }

    // A list holds the active subtrees of one production whose child in one slot has one production, by ascending
    // place.
    std::size_t lists() const { return list_.size(); }
    std::span<const Entry> entries(std::uint32_t list) const {
        return {entry_.data() + list_[list].begin, list_[list].end - list_[list].begin};
    }
    std::uint32_t find_list(Production parent, std::uint32_t slot, Production child) const {
        const Group& group = group_[parent];
        if (slot >= group.arity) return kNone;
        const auto begin = list_.begin() + slot_list_[group.slots + slot];
        const auto end = list_.begin() + slot_list_[group.slots + slot + 1];
        const auto found =
            std::lower_bound(begin, end, child, [](const List& list, Production p) { return list.child < p; });
        return found != end && found->child == child ? static_cast<std::uint32_t>(found - list_.begin()) : kNone;
    }
    // The lists that an active subtree itself is in: one per internal child, from left to right.
    const std::uint32_t* lists_of(std::size_t position) const { return list_of_.data() + first_list_[position]; }

    // Position of an active subtree in arrays over all active subtrees.
    std::size_t position(Production production, std::uint32_t place) const { return group_[production].begin + place; }
    // The last element that holds it.
    std::size_t last(std::size_t position) const { return active_.last[position]; }

  private:
    struct Group {
        std::size_t begin = 0, places = 0;
        std::size_t slots = 0, arity = 0;  // where the lists of its child slots are described
    };
    struct List {
        Production child;
        std::uint32_t begin, end;  // in entry_
    };

    // A limit that no fragment reaches costs one table per level for nothing.
    void drop_idle_limit(const Arena& arena, const Bags& bags) {
        if (options_.height_limit == 0) return;
        std::vector<std::size_t> height(arena.size(), 0);
        for (Node node = 0; node < arena.size(); ++node)
            for (const Node child : arena.children(node)) height[node] = std::max(height[node], height[child] + 1);
        std::size_t most = 0;
        for (const Node node : bags.numbers) most = std::max(most, height[node]);
        if (options_.height_limit >= most) options_.height_limit = 0;
    }

    void collect_active(const Arena& arena, const Bags& bags) {
        const std::vector<std::uint32_t> last = last_holders(arena, bags);
        std::vector<Node> active;
        for (Node node = 0; node < arena.size(); ++node) {
            if (last[node] == kNone || arena.is_leaf(node)) continue;
            for (const Node child : arena.children(node))
                if (!arena.is_leaf(child)) {
                    active.push_back(node);
                    break;
                }
        }
        active_.number(active, last, bags.size(), [&](Node node) { return arena.production_of(node); }, group_);
        position_.assign(arena.size(), kNone);
        for (std::size_t k = 0; k < active_.node.size(); ++k)
            if (active_.node[k] != kNone) position_[active_.node[k]] = static_cast<std::uint32_t>(k);
    }

    // For every production and child slot, the lists by ascending production of the child.
    void build_lists(const Arena& arena, std::size_t threads) {
        first_list_.resize(active_.node.size() + 1);
        std::size_t edges = 0;
        for (std::size_t position = 0; position < active_.node.size(); ++position) {
            first_list_[position] = edges;
            if (active_.node[position] == kNone) continue;
            for (const Node child : arena.children(active_.node[position])) edges += !arena.is_leaf(child);
        }
        first_list_.back() = edges;
        if (edges >= kNone) throw std::length_error("more than 4294967295 edges between distinct subtrees");
        list_of_.resize(edges);
        entry_.resize(edges);
        // Threads take productions from one to another, with about as many edges each. What they make is put together
        // in order, so that nothing depends on how many they were.
        const std::size_t parts = edges < kWorthSplitting ? 1 : std::clamp<std::size_t>(threads, 1, 8);
        std::vector<std::size_t> first(parts + 1, group_.size());
        first[0] = 0;
        for (std::size_t g = 0, part = 1; g < group_.size() && part < parts; ++g)
            if (group_[g].places > 0 && first_list_[group_[g].begin] >= edges * part / parts) first[part++] = g;
        std::vector<Lists> made(parts);
        Control control;
        parallel_blocks(parts, 1, parts, control, [&] {
            return
                [&](std::size_t part, std::size_t) { made[part] = lists_between(arena, first[part], first[part + 1]); };
        });
        slot_list_.push_back(0);
        for (std::size_t part = 0; part < parts; ++part) {
            const auto lists = static_cast<std::uint32_t>(list_.size());
            const std::size_t slots = slot_list_.size() - 1;
            list_.insert(list_.end(), made[part].list.begin(), made[part].list.end());
            for (const std::uint32_t end : made[part].slot_end) slot_list_.push_back(lists + end);
            if (part == 0) continue;
            for (std::size_t k = made[part].edges_begin; k < made[part].edges_end; ++k) list_of_[k] += lists;
            for (std::size_t g = first[part]; g < first[part + 1]; ++g)
                if (group_[g].places > 0) group_[g].slots += slots;
        }
    }

    struct Lists {  // of a stretch of productions, numbered from 0
        std::vector<List> list;
        std::vector<std::uint32_t> slot_end;
        std::size_t edges_begin = 0, edges_end = 0;
    };

    Lists lists_between(const Arena& arena, std::size_t first_group, std::size_t last_group) {
        Lists made;
        std::vector<List>& all = made.list;
        std::vector<std::uint32_t> number(group_.size(), kNone);  // per production of a child: its list
        std::vector<std::size_t> cursor;                          // per active subtree of a production: its next list
        std::uint32_t filled = 0;
        bool any = false;
        for (std::size_t g = first_group; g < last_group; ++g) {
            Group& group = group_[g];
            if (group.places == 0) continue;
            const std::size_t begin = group.begin + 1;
            if (!any) made.edges_begin = made.edges_end = first_list_[begin];
            if (!any) filled = static_cast<std::uint32_t>(made.edges_begin);
            any = true;
            group.slots = made.slot_end.size();
            group.arity = arena.children(active_.node[begin]).size();
            const std::span<const Node> active(active_.node.data() + begin, group.places - 1);
            cursor.assign(first_list_.begin() + static_cast<std::ptrdiff_t>(begin),
                          first_list_.begin() + static_cast<std::ptrdiff_t>(begin + active.size()));
            for (std::size_t slot = 0; slot < group.arity; ++slot) {
                const std::size_t first = all.size();
                for (const Node node : active) {
                    const Production child = arena.production_of(arena.children(node)[slot]);
                    if (child == kNone) continue;
                    if (number[child] == kNone) {
                        number[child] = 0;
                        all.push_back({child, 0, 0});
                    }
                    ++number[child];
                }
                std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                          [](const List& a, const List& b) { return a.child < b.child; });
                for (std::size_t list = first; list < all.size(); ++list) {
                    all[list].begin = all[list].end = filled;
                    filled += number[all[list].child];
                    number[all[list].child] = static_cast<std::uint32_t>(list);
                }
                for (std::size_t k = 0; k < active.size(); ++k) {
                    const Node child = arena.children(active[k])[slot];
                    if (arena.is_leaf(child)) continue;
                    const std::uint32_t list = number[arena.production_of(child)];
                    entry_[all[list].end++] = {static_cast<std::uint32_t>(k + 1), active_.place[child],
                                               active_.last[begin + k]};
                    list_of_[cursor[k]++] = list;
                }
                for (std::size_t list = first; list < all.size(); ++list) number[all[list].child] = kNone;
                made.slot_end.push_back(static_cast<std::uint32_t>(all.size()));
            }
            made.edges_end = first_list_[begin + active.size()];
        }
        return made;
    }

    Bags features_of(const Bags& bags, const Arena& arena, std::span<const Production> productions,
                     std::span<const Symbol> labels) const {
        return map_bags(bags, feature_count(), [&](Node node) -> std::uint32_t {
            if (!arena.is_leaf(node)) return productions[node];
            if (!options_.bag_of_words || labels[node] == kNone) return kNone;
            return static_cast<std::uint32_t>(group_.size() + labels[node]);
        });
    }

    static constexpr std::size_t kWorthSplitting = 4096;

    SubsetOptions options_;
    std::size_t symbols_;
    Array<Group> group_;  // per production
    ActiveSubtrees active_;
    Array<List> list_;
    Array<std::uint32_t> slot_list_;  // where the lists of a slot begin, slot after slot of all productions
    Array<std::uint32_t> list_of_;
    Array<std::size_t> first_list_;  // per position
    Array<Entry> entry_;
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: not active
};

// Walks one row element bottom up and hands over, for every row node, the active subtrees it shares a child with.
class SubsetMatcher {
  public:
    SubsetMatcher(const ArenaMap& map, const SubsetColumns& columns, const SubsetOptions& options,
                  const Control& control)
        : map_(map),
          arena_(map.arena),
          columns_(columns),
          control_(control),
          decay_(options.decay),
          // A fragment of height 1 is a bare production, worth the decay, so levels start at height 2.
          levels_(options.height_limit == 0 ? 1 : options.height_limit - 1),
          unlimited_(options.height_limit == 0),
          slot_(arena_.size(), kIgnored) {
        for (Node node = 0; node < arena_.size(); ++node) {
            if (arena_.is_leaf(node) || columns_.places(map_.productions[node]) == 0) continue;
            for (const Node child : arena_.children(node))
                if (!arena_.is_leaf(child)) slot_[node] = kNone;
        }
    }

    // Calls found(position, gain) for pairs (node of the bag, active subtree) whose D exceeds the decay; the gains of a
    // pair add up to count * (D - decay). Active subtrees that only elements before `first` hold are left out; this is
    // fast if `first` never decreases from call to call. each(k) is called before the reports of the k-th node.
    template <class Found, class Each>
    void match(std::span<const Node> nodes, std::span<const double> counts, std::size_t first, Found found, Each each) {
        if (levels_ == 0) return;
        // With all elements wanted nothing is skipped, and no memory taken.
        if (first < first_) skipped_.clear();
        if (first > 0) skipped_.resize(columns_.lists());
        first_ = first;
        take_nodes(nodes);
        find_entries();
        for (std::size_t at = 0; at < used_; ++at) {
            State& state = state_[at];
            const double count = counts[state.k];
            each(state.k);
            work_ +=
                evaluate(state, [&](std::uint32_t place, double gain) { found(state.base + place, count * gain); });
            if (work_ > 1000000) {
                control_.check();
                work_ = 0;
            }
            for (const Node child : arena_.children(state.node))
                if (slot_[child] < kIgnored && --state_[slot_[child]].parents == 0) release(child);
            if (state.parents == 0) release(state.node);
        }
    }

  private:
    // Of a subtree in slot_: one that cannot match anything beyond its production.
    static constexpr std::uint32_t kIgnored = kNone - 1;

    struct Shared {  // a child, and the active subtrees that have the same production there
        Node child;
        std::uint32_t list;
        std::span<const SubsetColumns::Entry> entries;
    };
    struct State {  // a row node
        Node node;
        std::size_t k;                   // its number in the bag
        std::size_t parents;             // that still need its values
        std::size_t base;                // position of place 0 of its production
        std::size_t shared, shared_end;  // its children in shared_
        // Level by level, D against every active subtree of the production.
        std::vector<double> values;
    };

    // The nodes that can match, with how many of them are parents of each.
    void take_nodes(std::span<const Node> nodes) {
        used_ = 0;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const Node node = nodes[k];
            if (slot_[node] == kIgnored) continue;
            for (const Node child : arena_.children(node))
                if (slot_[child] < kIgnored) ++state_[slot_[child]].parents;
            if (used_ == state_.size()) state_.emplace_back();
            slot_[node] = static_cast<std::uint32_t>(used_);
            State& state = state_[used_++];
            state.node = node;
            state.k = k;
            state.parents = 0;
        }
    }

    // Multiplies the children in, one after the other. Each time D of a pair grows, gained(place, growth) is called,
    // so that what is reported for a pair adds up to its D minus the decay.
    template <class Gained>
    std::size_t evaluate(State& state, Gained gained) {
        const std::size_t places = columns_.places(map_.productions[state.node]);
        state.values = buffers_.take(places * levels_);
        std::size_t work = places;
        for (std::size_t level = 0; level < levels_; ++level) {
            double* values = state.values.data() + level * places;
            fill(values, decay_, places);
            const bool last = level + 1 == levels_;
            for (std::size_t k = state.shared; k < state.shared_end; ++k) {
                const Node child = shared_[k].child;
                const std::span<const SubsetColumns::Entry> entries = shared_[k].entries;
                const double* below = nullptr;
                if (slot_[child] < kIgnored && (unlimited_ || level > 0)) {
                    below = state_[slot_[child]].values.data();
                    if (!unlimited_) below += (level - 1) * columns_.places(map_.productions[child]);
                }
                if (last)
                    multiply(entries, below, values, gained);
                else
                    multiply(entries, below, values, [](std::uint32_t, double) {});
                work += entries.size();
            }
        }
        return work;
    }

    // The internal children of all nodes with the active subtrees that have the same production there. Two passes, so
    // that what one look-up waits for is on its way while others are made.
    void find_entries() {
        shared_.clear();
        for (std::size_t at = 0; at < used_; ++at) {
            State& state = state_[at];
            const Production production = map_.productions[state.node];
            const auto kids = arena_.children(state.node);
            const std::uint32_t place = columns_.place(map_.node(state.node));
            state.base = columns_.position(production, 0);
            const std::uint32_t* known = place == 0 ? nullptr : columns_.lists_of(state.base + place);
            state.shared = shared_.size();
            for (std::size_t slot = 0; slot < kids.size(); ++slot) {
                if (arena_.is_leaf(kids[slot])) continue;
                const std::uint32_t list = known ? *known++
                                                 : columns_.find_list(production, static_cast<std::uint32_t>(slot),
                                                                      map_.productions[kids[slot]]);
                if (list == kNone) continue;
                const std::uint32_t skipped = first_ > 0 ? skipped_[list] : 0;
                const auto entries = columns_.entries(list).subspan(skipped);
                __builtin_prefetch(entries.data());
                shared_.push_back({kids[slot], list, entries});
            }
            state.shared_end = shared_.size();
        }
        if (first_ > 0)
            for (Shared& shared : shared_) skip_entries(shared);
    }

    // Leaves out the entries that only elements before first_ hold.
    void skip_entries(Shared& shared) {
        std::size_t skip = 0;
        while (skip < shared.entries.size() && shared.entries[skip].last < first_) ++skip;
        if (skip == 0) return;
        shared.entries = shared.entries.subspan(skip);
        skipped_[shared.list] =
            static_cast<std::uint32_t>(shared.entries.data() - columns_.entries(shared.list).data());
    }

    // Multiplies (1 + D of the child) into the entries; `below` is null where that D is the bare decay for all.
    template <class Gained>
    SAPWOOD_INLINE void multiply(std::span<const SubsetColumns::Entry> entries, const double* below, double* values,
                                 Gained gained) const {
        const double decay = decay_;
        for (const SubsetColumns::Entry& entry : entries) {
            const double old = values[entry.place], gain = old * (below ? below[entry.child] : decay);
            values[entry.place] = old + gain;
            gained(entry.place, gain);
        }
    }

    void release(Node node) {
        buffers_.give(std::move(state_[slot_[node]].values));
        slot_[node] = kNone;
    }

    const ArenaMap& map_;
    const Arena& arena_;
    const SubsetColumns& columns_;
    const Control& control_;
    double decay_;
    std::size_t levels_;
    bool unlimited_;
    // Per subtree of the arena: its State while it is alive; else kNone, or kIgnored.
    std::vector<std::uint32_t> slot_;
    std::vector<State> state_;
    std::size_t used_ = 0;
    BufferPool buffers_;
    std::vector<std::uint32_t> skipped_;  // per list its entries that only elements before first_ hold; empty for 0
    std::size_t first_ = 0;
    std::vector<Shared> shared_;
    std::size_t work_ = 0;
};

inline auto SubsetColumns::visitor(const ArenaMap& map, const Bags& rows, const Bags& features,
                                   const Control& control) const {
    return [this, &rows, &features, matcher = SubsetMatcher(map, *this, options_, control)](
               std::size_t element, std::size_t first, auto bulk, auto active) mutable {
        const auto numbers = features.numbers_of(element);
        const auto counts = features.counts_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) bulk(numbers[k], options_.decay * counts[k]);
        matcher.match(rows.numbers_of(element), rows.counts_of(element), first, active, [](std::size_t) {});
    };
}

inline auto SubsetColumns::node_visitor(const ArenaMap& map, const Bags& rows, const Control& control) const {
    return [this, &map, &rows, matcher = SubsetMatcher(map, *this, options_, control)](std::size_t element, auto bulk,
                                                                                       auto active) mutable {
        const auto numbers = rows.numbers_of(element);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const Node node = numbers[k];
            if (!map.arena.is_leaf(node)) {
                if (map.productions[node] != kNone) bulk(k, map.productions[node], options_.decay);
            } else if (options_.bag_of_words && map.labels[node] != kNone) {
                bulk(k, static_cast<std::uint32_t>(group_.size() + map.labels[node]), options_.decay);
            }
        }
        const std::vector<double> once(numbers.size(), 1.0);
        std::size_t current = 0;
        matcher.match(
            numbers, once, 0, [&](std::size_t position, double value) { active(current, position, value); },
            [&](std::size_t k) { current = k; });
    };
}

}  // namespace sapwood
