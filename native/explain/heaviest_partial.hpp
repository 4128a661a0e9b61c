// The heaviest fragments of a partial-tree model, of one of its decisions, or of the kernel of two trees; with words
// that need only be similar, too.
//
// Fragments grow by one node at a time, always at the right edge, so that each is reached in one way. Since they may
// leave out children, a fragment can fit a node in many ways; what matters for growing is only where its right edge
// lies, so fits that agree there are added up. The search is best first, as in explain/heaviest.hpp.
//
// Its bound: per fit, the most that one fragment can gain by growing there. Children with different labels never stand
// for the same child of a fragment, so this is a maximum over labels of sums over children.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "explain/best_first.hpp"
#include "explain/growth.hpp"
#include "explain/heaviest.hpp"
#include "kernels/model.hpp"
#include "kernels/partial.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// What the nodes of one side are called. Fragments are written in *keys*; a node has a key of its own, which may stand
// for several keys of fragments, each with a factor: a label for itself, a word for all words that are like it.
class PartialKeys {
  public:
    struct Match {
        std::uint32_t key;
        double factor;
    };

    // Every key stands for itself. own: per node, kNone for nodes that are in no fragment.
    PartialKeys(std::vector<std::uint32_t> own, std::size_t count)
        : own_(std::move(own)), begin_(count + 1), match_(count) {
        std::iota(begin_.begin(), begin_.end(), std::size_t{0});
        for (std::uint32_t key = 0; key < count; ++key) match_[key] = {key, 1.0};
    }
    // group: per own key; own keys of different groups never stand for the same key. lists: per own key.
    PartialKeys(std::vector<std::uint32_t> own, std::vector<std::uint32_t> group,
                const std::vector<std::vector<Match>>& lists, std::size_t keys)
        : own_(std::move(own)), group_(std::move(group)), begin_{0}, back_begin_(keys + 1, 0) {
        for (const auto& list : lists) {
            match_.insert(match_.end(), list.begin(), list.end());
            begin_.push_back(match_.size());
            for (const Match& match : list) {
                ++back_begin_[match.key + 1];
                negative_ |= match.factor < 0.0;
            }
        }
        std::partial_sum(back_begin_.begin(), back_begin_.end(), back_begin_.begin());
        back_.resize(match_.size());
        std::vector<std::size_t> next(back_begin_.begin(), back_begin_.end() - 1);
        for (std::uint32_t own_key = 0; own_key < lists.size(); ++own_key)
            for (const Match& match : lists[own_key]) back_[next[match.key]++] = {own_key, match.factor};
    }

    std::size_t count() const { return begin_.size() - 1; }
    std::uint32_t own(Node node) const { return own_[node]; }
    std::uint32_t group(std::uint32_t own) const { return group_.empty() ? own : group_[own]; }
    bool negative() const { return negative_; }
    std::span<const Match> matches(std::uint32_t own) const {
        return std::span(match_).subspan(begin_[own], begin_[own + 1] - begin_[own]);
    }
    // The own keys that stand for a key of fragments.
    std::span<const Match> standing_for(const std::uint32_t& key) const {
        if (back_begin_.empty()) return std::span(match_).subspan(key, 1);
        return std::span(back_).subspan(back_begin_[key], back_begin_[key + 1] - back_begin_[key]);
    }
    // The factor of an own key for a key of fragments, 0 if it does not stand for it.
    double factor(std::uint32_t own, std::uint32_t key) const {
        const auto found = matches(own);
        const auto at = std::lower_bound(found.begin(), found.end(), key,
                                         [](const Match& m, std::uint32_t k) { return m.key < k; });
        return at == found.end() || at->key != key ? 0.0 : at->factor;
    }

  private:
    std::vector<std::uint32_t> own_, group_;
    std::vector<std::size_t> begin_, back_begin_;
    std::vector<Match> match_, back_;  // by ascending key
    bool negative_ = false;
};

// One side of the search: its nodes by key, what they weigh, and how much fragments can gain below and beside them.
class PartialSide {
  public:
    PartialSide(const Arena& arena, PartialKeys keys, std::vector<double> weight, const PartialOptions& options)
        : arena(arena),
          keys(std::move(keys)),
          weight(std::move(weight)),
          begin_(arena.size() + 1, 0),
          below_(arena.size(), 0.0),
          ends_(this->keys.count(), 0) {
        std::vector<double> factor(this->keys.count(), 0.0);
        std::uint32_t groups = 0;
        for (std::uint32_t own = 0; own < factor.size(); ++own) {
            for (const PartialKeys::Match& match : this->keys.matches(own))
                factor[own] = std::max(factor[own], std::abs(match.factor));
            groups = std::max(groups, this->keys.group(own) + 1);
        }
        bound_growth(options, factor, groups);
        for (Node node = 0; node < arena.size(); ++node)
            if (starts(node)) ++ends_[this->keys.own(node)];
        std::size_t total = 0;
        for (std::size_t& end : ends_) {
            const std::size_t length = end;
            end = total;
            total += length;
        }
        nodes_.resize(total);
        for (Node node = 0; node < arena.size(); ++node)
            if (starts(node)) nodes_[ends_[this->keys.own(node)]++] = node;
    }

    const Arena& arena;
    PartialKeys keys;
    std::vector<double> weight;

    // The nodes with this own key that weigh something.
    std::span<const Node> of(std::uint32_t own) const {
        const std::size_t begin = own == 0 ? 0 : ends_[own - 1];
        return std::span(nodes_).subspan(begin, ends_[own] - begin);
    }
    std::span<const Node> starting() const { return nodes_; }
    // The most that one sequence of further children to the right of child j can multiply a value by; may be below 1.
    double beside(Node node, std::size_t j) const { return beside_[begin_[node] + j]; }
    // The most that one sequence of children can be worth.
    double below(Node node) const { return below_[node]; }

  private:
    bool starts(Node node) const { return weight[node] != 0.0 && keys.own(node) != kNone; }

    void bound_growth(const PartialOptions& options, const std::vector<double>& factor, std::uint32_t groups) {
        const double root = std::sqrt(options.depth_decay);
        // Per group the sum over the children so far, with the number of the child at which it was brought up to date.
        std::vector<double> sum(groups, 0.0), power{1.0};
        std::vector<std::size_t> at(groups, 0);
        for (Node node = 0; node < arena.size(); ++node) {
            const auto kids = arena.children(node);
            begin_[node + 1] = begin_[node] + kids.size();
            beside_.resize(begin_[node + 1]);
            while (power.size() <= kids.size()) power.push_back(power.back() * options.decay);
            double right = 0.0;  // the largest sum of a group
            for (std::size_t j = kids.size(); j-- > 0;) {
                double& beside = beside_[begin_[node] + j];
                beside = right;
                right *= options.decay;
                const std::uint32_t own = keys.own(kids[j]);
                if (own == kNone || factor[own] == 0.0) continue;
                const double best =
                    factor[own] * root * std::max(options.decay, below_[kids[j]]) * std::max(1.0, beside);
                const std::uint32_t group = keys.group(own);
                sum[group] =
                    std::min(kLargestGrowth, (sum[group] == 0.0 ? 0.0 : sum[group] * power[at[group] - j]) + best);
                at[group] = j;
                right = std::max(right, sum[group]);
            }
            // The first child of a sequence has no gap before it, so this sum takes them all at full value.
            for (const Node child : kids)
                if (keys.own(child) != kNone) sum[keys.group(keys.own(child))] = 0.0;
            for (std::size_t j = 0; j < kids.size(); ++j) {
                const std::uint32_t own = keys.own(kids[j]);
                if (own == kNone || factor[own] == 0.0) continue;
                double& total = sum[keys.group(own)];
                total += factor[own] * root * std::max(options.decay, below_[kids[j]]) *
                         std::max(1.0, beside_[begin_[node] + j]);
                below_[node] = std::min(kLargestGrowth, std::max(below_[node], total));
            }
            for (const Node child : kids)
                if (keys.own(child) != kNone) sum[keys.group(keys.own(child))] = 0.0;
        }
    }

    std::vector<std::size_t> begin_;
    std::vector<double> beside_, below_;
    std::vector<std::size_t> ends_;
    std::vector<Node> nodes_;
};

class PartialSearch {
  public:
    // The first side is the model. The second is the element whose score is explained; with `single` it only says which
    // fragments there are, and each counts once. With `pairs` a fragment of the element and a fragment of the model are
    // told apart, instead of adding up all that are like the former.
    struct Mode {
        bool single = false, pairs = false;
    };

    PartialSearch(std::vector<PartialSide> sides, const PartialOptions& options, Mode mode, std::size_t capacity,
                  std::size_t limit, const Control& control)
        : sides_(std::move(sides)),
          options_(options),
          mode_(mode),
          root_(std::sqrt(options.depth_decay)),
          limit_(limit),
          control_(control),
          best_(capacity),
          mine_(sides_.back().keys.count()),
          place_(mode.pairs ? 0 : sides_.back().keys.count(), kNone),
          negative_(sides_[0].keys.negative()) {}

    // name(key) and, with pairs, other_name(own key of the model) give the labels of what is found.
    template <class Name, class OtherName>
    Heaviest run(Name name, OtherName other_name) {
        start();
        exact_ = waiting_.run(
            limit_, work_, control_, [&] { return best_.threshold(); },
            [&](const auto& next) {
                expand(
                    std::make_shared<const Grown>(next.from ? grow(*next.from, next.at, next.step) : seed(next.step)));
            });
        return result(name, other_name);
    }

  private:
    // A fragment's node: its key, with pairs the own key of the other fragment's, and how deep on the right edge of the
    // fragment before it the parent was.
    struct Step {
        std::uint32_t before, depth, key, other;
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
    // What the element has for a key, and the model for a key or a pair of keys.
    struct Mine {
        double total = 0.0, most = 0.0;
        bool seen = false;
    };
    struct Theirs {
        std::uint32_t key, other;
        double total = 0.0, positive = 0.0, negative = 0.0;
    };
    struct Entry {
        std::uint32_t step;
    };

    bool two() const { return sides_.size() == 2; }

    void add_mine(std::uint32_t key, double weight, double value, double most) {
        Mine& mine = mine_[key];
        if (!mine.seen) {
            mine = {0.0, 0.0, true};
            touched_.push_back(key);
        }
        mine.total += weight * value;
        mine.most += weight * value * most;
    }

    void add_theirs(std::uint32_t own, double weight, double value, double most) {
        for (const PartialKeys::Match& match : sides_[0].keys.matches(own)) {
            if (two() && !mine_[match.key].seen) continue;
            Theirs& theirs = this->theirs(match.key, own);
            const double share = weight * value * match.factor;
            theirs.total += share;
            if (negative_) {
                theirs.positive += std::abs(share) * most;
                theirs.negative -= std::abs(share) * most;
            } else {
                (weight > 0 ? theirs.positive : theirs.negative) += share * most;
            }
        }
    }

    Theirs& theirs(std::uint32_t key, std::uint32_t own) {
        std::uint32_t& place =
            mode_.pairs ? pair_place_.try_emplace((std::uint64_t{key} << 32) | own, kNone).first->second : place_[key];
        if (place == kNone) {
            place = static_cast<std::uint32_t>(theirs_.size());
            theirs_.push_back({key, mode_.pairs ? own : kNone});
        }
        return theirs_[place];
    }

    void start() {
        const double bare = root_ * options_.decay;
        if (two())
            for (const Node node : sides_[1].starting())
                add_mine(sides_[1].keys.own(node), sides_[1].weight[node], bare,
                         sides_[1].below(node) / options_.decay);
        for (const Node node : sides_[0].starting())
            add_theirs(sides_[0].keys.own(node), sides_[0].weight[node], bare, sides_[0].below(node) / options_.decay);
        settle(nullptr, 0);
    }

    // Weighs what has been added up and lets those wait that may lead further.
    void settle(const std::shared_ptr<const Grown>& from, std::uint32_t depth) {
        for (const Theirs& theirs : theirs_) {
            if (!mode_.pairs) place_[theirs.key] = kNone;
            const bool counts = two() && !mode_.single;
            const double weight = theirs.total * (counts ? mine_[theirs.key].total : 1.0);
            // A fragment that only has to be there somewhere grows where some fit of it can.
            const double mine = !two()                         ? 1.0
                                : counts                       ? mine_[theirs.key].most
                                : mine_[theirs.key].most > 0.0 ? 1.0
                                                               : 0.0;
            const double bound = std::max(theirs.positive, -theirs.negative) * mine;
            if (!best_.takes(weight) && bound <= best_.threshold()) continue;
            const auto step = static_cast<std::uint32_t>(steps_.size());
            steps_.push_back({from ? from->step : kNone, depth, theirs.key, theirs.other});
            best_.add(weight, {step});
            if (bound > best_.threshold()) waiting_.push(bound, from, depth, step);
        }
        theirs_.clear();
        pair_place_.clear();
        for (const std::uint32_t key : touched_) mine_[key].seen = false;
        touched_.clear();
    }

    // Calls use(position, child, own key, value) for every way to put a node below depth `depth` of one row's edge.
    template <class Use>
    void extend(const PartialSide& side, const std::uint32_t* edge, std::size_t length, std::size_t depth, double value,
                Use use) {
        const Node parent = edge[2 * depth];
        const bool first = depth + 1 == length;
        const auto kids = side.arena.children(parent);
        // A node that gets its first child is no longer bare: its decay passes to the child.
        double factor = value * root_ * (first ? 1.0 : options_.decay);
        for (std::size_t j = first ? 0 : edge[2 * depth + 3] + 1; j < kids.size(); ++j) {
            if (const std::uint32_t own = side.keys.own(kids[j]); own != kNone) use(j, kids[j], own, factor);
            if (!first) factor *= options_.decay;
        }
        work_ += kids.size() + 1;
    }

    void expand(const std::shared_ptr<const Grown>& grown) {
        const std::size_t length = grown->children.size();
        for (std::size_t depth = 0; depth < length; ++depth) {
            if (options_.max_subsequence != 0 && grown->children[depth] >= options_.max_subsequence) continue;
            // The element first: what it does not have need not be added up.
            for (std::size_t s = sides_.size(); s-- > 0;) {
                const PartialSide& side = sides_[s];
                const Rows& rows = grown->rows[s];
                for (std::size_t i = 0; i < rows.values.size(); ++i) {
                    const std::uint32_t* edge = rows.edges.data() + i * 2 * length;
                    Growth above;
                    for (std::size_t k = 0; k < depth; ++k) above.at(side.beside(edge[2 * k], edge[2 * k + 3]));
                    extend(side, edge, length, depth, rows.values[i],
                           [&](std::size_t j, Node child, std::uint32_t own, double value) {
                               Growth growth = above;
                               growth.at(side.beside(edge[2 * depth], j));
                               growth.at(side.below(child) / options_.decay);
                               if (s == 1)
                                   add_mine(own, side.weight[edge[0]], value, growth.most());
                               else
                                   add_theirs(own, side.weight[edge[0]], value, growth.most());
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
        const double bare = root_ * options_.decay;
        const auto add = [&](std::size_t side, std::uint32_t own, double value) {
            for (const Node node : sides_[side].of(own)) {
                // What cannot grow is left out.
                if (sides_[side].below(node) == 0.0) continue;
                grown.rows[side].edges.insert(grown.rows[side].edges.end(), {node, 0});
                grown.rows[side].values.push_back(value);
            }
        };
        for (const PartialKeys::Match& match : sides_[0].keys.standing_for(steps_[step].key))
            if (!mode_.pairs || match.key == steps_[step].other) add(0, match.key, bare * match.factor);
        if (two()) add(1, steps_[step].key, bare);
        return grown;
    }

    Grown grow(const Grown& from, std::size_t depth, std::uint32_t step) {
        Grown grown;
        grown.step = step;
        grown.children.assign(from.children.begin(), from.children.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        ++grown.children[depth];
        grown.children.push_back(0);
        const std::size_t length = from.children.size(), width = 2 * (depth + 2);
        const std::uint32_t key = steps_[step].key, other = steps_[step].other;
        for (std::size_t s = 0; s < sides_.size(); ++s) {
            const Rows& rows = from.rows[s];
            Rows loose;
            for (std::size_t i = 0; i < rows.values.size(); ++i) {
                const std::uint32_t* edge = rows.edges.data() + i * 2 * length;
                extend(sides_[s], edge, length, depth, rows.values[i],
                       [&](std::size_t j, Node child, std::uint32_t own, double value) {
                           if (s == 1 ? own != key : mode_.pairs && own != other) return;
                           const double factor = s == 1 ? 1.0 : sides_[0].keys.factor(own, key);
                           if (factor == 0.0) return;
                           loose.edges.insert(loose.edges.end(), edge, edge + 2 * depth + 2);
                           loose.edges.insert(loose.edges.end(), {child, static_cast<std::uint32_t>(j)});
                           loose.values.push_back(value * factor);
                       });
            }
            // Below the end of the edge nothing is cut off, so no two rows can have become the same.
            if (depth + 1 == length) {
                grown.rows[s] = std::move(loose);
                continue;
            }
            // Sorting costs about this much more than looking at a child.
            work_ += 16 * loose.values.size();
            merge(loose, width, grown.rows[s]);
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

    // label(step) gives the label of a fragment's node.
    template <class Label>
    Node write(std::uint32_t last, Arena& out, Label label) const {
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
            built[i] = out.node(out.symbols.intern(label(steps_[chain[i]])), kids);
        }
        return built[0];
    }

    template <class Name, class OtherName>
    Heaviest result(Name name, OtherName other_name) {
        Heaviest found;
        for (const auto& kept : best_.sorted()) {
            found.roots.push_back(
                write(kept.entry.step, found.arena, [&](const Step& step) { return name(step.key); }));
            if (mode_.pairs)
                found.others.push_back(
                    write(kept.entry.step, found.arena, [&](const Step& step) { return other_name(step.other); }));
            found.weights.push_back(kept.weight);
            // A fragment fits in many ways with different values, so there is no plain count.
            if (two() && !mode_.single) found.counts.push_back(std::numeric_limits<double>::quiet_NaN());
        }
        found.exact = exact_;
        return found;
    }

    std::vector<PartialSide> sides_;
    PartialOptions options_;
    Mode mode_;
    double root_;
    std::size_t limit_;
    const Control& control_;
    Best<Entry> best_;
    std::vector<Mine> mine_;  // per key, between two uses of touched_
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> place_;  // per key: in theirs_
    std::unordered_map<std::uint64_t, std::uint32_t> pair_place_;
    std::vector<Theirs> theirs_;
    bool negative_;
    std::vector<Step> steps_;
    BestFirst<Grown> waiting_;
    std::size_t work_ = 0;
    bool exact_ = true;
};

// What each distinct subtree weighs in a combination of the model's outputs.
inline std::vector<double> weights_of_nodes(const Model<PartialColumns>& model, std::span<const double> combination) {
    const Arena& own = model.arena();
    const std::vector<double> feature = combine(model.feature_weights(), combination);
    const std::vector<double> active = combine(model.active_weights(), combination);
    const auto& position = model.columns().positions_of_nodes();
    std::vector<double> weight(own.size(), 0.0);
    for (Node node = 0; node < own.size(); ++node) {
        if (own.is_leaf(node))
            weight[node] = feature[own.symbols.size() + own.label(node)];
        else if (position[node] != kNone)
            weight[node] = active[position[node]];
    }
    return weight;
}

// The terminal factor must be 1: any other makes a leaf weigh differently by what it meets; see
// explain/heaviest_similar.hpp.
inline Heaviest heaviest(const Model<PartialColumns>& model, std::span<const double> combination, const Arena* arena,
                         const Bags* element, std::size_t capacity, std::size_t limit, const Control& control) {
    const Arena& own = model.arena();
    const std::size_t symbols = own.symbols.size();
    const PartialOptions& options = model.columns().options();
    const auto name = [&](std::uint32_t key) { return own.symbols.text(key); };
    const auto keys = [&](const Arena& side, std::span<const Symbol> labels, const std::vector<bool>& held) {
        std::vector<std::uint32_t> result(labels.begin(), labels.end());
        for (Node node = 0; node < result.size(); ++node)
            if (result[node] != kNone &&
                ((!options.leaves && side.is_leaf(node)) || (!held.empty() && !held[result[node]])))
                result[node] = kNone;
        return PartialKeys(std::move(result), symbols);
    };
    std::vector<PartialSide> sides;
    if (!element) {
        sides.emplace_back(own, keys(own, own.labels(), {}), weights_of_nodes(model, combination), options);
        return PartialSearch(std::move(sides), options, {}, capacity, limit, control).run(name, name);
    }
    const ArenaMap map(*arena, own, *element);
    std::vector<double> count(arena->size(), 0.0);
    std::vector<bool> held(symbols, false);
    const auto numbers = element->numbers_of(0);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        count[numbers[k]] = element->counts_of(0)[k];
        if (map.labels[numbers[k]] != kNone) held[map.labels[numbers[k]]] = true;
    }
    sides.emplace_back(own, keys(own, own.labels(), held), weights_of_nodes(model, combination), options);
    sides.emplace_back(*arena, keys(*arena, map.labels, held), std::move(count), options);
    return PartialSearch(std::move(sides), options, {}, capacity, limit, control).run(name, name);
}

}  // namespace sapwood
