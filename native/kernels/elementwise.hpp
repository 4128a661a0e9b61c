// Kernel values of pairs that are given: element i of the first half of some bags with element i of the second half.
//
// A Gram matrix compares everything with everything and pays for its preparations by the many values it gives. Here two
// elements meet once, so their nodes are matched directly: nodes that may share something are put in groups, every pair
// within a group has a place in a table, and the table is filled from the bottom up. What is too large for that goes
// through a Gram matrix of one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/gram.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/partial.hpp"
#include "kernels/semantic.hpp"
#include "kernels/subset.hpp"
#include "kernels/subtree.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// One element: its distinct subtrees, children before their parents, and how often each occurs.
struct Element {
    std::span<const Node> nodes;
    std::span<const double> counts;
};

inline Element element_of(const Bags& bags, std::size_t number) {
    return {bags.numbers_of(number), bags.counts_of(number)};
}

// The pairs of nodes of two elements that are in the same group, and a value for each of them.
class NodePairs {
  public:
    explicit NodePairs(const Arena& arena) : arena_(arena), left_(arena.size()), right_(arena.size()) {}

    // Calls delta(a, b) for every pair of nodes in the same group, pairs of children before those of their parents,
    // keeps what it returns, and adds it up, each times how often the pair occurs. group(node) may be kNone: the node
    // is left out. False, and nothing is done, if that is more than a moment's work.
    template <class Group, class Delta>
    bool sum(Element a, Element b, Group group, Delta delta, double& value) {
        return sum(a, b, group, delta, [&](Node, double amount) { value += amount; });
    }

    // The same with add(node, amount) for each node of the first element.
    template <class Group, class Delta, class Add>
        requires std::is_invocable_v<Add, Node, double>
    bool sum(Element a, Element b, Group group, Delta delta, Add add) {
        list(a.nodes, group, first_);
        list(b.nodes, group, second_);
        const bool small = join();
        if (small) {
            if (table_.size() < pairs_) table_.resize(pairs_);
            std::sort(rows_.begin(), rows_.end());
            for (const auto& [index, match] : rows_) {
                const Node node = a.nodes[index];
                double* row = table_.data() + left_[node].row;
                double total = 0.0;
                for (std::uint32_t rank = 0; rank < matches_[match].size; ++rank) {
                    const std::uint32_t other = second_[matches_[match].begin + rank].index;
                    row[rank] = delta(node, b.nodes[other]);
                    total += b.counts[other] * row[rank];
                }
                add(node, a.counts[index] * total);
            }
        }
        for (const auto& [index, match] : rows_) left_[a.nodes[index]].match = kNone;
        for (const Match& match : matches_)
            for (std::uint32_t rank = 0; rank < match.size; ++rank)
                right_[b.nodes[second_[match.begin + rank].index]].match = kNone;
        return small;
    }

    // What delta returned for a pair that comes earlier; 0 for nodes of different groups.
    double value(Node a, Node b) const {
        const Left& left = left_[a];
        const Right& right = right_[b];
        return left.match == kNone || left.match != right.match ? 0.0 : table_[left.row + right.rank];
    }

  private:
    static constexpr double kMostWork = 1 << 22;

    struct Item {
        std::uint32_t group, index;
        auto operator<=>(const Item&) const = default;
    };
    struct Left {
        std::uint32_t match = kNone;
        std::size_t row = 0;
    };
    struct Right {
        std::uint32_t match = kNone, rank = 0;
    };
    struct Match {  // a group that both elements have: where its nodes of the second element are
        std::uint32_t begin, size;
    };

    template <class Group>
    void list(std::span<const Node> nodes, Group group, std::vector<Item>& items) {
        items.clear();
        for (std::uint32_t k = 0; k < nodes.size(); ++k)
            if (const std::uint32_t number = group(nodes[k]); number != kNone) items.push_back({number, k});
        std::sort(items.begin(), items.end());
        nodes_[&items == &second_] = nodes;
    }

    bool join() {
        rows_.clear();
        matches_.clear();
        pairs_ = 0;
        double work = 0.0;
        for (std::size_t i = 0, j = 0; i < first_.size() && j < second_.size();) {
            const std::uint32_t group = first_[i].group;
            if (group != second_[j].group) {
                ++(group < second_[j].group ? i : j);
                continue;
            }
            const auto number = static_cast<std::uint32_t>(matches_.size());
            const std::size_t begin = j;
            double ours = 0.0, theirs = 0.0;
            for (; j < second_.size() && second_[j].group == group; ++j) {
                right_[nodes_[1][second_[j].index]] = {number, static_cast<std::uint32_t>(j - begin)};
                theirs += extent(nodes_[1][second_[j].index]);
            }
            const std::size_t size = j - begin;
            matches_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size)});
            for (; i < first_.size() && first_[i].group == group; ++i) {
                left_[nodes_[0][first_[i].index]] = {number, pairs_};
                pairs_ += size;
                rows_.push_back({first_[i].index, number});
                ours += extent(nodes_[0][first_[i].index]);
            }
            if ((work += ours * theirs) > kMostWork) return false;
        }
        return true;
    }

    double extent(Node node) const { return 1.0 + static_cast<double>(arena_.children(node).size()); }

    const Arena& arena_;
    std::vector<Left> left_;  // per subtree of the arena
    std::vector<Right> right_;
    std::vector<Item> first_, second_;
    std::vector<Match> matches_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_;  // nodes of the first element with their match
    std::span<const Node> nodes_[2];
    std::size_t pairs_ = 0;
    std::vector<double> table_;
};

// The subtrees that two elements share.
class SharedNodes {
  public:
    explicit SharedNodes(const Arena& arena) : count_(arena.size(), 0.0) {}

    // Calls both(node, count in a, count in b) for each of them.
    template <class Both>
    void for_each(Element a, Element b, Both both) {
        for (std::size_t k = 0; k < b.nodes.size(); ++k) count_[b.nodes[k]] = b.counts[k];
        for (std::size_t k = 0; k < a.nodes.size(); ++k)
            if (count_[a.nodes[k]] != 0.0) both(a.nodes[k], a.counts[k], count_[a.nodes[k]]);
        for (const Node node : b.nodes) count_[node] = 0.0;
    }

  private:
    std::vector<double> count_;  // per subtree of the arena: in the second element
};

class SubtreePairs {
  public:
    SubtreePairs(const Arena& arena, double decay) : arena_(arena), columns_(arena, {}, decay), shared_(arena) {}

    bool operator()(Element a, Element b, double& value) {
        value = 0.0;
        return by_node(a, b, [&](Node, double amount) { value += amount; });
    }

    // What each node of the first element adds: add(node, amount). False if nothing could be done.
    template <class Add>
    bool by_node(Element a, Element b, Add add) {
        shared_.for_each(a, b, [&](Node node, double ours, double theirs) {
            if (!arena_.is_leaf(node)) add(node, columns_.weights()[node] * ours * theirs);
        });
        return true;
    }

  private:
    const Arena& arena_;
    SubtreeColumns columns_;
    SharedNodes shared_;
};

class SubsetPairs {
  public:
    SubsetPairs(const Arena& arena, const SubsetOptions& options)
        : arena_(arena), options_(options), pairs_(arena), shared_(arena) {}

    bool operator()(Element a, Element b, double& value) {
        value = 0.0;
        return by_node(a, b, [&](Node, double amount) { value += amount; });
    }

    // What each node of the first element adds: add(node, amount). False if nothing could be done.
    template <class Add>
    bool by_node(Element a, Element b, Add add) {
        if (options_.height_limit != 0) return false;
        const auto group = [&](Node node) { return arena_.is_leaf(node) ? kNone : arena_.production_of(node); };
        const auto delta = [&](Node x, Node y) {
            const auto left = arena_.children(x), right = arena_.children(y);
            double product = options_.decay;
            // Leaves are in no group, so they add nothing.
            for (std::size_t k = 0; k < left.size(); ++k) product *= 1.0 + pairs_.value(left[k], right[k]);
            return product;
        };
        if (!pairs_.sum(a, b, group, delta, add)) return false;
        if (options_.bag_of_words)
            shared_.for_each(a, b, [&](Node node, double ours, double theirs) {
                if (arena_.is_leaf(node)) add(node, options_.decay * ours * theirs);
            });
        return true;
    }

  private:
    const Arena& arena_;
    SubsetOptions options_;
    NodePairs pairs_;
    SharedNodes shared_;
};

class PartialPairs {
  public:
    PartialPairs(const Arena& arena, const PartialOptions& options)
        : arena_(arena), options_(options), pairs_(arena), bare_(options.depth_decay * options.decay * options.decay) {}

    bool operator()(Element a, Element b, double& value) {
        value = 0.0;
        return by_node(a, b, [&](Node, double amount) { value += amount; });
    }

    // What each node of the first element adds: add(node, amount). False if nothing could be done.
    template <class Add>
    bool by_node(Element a, Element b, Add add) {
        return pairs_.sum(
            a, b, [&](Node node) { return arena_.label(node); }, [&](Node x, Node y) { return delta(x, y); }, add);
    }

  private:
    double delta(Node x, Node y) {
        const bool left = arena_.is_leaf(x), right = arena_.is_leaf(y);
        if (left || right) {
            if (!options_.leaves) return 0.0;
            return left && right ? bare_ * options_.terminal_factor : bare_;
        }
        return bare_ + options_.depth_decay * sequences(arena_.children(x), arena_.children(y));
    }

    // The sum over equally long sequences of children. Longest first grows by one pair of children per round; without a
    // limit a single round does, in which a sequence may begin anywhere.
    double sequences(std::span<const Node> left, std::span<const Node> right) {
        const std::size_t n = left.size(), m = right.size(), width = m + 1;
        cell_.resize(n * m);
        bool any = false;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j) any |= (cell_[i * m + j] = pairs_.value(left[i], right[j])) != 0.0;
        if (!any) return 0.0;
        // before(i, j): what sequences that end before i and j weigh, with the gaps after them.
        before_.assign((n + 1) * width, 0.0);
        const bool unlimited = options_.max_subsequence == 0;
        const std::size_t rounds = unlimited ? 1 : std::min({options_.max_subsequence, n, m});
        double total = 0.0;
        for (std::size_t round = 0; round < rounds; ++round) {
            if (!unlimited) next_.assign((n + 1) * width, 0.0);
            std::vector<double>& after = unlimited ? before_ : next_;
            double found = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                double along = 0.0;  // of this row, with the gaps after it
                for (std::size_t j = 0; j < m; ++j) {
                    const double start = unlimited    ? 1.0 + before_[i * width + j]
                                         : round == 0 ? 1.0
                                                      : before_[i * width + j];
                    const double ends = cell_[i * m + j] * start;
                    found += ends;
                    along = ends + options_.decay * along;
                    after[(i + 1) * width + j + 1] = along + options_.decay * after[i * width + j + 1];
                }
            }
            total += found;
            if (!unlimited) before_.swap(next_);
        }
        return total;
    }

    const Arena& arena_;
    PartialOptions options_;
    NodePairs pairs_;
    double bare_;
    std::vector<double> cell_, before_, next_;
};

class SemanticPairs {
  public:
    SemanticPairs(const Arena& arena, const Vocabulary& vocabulary, const WordFeatures& left, const WordFeatures& right,
                  const SemanticOptions& options)
        : arena_(arena), vocabulary_(vocabulary), left_(left), right_(right), options_(options), pairs_(arena) {
        if (left.vectors.width() != right.vectors.width()) throw std::invalid_argument("vectors of different widths");
        std::uint32_t width = 0;
        for (std::uint32_t word = 0; word < left.size(); ++word)
            for (const auto& features : {left.features(word), right.features(word)})
                for (const std::uint32_t feature : features) width = std::max(width, feature + 1);
        spread_.assign(width, 0.0);
    }

    bool operator()(Element a, Element b, double& value) {
        value = 0.0;
        const auto tags = static_cast<std::uint32_t>(arena_.production_count());
        const auto group = [&](Node node) -> std::uint32_t {
            if (arena_.is_leaf(node)) return kNone;
            return word(node) == kNone ? arena_.production_of(node) : tags + arena_.label(node);
        };
        const auto delta = [&](Node x, Node y) {
            if (const std::uint32_t own = word(x); own != kNone)
                return options_.decay * options_.leaf_weight * similarity(own, word(y));
            const auto left = arena_.children(x), right = arena_.children(y);
            double product = options_.decay;
            for (std::size_t k = 0; k < left.size(); ++k) product *= 1.0 + pairs_.value(left[k], right[k]);
            return product;
        };
        const bool small = pairs_.sum(a, b, group, delta, value);
        take_back();
        return small;
    }

  private:
    std::uint32_t word(Node node) const { return vocabulary_.word_under(arena_, node); }

    // A word meets all words of the other element in turn, so its features are spread out once.
    double similarity(std::uint32_t own, std::uint32_t other) {
        if (own != spread_word_) {
            take_back();
            const auto features = left_.features(own);
            const auto weights = left_.weights(own);
            for (std::size_t k = 0; k < features.size(); ++k) spread_[features[k]] += weights[k];
            spread_word_ = own;
        }
        const auto features = right_.features(other);
        const auto weights = right_.weights(other);
        double total = 0.0;
        for (std::size_t k = 0; k < features.size(); ++k) total += spread_[features[k]] * weights[k];
        if (!right_.vectors.empty()) total += sapwood::similarity(left_.vectors, own, right_.vectors, other);
        return total;
    }

    void take_back() {
        if (spread_word_ != kNone)
            for (const std::uint32_t feature : left_.features(spread_word_)) spread_[feature] = 0.0;
        spread_word_ = kNone;
    }

    const Arena& arena_;
    const Vocabulary& vocabulary_;
    const WordFeatures& left_;
    const WordFeatures& right_;
    SemanticOptions options_;
    NodePairs pairs_;
    std::vector<double> spread_;
    std::uint32_t spread_word_ = kNone;
};

// The same for the diagonal of a Gram matrix: an element with itself.
template <class Pairs>
class WithItself {
  public:
    explicit WithItself(Pairs pairs) : pairs_(std::move(pairs)) {}

    bool operator()(std::span<const Node> nodes, std::span<const double> counts, double& value) {
        return pairs_({nodes, counts}, {nodes, counts}, value);
    }

  private:
    Pairs pairs_;
};

// For kernels without a direct way.
struct NoPairs {
    bool operator()(Element, Element, double&) const { return false; }
};

// A pair in an arena of its own.
class IsolatedPair {
  public:
    IsolatedPair(const Arena& arena, const Bags& bags, std::size_t first, std::size_t second, std::vector<Node>& number)
        : row(isolate(arena, bags, first, number, alone)), column(isolate(arena, bags, second, number, alone)) {
        // What the first element has, too, has smaller numbers than its neighbours.
        std::vector<std::pair<Node, double>> items;
        for (std::size_t k = 0; k < column.numbers.size(); ++k) items.push_back({column.numbers[k], column.counts[k]});
        std::sort(items.begin(), items.end());
        for (std::size_t k = 0; k < items.size(); ++k) std::tie(column.numbers[k], column.counts[k]) = items[k];
    }

    Arena alone;
    Bags row, column;
};

// direct() gives something that may do a pair of elements; slow(i, j, scratch, out) does any.
template <class Direct, class Slow>
void elementwise(const Arena& arena, const Bags& bags, double* out, std::size_t threads, Control& control,
                 Direct direct, Slow slow) {
    const std::size_t pairs = bags.size() / 2;
    parallel_blocks(pairs, 16, threads, control, [&] {
        return [&, match = direct(), number = std::vector<Node>()](std::size_t begin, std::size_t end) mutable {
            for (std::size_t i = begin; i < end; ++i) {
                if (match(element_of(bags, i), element_of(bags, pairs + i), out[i])) continue;
                number.resize(arena.size());
                slow(i, pairs + i, number, out + i);
            }
        };
    });
}

}  // namespace sapwood
