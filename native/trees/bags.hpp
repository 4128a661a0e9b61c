// An element of an array (a tree, or a bag of trees) as the multiset of its distinct subtrees.
//
// All tree kernels here are sums over pairs of subtrees, so this is all they need to know of an element.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "trees/arena.hpp"

namespace sapwood {

// Per element a list of (number, count): subtrees, children before their parents, or other features.
struct Bags {
    std::vector<std::size_t> ends;
    std::vector<std::uint32_t> numbers;
    std::vector<double> counts;

    std::size_t size() const { return ends.size(); }
    std::size_t begin(std::size_t element) const { return element == 0 ? 0 : ends[element - 1]; }
    std::span<const std::uint32_t> numbers_of(std::size_t element) const {
        return {numbers.data() + begin(element), ends[element] - begin(element)};
    }
    std::span<const double> counts_of(std::size_t element) const {
        return {counts.data() + begin(element), ends[element] - begin(element)};
    }
    std::size_t bytes() const { return numbers.size() * 12 + ends.size() * 8; }
};

// Counts the occurrences of every distinct subtree of an element. Children come before their parents in a bag.
class BagBuilder {
  public:
    explicit BagBuilder(const Arena& arena) : arena_(arena), seen_(arena.size(), 0) {}

    void add(std::span<const Node> roots, Bags& bags) {
        if (walk(roots)) {
            // Every child is met again after the last time its parent is met, so from behind children come first.
            for (auto at = met_.rbegin(); at != met_.rend(); ++at) {
                if (seen_[*at] == 0) continue;
                bags.numbers.push_back(*at);
                bags.counts.push_back(seen_[*at]);
                seen_[*at] = 0;
            }
        } else {
            count_distinct(roots, bags);
        }
        bags.ends.push_back(bags.numbers.size());
    }

  private:
    // Goes through all nodes of the trees. False, with nothing counted, where sharing makes them too many: a few
    // distinct subtrees may stand for exponentially many nodes.
    bool walk(std::span<const Node> roots) {
        met_.clear();
        stack_.assign(roots.begin(), roots.end());
        std::size_t distinct = 0;
        while (!stack_.empty()) {
            const Node node = stack_.back();
            stack_.pop_back();
            distinct += seen_[node] == 0;
            ++seen_[node];
            met_.push_back(node);
            if (met_.size() > 4096 && (met_.size() > kRepeats * distinct || met_.size() >= kNone)) {
                for (const Node seen : met_) seen_[seen] = 0;
                return false;
            }
            const auto kids = arena_.children(node);
            stack_.insert(stack_.end(), kids.begin(), kids.end());
        }
        return true;
    }

    // The same by one pass over the distinct subtrees.
    void count_distinct(std::span<const Node> roots, Bags& bags) {
        const std::vector<Node> nodes = reachable(arena_, roots);
        if (count_.empty()) count_.assign(arena_.size(), 0.0);
        for (const Node root : roots) count_[root] += 1.0;
        // Parents have larger numbers than their children.
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at)
            for (const Node child : arena_.children(*at)) count_[child] += count_[*at];
        for (const Node node : nodes) {
            bags.numbers.push_back(node);
            bags.counts.push_back(std::exchange(count_[node], 0.0));
        }
    }

    static constexpr std::size_t kRepeats = 16;

    const Arena& arena_;
    std::vector<std::uint32_t> seen_;  // per subtree, during a walk: how often
    std::vector<double> count_;        // the same where it may be too often to walk
    std::vector<Node> stack_, met_;    // met_: in the order of the walk, with repetitions
};

// The bags of the elements first .. last-1, with room for those up to `room`. `ends` says where the roots of each
// element end; with `one_each` every root is an element.
inline Bags make_bags(const Arena& arena, std::span<const Node> roots, std::span<const std::uint64_t> ends,
                      bool one_each, std::size_t first, std::size_t last, std::size_t room) {
    const auto end_of = [&](std::size_t element) { return one_each ? element + 1 : ends[element]; };
    const auto begin_of = [&](std::size_t element) { return element == 0 ? 0 : end_of(element - 1); };
    Bags bags;
    if (first == last) return bags;
    // A parse tree has some seventy distinct subtrees; growing by doubling would need twice the memory for a while.
    const std::size_t trees = end_of(room - 1) - begin_of(first);
    const std::size_t expected = std::min(trees * 96, arena.size() * trees);
    bags.numbers.reserve(expected);
    bags.counts.reserve(expected);
    bags.ends.reserve(room - first);
    BagBuilder builder(arena);
    for (std::size_t i = first; i < last; ++i) builder.add(roots.subspan(begin_of(i), end_of(i) - begin_of(i)), bags);
    return bags;
}

// The bags of all elements, by several threads where that pays.
inline Bags make_bags(const Arena& arena, std::span<const Node> roots, std::span<const std::uint64_t> ends,
                      bool one_each, std::size_t threads = 1) {
    const std::size_t size = one_each ? roots.size() : ends.size();
    const std::size_t parts = std::min(threads, size / 256);
    if (parts <= 1) return make_bags(arena, roots, ends, one_each, 0, size, size);
    std::vector<Bags> made(parts);
    Control control;
    parallel_blocks(parts, 1, parts, control, [&] {
        return [&](std::size_t part, std::size_t) {
            const std::size_t first = size * part / parts, last = size * (part + 1) / parts;
            // The others are put behind the first one.
            made[part] = make_bags(arena, roots, ends, one_each, first, last, part == 0 ? size : last);
        };
    });
    Bags bags = std::move(made[0]);
    for (std::size_t part = 1; part < parts; ++part) {
        const std::size_t before = bags.numbers.size();
        bags.numbers.insert(bags.numbers.end(), made[part].numbers.begin(), made[part].numbers.end());
        bags.counts.insert(bags.counts.end(), made[part].counts.begin(), made[part].counts.end());
        for (const std::size_t end : made[part].ends) bags.ends.push_back(before + end);
        made[part] = {};
    }
    return bags;
}

// Maps the numbers of one bag after the other through a function and merges what falls together.
class FeatureCounts {
  public:
    explicit FeatureCounts(std::size_t features) : place_(features, 0) {}

    // feature(number) is below `features`, or kNone: left out.
    template <class Feature>
    void count(std::span<const std::uint32_t> numbers, std::span<const double> counts, Feature feature) {
        features_.clear();
        counts_.clear();
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const std::uint32_t mapped = feature(numbers[k]);
            if (mapped == kNone) continue;
            // What an earlier bag has left behind points elsewhere or outside.
            const std::uint32_t at = place_[mapped];
            if (at < features_.size() && features_[at] == mapped) {
                counts_[at] += counts[k];
                continue;
            }
            place_[mapped] = static_cast<std::uint32_t>(features_.size());
            features_.push_back(mapped);
            counts_.push_back(counts[k]);
        }
    }

    // In order of their first appearance, not ascending.
    std::span<const std::uint32_t> features() const { return features_; }
    std::span<const double> counts() const { return counts_; }

  private:
    std::vector<std::uint32_t> place_, features_;
    std::vector<double> counts_;
};

// The bags of features, for all elements.
template <class Feature>
Bags map_bags(const Bags& bags, std::size_t features, Feature feature) {
    Bags result;
    result.ends.reserve(bags.size());
    result.numbers.reserve(bags.numbers.size());
    result.counts.reserve(bags.numbers.size());
    FeatureCounts found(features);
    for (std::size_t i = 0; i < bags.size(); ++i) {
        found.count(bags.numbers_of(i), bags.counts_of(i), feature);
        result.numbers.insert(result.numbers.end(), found.features().begin(), found.features().end());
        result.counts.insert(result.counts.end(), found.counts().begin(), found.counts().end());
        result.ends.push_back(result.numbers.size());
    }
    return result;
}

}  // namespace sapwood
