// A subset-tree model as an index of the fragments that its trees share.
//
// A fragment here grows from a production by matching one open child after the other, always to the right of the last:
//
//     E(G, open) = sum of weights of G + sum over open children k of decay * E(members of G with that child, new open)
//
// where G are the subtrees of the model that begin with the fragment, and matching child k leaves open its children and
// what stood right of it. Followed with the productions of a subtree n, this adds up to the sum of weight * D(n, m) over
// all subtrees m of the model, and visits a fragment once however many of them share it. Where few share one, or where
// following on would not be faster, the index ends in a list of those that do, to be compared one by one. Comparing walks
// down whatever two subtrees share, which is little for trees of language and too much for very deep ones: see scorers.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "members.hpp"
#include "parallel.hpp"
#include "scoring.hpp"
#include "subset.hpp"

namespace sapwood {

class FragmentIndex {
    struct Entry {  // a fragment
        std::size_t items = 0;    // where its list starts: per subtree its number, then what it has at each open child
        std::uint32_t count = 0;  // length of the list
        bool grown = false;       // it goes on in slots_ instead
    };
    struct Edge {  // from a fragment to one that matches one child more
        std::uint32_t parent, slot;
        Production production;
        std::uint32_t child;
        Entry entry;  // that of the child: who follows an edge looks at nothing else
    };
    // What a subtree has in one place. Lists of these begin with one whose first number is their length.
    struct Below {
        Production production;  // of a leaf one that equals none on the other side: kNone in a model, kUnknown outside
        std::uint32_t children;  // where the list of its children begins; kNone in a model: all of them are leaves
    };
    struct Root {  // of a production
        std::uint32_t entry = kNone;  // kNone: no subtree has an internal child
        std::uint32_t mask = 0;       // size of its hash table, less one
        std::size_t slots = 0;        // where that starts
    };

  public:
    // weights: elements x outputs, row major. The arena must outlive the index and not change.
    FragmentIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                  const SubsetOptions& options)
        : arena_(arena), outputs_(outputs), decay_(options.decay),
          height_(options.height_limit == 0 ? kUnlimited : options.height_limit), root_(arena.production_count()),
          bare_(arena.production_count() * outputs, 0.0),
          leaf_(options.bag_of_words ? arena.symbols.size() * outputs : 0, 0.0) {
        const std::vector<double> worth = subtree_weights(arena, bags, weights, outputs);
        const std::vector<std::uint32_t> holder = last_holders(arena, bags);
        std::vector<Node> members;
        for (Node node = 0; node < arena.size(); ++node) {
            if (holder[node] == kNone) continue;
            const bool leaf = arena.is_leaf(node);
            if (leaf && leaf_.empty()) continue;
            double* sum = leaf ? leaf_.data() + arena.label(node) * outputs : bare_.data() + arena.production_of(node) * outputs;
            for (std::size_t o = 0; o < outputs; ++o) sum[o] += worth[node * outputs + o];
            const auto kids = arena.children(node);
            if (std::any_of(kids.begin(), kids.end(), [&](Node child) { return !arena.is_leaf(child); }))
                members.push_back(node);
        }
        if (height_ == 1) return;
        list_children(members);
        grow_all(members, worth);
    }

    std::size_t outputs() const { return outputs_; }
    // Of how many productions, and how many there are in all.
    std::size_t productions() const {
        return static_cast<std::size_t>(std::count_if(root_.begin(), root_.end(), [](const Root& r) { return r.entry != kNone; }));
    }
    std::size_t fragments() const { return nodes_.size(); }
    std::size_t bytes() const {
        return nodes_.capacity() * sizeof(Entry) + (weight_.capacity() + bare_.capacity() + leaf_.capacity() + member_weight_.capacity()) * 8 +
               (items_.capacity() + below_.capacity()) * sizeof(Below) +
               root_.capacity() * sizeof(Root) + slots_.capacity() * sizeof(Edge);
    }

    // Productions and, where they count, leaves of another arena by their numbers in this one.
    class Translation {
      public:
        Translation(const FragmentIndex& index, const Arena& rows, std::span<const Node> nodes)
            : arena(rows), bins_(index.arena_.production_count() + 1) {
            const LabelLens symbols(rows, index.arena_);
            std::vector<Production> known(rows.production_count(), kNone);
            std::vector<Symbol> kids;
            own.assign(nodes.empty() ? 0 : std::size_t{nodes.back()} + 1, {kUnknown, kOneLeaf});
            if (!index.leaf_.empty()) leaves.assign(own.size(), kNone);
            lists = {{1, 0}, {kUnknown, kOneLeaf}};
            for (const Node node : nodes) {
                const auto children = rows.children(node);
                if (children.empty()) {
                    if (!leaves.empty()) leaves[node] = symbols(rows.label(node));
                    continue;
                }
                Production& there = known[rows.production_of(node)];
                if (there == kNone) there = find(index.arena_, rows, node, symbols, kids);
                own[node].production = there;
                // Nobody looks below what the model has never seen.
                if (there == kUnknown || (children.size() == 1 && rows.is_leaf(children[0]))) continue;
                if (lists.size() + children.size() >= kNone) throw std::length_error("more than 4294967295 children in a batch");
                own[node].children = static_cast<std::uint32_t>(lists.size());
                lists.push_back({static_cast<std::uint32_t>(children.size()), 0});
                for (const Node child : children) lists.push_back(own[child]);
            }
        }

        // The places of the nodes, those with the same production together.
        std::vector<std::uint32_t> order(std::span<const Node> nodes) const {
            const auto bin = [&](Node node) { return own[node].production == kUnknown ? 0 : own[node].production + 1; };
            std::vector<std::uint32_t> start(bins_ + 1, 0), result(nodes.size());
            for (const Node node : nodes) ++start[bin(node) + 1];
            for (std::size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
            for (std::size_t k = 0; k < nodes.size(); ++k) result[start[bin(nodes[k])]++] = static_cast<std::uint32_t>(k);
            return result;
        }

        const Arena& arena;
        std::vector<Below> own;    // per subtree
        std::vector<Below> lists;  // of their children; the first one is of a single leaf, which most subtrees have
        std::vector<Symbol> leaves;

      private:
        static constexpr std::uint32_t kOneLeaf = 0;

        std::size_t bins_;

        static Production find(const Arena& there, const Arena& rows, Node node, const LabelLens& symbols, std::vector<Symbol>& kids) {
            if (&there == &rows) return rows.production_of(node);
            const Symbol label = symbols(rows.label(node));
            if (label == kNone) return kUnknown;
            kids.clear();
            for (const Node child : rows.children(node)) {
                kids.push_back(symbols(rows.label(child)));
                if (kids.back() == kNone) return kUnknown;
            }
            const Production found = there.find_production(label, kids);
            return found == kNone ? kUnknown : found;
        }
    };

    // Scores subtrees that have been translated.
    class Reader {
      public:
        Reader(const FragmentIndex& index, const Translation& translation, const Control& control)
            : index_(index), own_(translation.own), lists_(translation.lists.data()), leaf_(translation.leaves),
              control_(control) {}

        // out[o] += the sum over the model of weight * D(node, .).
        void add(Node node, double* out) {
            const Below own = own_[node];
            if (own.production == kUnknown) {
                if (!leaf_.empty() && leaf_[node] != kNone) index_.add(index_.leaf_, leaf_[node], index_.decay_, out);
                return;
            }
            index_.add(index_.bare_, own.production, index_.decay_, out);
            root_ = index_.root_[own.production];
            if (root_.entry == kNone) return;
            open_.clear();
            open(own, index_.height_ - 1);
            follow(root_.entry, index_.nodes_[root_.entry], 0, index_.decay_, out);
        }

      private:
        struct Open {
            Below here;
            std::size_t height;  // of the fragments that may begin there
        };

        void open(const Below& parent, std::size_t height) {
            const Below* list = lists_ + parent.children;
            for (std::uint32_t k = 1; k <= list->production; ++k) open_.push_back({list[k], height});
        }

        // Adds factor * (E - sum of weights) for the open children from `begin` on. The depth of this recursion is
        // limited by kMatches.
        void follow(std::uint32_t number, const Entry& entry, std::size_t begin, double factor, double* out) {
            if (entry.count > 0) compare(entry, begin, factor, out);
            if (!entry.grown) return;
            const std::size_t end = open_.size();
            for (std::size_t k = begin; k < end; ++k) {
                const auto [here, height] = open_[k];
                if (here.production == kUnknown) continue;
                const Edge& edge = index_.find(root_, number, static_cast<std::uint32_t>(k - begin), here.production);
                if (edge.child == kNone) continue;
                index_.add(index_.weight_, edge.child, factor * index_.decay_, out);
                if (edge.entry.count == 0 && !edge.entry.grown) continue;
                if (height > 1) open(here, height - 1);
                for (std::size_t right = k + 1; right < end; ++right) open_.push_back(Open(open_[right]));
                follow(edge.child, edge.entry, end, factor * index_.decay_, out);
                open_.resize(end);
            }
        }

        // The same where the subtrees of the model are listed.
        void compare(const Entry& entry, std::size_t begin, double factor, double* out) {
            const std::size_t length = open_.size() - begin;
            const Open* mine = open_.data() + begin;
            const Below* theirs = index_.items_.data() + entry.items;
            for (std::uint32_t i = 0; i < entry.count; ++i, theirs += 1 + length) {
                double product = 1.0;
                for (std::size_t k = 0; k < length; ++k)
                    if (theirs[1 + k].production == mine[k].here.production)
                        product *= 1.0 + delta(mine[k].here.children, theirs[1 + k].children, mine[k].height);
                if (product != 1.0) index_.add(index_.member_weight_, theirs->production, factor * (product - 1.0), out);
            }
            work_ += entry.count * length;
            if (work_ < 1000000) return;
            control_.check();
            work_ = 0;
        }

        // D of two subtrees with the same production, by the lists of their children. Recursion ends at leaves of the
        // model, whose height is limited (see scorers.hpp).
        double delta(std::uint32_t mine, std::uint32_t theirs, std::size_t height) {
            double value = index_.decay_;
            if (theirs == kNone || height == 1) return value;
            const Below* here = lists_ + mine;
            const Below* there = index_.below_.data() + theirs;
            const std::uint32_t count = there->production;
            work_ += count;
            for (std::uint32_t k = 1; k <= count; ++k)
                if (here[k].production == there[k].production)
                    value *= 1.0 + delta(here[k].children, there[k].children, height - 1);
            return value;
        }

        const FragmentIndex& index_;
        std::span<const Below> own_;
        const Below* lists_;
        std::span<const Symbol> leaf_;
        const Control& control_;
        Root root_;
        std::vector<Open> open_;
        std::size_t work_ = 0;
    };

  private:
    // What no production of the model is equal to: stands for leaves and for what the model has never seen.
    static constexpr Production kUnknown = kNone - 1;
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kMatches = 12;   // of a fragment in the index
    static constexpr std::size_t kOpen = 64;      // open children beyond which fragments are not followed
    static constexpr double kVisit = 6.0;         // what following costs, in comparisons with a listed subtree
    static constexpr std::size_t kEffort = 256;   // subtrees looked at while growing, per subtree of a production

    // Subtrees that begin with the same fragment: `width` numbers each, that of the member and the open children.
    struct Group {
        std::vector<std::uint32_t> numbers;
        std::vector<std::size_t> heights;  // per open child
        std::size_t width() const { return 1 + heights.size(); }
        std::size_t size() const { return numbers.size() / width(); }
    };

    void add(const std::vector<double>& table, std::size_t at, double value, double* out) const {
        const double* weight = table.data() + at * outputs_;
        for (std::size_t o = 0; o < outputs_; ++o) out[o] += value * weight[o];
    }

    Below below(Node node) const { return {arena_.production_of(node), list_[node]}; }

    // Numbers the members, those with the same production together, and lists what they have below.
    void list_children(std::vector<Node>& members) {
        std::sort(members.begin(), members.end(), [&](Node a, Node b) {
            const Production p = arena_.production_of(a), q = arena_.production_of(b);
            return p != q ? p < q : a < b;
        });
        list_.assign(arena_.size(), kNone);
        std::size_t size = 0;
        for (const Node node : members) {
            list_[node] = static_cast<std::uint32_t>(size);
            size += 1 + arena_.children(node).size();
        }
        if (size >= kNone) throw std::length_error("more than 4294967295 children in a model");
        below_.reserve(size);
        for (const Node node : members) {
            const auto kids = arena_.children(node);
            below_.push_back({static_cast<std::uint32_t>(kids.size()), 0});
            for (const Node child : kids) below_.push_back(below(child));
        }
    }

    void grow_all(const std::vector<Node>& members, const std::vector<double>& worth) {
        member_weight_.reserve(members.size() * outputs_);
        for (const Node node : members)
            for (std::size_t o = 0; o < outputs_; ++o) member_weight_.push_back(worth[node * outputs_ + o]);
        for (std::size_t begin = 0, end; begin < members.size(); begin = end) {
            const Production production = arena_.production_of(members[begin]);
            Group group;
            group.heights.assign(arena_.children(members[begin]).size(), height_ - 1);
            for (end = begin; end < members.size() && arena_.production_of(members[end]) == production; ++end) {
                group.numbers.push_back(static_cast<std::uint32_t>(end));
                const auto kids = arena_.children(members[end]);
                group.numbers.insert(group.numbers.end(), kids.begin(), kids.end());
            }
            effort_ = kEffort * (end - begin);
            Root& root = root_[production];
            root.entry = append(group);
            grow(root.entry, group, 0);
            place_edges(root);
        }
        list_ = {};
    }

    // Every production has a hash table of its own, which stays in cache while subtrees with that production are scored.
    void place_edges(Root& root) {
        root.slots = slots_.size();
        if (edges_.empty()) return;
        std::size_t size = 2;
        while (3 * size < 4 * edges_.size()) size *= 2;
        if (size - 1 >= kNone) throw std::length_error("more than 4294967295 fragments of one production");
        root.mask = static_cast<std::uint32_t>(size - 1);
        slots_.resize(root.slots + size, Edge{0, 0, 0, kNone, {}});
        for (const Edge& edge : edges_) {
            std::size_t at = hash(edge.parent, edge.slot, edge.production) & root.mask;
            while (slots_[root.slots + at].child != kNone) at = (at + 1) & root.mask;
            slots_[root.slots + at] = edge;
            slots_[root.slots + at].entry = nodes_[edge.child];
        }
        edges_.clear();
    }

    static std::size_t hash(std::uint32_t parent, std::uint32_t slot, Production production) {
        return static_cast<std::size_t>(detail::mix((std::uint64_t{parent} << 32) | slot, production));
    }

    // The edge to the fragment that another one goes on to, kNone if there is none. Only for one that is grown.
    const Edge& find(const Root& root, std::uint32_t parent, std::uint32_t slot, Production production) const {
        const Edge* slots = slots_.data() + root.slots;
        for (std::size_t at = hash(parent, slot, production) & root.mask;; at = (at + 1) & root.mask) {
            const Edge& edge = slots[at];
            if (edge.child == kNone || (edge.parent == parent && edge.slot == slot && edge.production == production))
                return edge;
        }
    }

    std::uint32_t append(const Group& group) {
        const auto number = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({});
        const std::size_t at = weight_.size(), width = group.width();
        weight_.resize(at + outputs_, 0.0);
        for (std::size_t i = 0; i < group.numbers.size(); i += width)
            for (std::size_t o = 0; o < outputs_; ++o) weight_[at + o] += member_weight_[group.numbers[i] * outputs_ + o];
        return number;
    }

    // Completes an entry and returns what going through it costs, for a subtree like those of the model.
    double grow(std::uint32_t number, const Group& group, std::size_t matches) {
        bool open = false;
        for (std::size_t i = 0; i < group.numbers.size() && !open; ++i)
            open = i % group.width() != 0 && !arena_.is_leaf(group.numbers[i]);
        if (!open) return kVisit;
        const double listed = static_cast<double>(group.size());
        if (listed > kVisit && matches < kMatches && group.heights.size() <= kOpen && effort_ > group.numbers.size()) {
            const std::size_t nodes = nodes_.size(), weights = weight_.size(), items = items_.size(), edges = edges_.size();
            const double cost = follow(number, group, matches, listed);
            if (cost < listed) {
                nodes_[number].grown = true;
                return cost;
            }
            nodes_.resize(nodes);
            weight_.resize(weights);
            items_.resize(items);
            edges_.resize(edges);
        }
        Entry& entry = nodes_[number];
        entry.items = items_.size();
        entry.count = static_cast<std::uint32_t>(group.size());
        for (std::size_t i = 0; i < group.numbers.size(); ++i)
            items_.push_back(i % group.width() == 0 ? Below{group.numbers[i], 0} : below(group.numbers[i]));
        return kVisit + listed;
    }

    // Lets a fragment go on, and returns what that costs a subtree drawn from the model.
    double follow(std::uint32_t number, const Group& group, std::size_t matches, double limit) {
        const std::size_t width = group.width(), size = group.size();
        double cost = kVisit;
        std::vector<std::pair<Production, std::uint32_t>> order;
        for (std::size_t k = 0; k + 1 < width && cost < limit; ++k) {
            order.clear();
            for (std::size_t i = 0; i < size; ++i) {
                const Node child = group.numbers[i * width + 1 + k];
                if (!arena_.is_leaf(child)) order.emplace_back(arena_.production_of(child), static_cast<std::uint32_t>(i));
            }
            std::sort(order.begin(), order.end());
            for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
                for (end = begin; end < order.size() && order[end].first == order[begin].first; ++end) {}
                Group next;
                const Node sample = group.numbers[order[begin].second * width + 1 + k];
                const std::size_t kids = group.heights[k] > 1 ? arena_.children(sample).size() : 0;
                next.heights.assign(kids, group.heights[k] - 1);
                next.heights.insert(next.heights.end(), group.heights.begin() + static_cast<std::ptrdiff_t>(k + 1),
                                    group.heights.end());
                next.numbers.reserve((end - begin) * next.width());
                for (std::size_t i = begin; i < end; ++i) {
                    const std::uint32_t* item = group.numbers.data() + order[i].second * width;
                    next.numbers.push_back(item[0]);
                    if (kids > 0) {
                        const auto below = arena_.children(item[1 + k]);
                        next.numbers.insert(next.numbers.end(), below.begin(), below.end());
                    }
                    next.numbers.insert(next.numbers.end(), item + 2 + k, item + width);
                }
                effort_ -= std::min(effort_, next.numbers.size());
                const std::uint32_t child = append(next);
                edges_.push_back({number, static_cast<std::uint32_t>(k), order[begin].first, child, {}});
                cost += grow(child, next, matches + 1) * static_cast<double>(end - begin) / limit;
            }
        }
        return cost;
    }

    const Arena& arena_;
    std::size_t outputs_;
    double decay_;
    std::size_t height_;
    std::vector<Root> root_;    // per production
    std::vector<double> bare_;  // per production x outputs: the sum of weights
    std::vector<double> leaf_;  // per label x outputs: the sum of weights of leaves, where these count
    std::vector<Entry> nodes_;
    std::vector<double> weight_;         // per fragment x outputs: the sum of weights
    std::vector<double> member_weight_;  // per member x outputs
    std::vector<Below> items_;
    std::vector<Below> below_;         // the lists of children of all members
    std::vector<std::uint32_t> list_;  // per subtree of the arena, while the index is made: where its list begins
    std::vector<Edge> slots_;  // the hash tables of all productions
    std::vector<Edge> edges_;  // of the production that is being grown
    std::size_t effort_ = 0;
};

}  // namespace sapwood
