// The k best derivations of a sentence from its chart, found lazily (Huang and Chiang 2005, algorithm 3).
//
// Every symbol over a span keeps a heap of candidates and derives its next best only when a parent asks for it. The
// demand is worked off with a stack of its own, so depth costs no stack of the machine.
#pragma once

#include <set>
#include <tuple>
#include <unordered_map>

#include "parse/cky.hpp"

namespace sapwood::parse {

// A tree in post-order: a label and how many of the nodes before it are its children; none for the word at that
// position.
struct TreeNode {
    std::uint32_t label, children;
    auto operator<=>(const TreeNode&) const = default;
};

struct Parse {
    std::vector<TreeNode> nodes;
    double weight;
};

class KBest {
  public:
    // `most` is how many derivations are looked at; several may be derivations of one tree.
    KBest(const Rules& rules, const Chart& chart, const Sentence& sentence, std::size_t most)
        : rules_(rules), chart_(chart), sentence_(sentence), most_(most) {
        if (chart.words() >= 1u << 16) throw ChartTooLarge();
    }

    // The best trees for the whole sentence, best first, none twice: of several derivations of one tree the best
    // counts.
    std::vector<Parse> trees(std::size_t count, const Control& control) {
        const std::size_t words = chart_.words();
        if (words == 0 || !Chart::find(chart_.upper(0, words), rules_.root())) return {};
        return trees(item(kUpper, 0, words, rules_.root()), count, control);
    }

    // The best tree of one symbol over a span, which must be in the chart.
    Parse best(Symbol symbol, std::size_t begin, std::size_t end, const Control& control) {
        return trees(item(kUpper, begin, end, symbol), 1, control).front();
    }

  private:
    enum Layer : std::uint64_t { kLower, kUpper };
    struct Edge {
        std::uint32_t first, second;  // items; kNone for none
        std::uint32_t what;           // number of a chain, kNone for other edges
        double weight;
        double best;  // with the best of both children
    };
    struct Derivation {
        double weight;
        std::uint32_t edge, rank[2];
        // Orders a heap: largest weight on top, and a fixed choice among equals.
        bool operator<(const Derivation& other) const {
            if (weight != other.weight) return weight < other.weight;
            return std::tie(edge, rank[0], rank[1]) > std::tie(other.edge, other.rank[0], other.rank[1]);
        }
    };
    struct Item {
        Symbol symbol;
        std::uint16_t begin, end;
        Layer layer;
        bool ready = false, exhausted = false;
        std::uint8_t next = 2;  // the child whose next best the last derivation has still to try; 2 when done
        double value;
        std::vector<Edge> edges;
        std::vector<Derivation> heap, best;
    };

    std::uint32_t item(Layer layer, std::size_t begin, std::size_t end, Symbol symbol) {
        const std::uint64_t key = begin << 48 | end << 32 | std::uint64_t{symbol} << 1 | layer;
        const auto [at, fresh] = known_.try_emplace(key, static_cast<std::uint32_t>(items_.size()));
        if (fresh) {
            const Entry* entry =
                Chart::find(layer == kUpper ? chart_.upper(begin, end) : chart_.lower(begin, end), symbol);
            Item made;
            made.symbol = symbol;
            made.begin = static_cast<std::uint16_t>(begin);
            made.end = static_cast<std::uint16_t>(end);
            made.layer = layer;
            made.value = entry ? entry->value : kNever;
            items_.push_back(std::move(made));
        }
        return at->second;
    }

    struct Draft {
        double best, weight;
        std::uint32_t split;
        Symbol left, right;
        std::uint32_t what;
    };

    // Lists the ways in which an item can be made; more than `most_` are never needed.
    void prepare(std::uint32_t number) {
        // A copy, since making the items of children moves items about.
        const struct {
            Symbol symbol;
            Layer layer;
        } shape{items_[number].symbol, items_[number].layer};
        const std::size_t begin = items_[number].begin, end = items_[number].end;
        drafts_.clear();
        if (shape.layer == kUpper) {
            if (rules_.stay(shape.symbol) != kNever)
                if (const Entry* entry = Chart::find(chart_.lower(begin, end), shape.symbol))
                    drafts_.push_back({entry->value + rules_.stay(shape.symbol), rules_.stay(shape.symbol), 0,
                                       shape.symbol, kNone, kNone});
            for (const std::uint32_t at : rules_.chains_under(shape.symbol)) {
                const Chain& chain = rules_.chain(at);
                if (const Entry* entry = Chart::find(chart_.lower(begin, end), chain.lower))
                    drafts_.push_back({entry->value + chain.weight, chain.weight, 0, chain.lower, kNone, at});
            }
        } else if (end - begin == 1) {
            for (const Tag& tag : sentence_[begin])
                if (tag.symbol == shape.symbol) drafts_.push_back({tag.weight, tag.weight, 0, kNone, kNone, kNone});
        } else {
            const auto rules = rules_.rules_of(shape.symbol);
            for (std::size_t split = begin + 1; split < end; ++split) {
                const auto lefts = chart_.upper(begin, split), rights = chart_.upper(split, end);
                auto left = lefts.begin();
                for (auto rule = rules.begin(); rule != rules.end() && left != lefts.end();) {
                    if (left->symbol < rule->left)
                        ++left;
                    else if (rule->left < left->symbol)
                        ++rule;
                    else {
                        if (const Entry* right = Chart::find(rights, rule->right))
                            drafts_.push_back({left->value + right->value + rule->weight, rule->weight,
                                               static_cast<std::uint32_t>(split), rule->left, rule->right, kNone});
                        ++rule;
                    }
                }
            }
        }
        const auto better = [](const Draft& a, const Draft& b) {
            if (a.best != b.best) return a.best > b.best;
            return std::tie(a.split, a.left, a.right, a.what) < std::tie(b.split, b.left, b.right, b.what);
        };
        if (drafts_.size() > most_) {
            std::nth_element(drafts_.begin(), drafts_.begin() + static_cast<std::ptrdiff_t>(most_), drafts_.end(),
                             better);
            drafts_.resize(most_);
        }
        std::sort(drafts_.begin(), drafts_.end(), better);
        std::vector<Edge> edges;
        edges.reserve(drafts_.size());
        for (const Draft& draft : drafts_) {
            std::uint32_t first = kNone, second = kNone;
            if (shape.layer == kUpper)
                first = item(kLower, begin, end, draft.left);
            else if (end - begin > 1)
                first = item(kUpper, begin, draft.split, draft.left),
                second = item(kUpper, draft.split, end, draft.right);
            edges.push_back({first, second, draft.what, draft.weight, draft.best});
        }
        Item& made = items_[number];
        made.edges = std::move(edges);
        made.heap.reserve(made.edges.size());
        // Best first, hence a heap already.
        for (std::uint32_t at = 0; at < made.edges.size(); ++at) made.heap.push_back({made.edges[at].best, at, {0, 0}});
        made.ready = true;
    }

    // Makes sure that the derivation of this rank is known, if there is one.
    bool demand(std::uint32_t number, std::size_t rank, const Control& control) {
        stack_.clear();
        stack_.push_back({number, rank});
        while (!stack_.empty()) {
            const auto [at, wanted] = stack_.back();
            if (!items_[at].ready) {
                control.check();
                prepare(at);
            }
            Item& now = items_[at];
            if (now.best.size() > wanted || now.exhausted) {
                stack_.pop_back();
                continue;
            }
            bool waits = false;
            for (; now.next < 2; ++now.next) {
                const Derivation last = now.best.back();
                const Edge& edge = now.edges[last.edge];
                const std::uint32_t child = now.next == 0 ? edge.first : edge.second;
                // Each pair of ranks is reached in one way only: the first child moves while the second stands at 0.
                if (child == kNone || (now.next == 0 && last.rank[1] != 0)) continue;
                const std::uint32_t next = last.rank[now.next] + 1;
                if (items_[child].best.size() <= next && !items_[child].exhausted) {
                    stack_.push_back({child, next});
                    waits = true;
                    break;
                }
                if (items_[child].best.size() <= next) continue;
                Derivation made = last;
                made.rank[now.next] = next;
                made.weight = total(edge, made.rank);
                now.heap.push_back(made);
                std::push_heap(now.heap.begin(), now.heap.end());
            }
            if (waits) continue;
            if (now.heap.empty()) {
                now.exhausted = true;
                continue;
            }
            std::pop_heap(now.heap.begin(), now.heap.end());
            now.best.push_back(now.heap.back());
            now.heap.pop_back();
            now.next = 0;
        }
        return items_[number].best.size() > rank;
    }

    // The same sums in the same order as in the chart, so that the best of an item is its value there to the last bit.
    double total(const Edge& edge, const std::uint32_t (&rank)[2]) const {
        const auto value = [&](std::uint32_t child, std::uint32_t at) {
            return at == 0 ? items_[child].value : items_[child].best[at].weight;
        };
        if (edge.first == kNone) return edge.weight;
        double sum = value(edge.first, rank[0]);
        if (edge.second != kNone) sum += value(edge.second, rank[1]);
        return sum + edge.weight;
    }

    std::vector<Parse> trees(std::uint32_t top, std::size_t count, const Control& control) {
        std::vector<Parse> found;
        std::set<std::vector<TreeNode>> seen;
        for (std::size_t rank = 0; found.size() < count && demand(top, rank, control); ++rank) {
            Parse parse{read(top, static_cast<std::uint32_t>(rank), control), items_[top].best[rank].weight};
            if (seen.insert(parse.nodes).second) found.push_back(std::move(parse));
            // Items keep at most `most_` edges, so deeper ranks would no longer be exact.
            if (rank + 1 >= most_) break;
        }
        return found;
    }

    std::vector<TreeNode> read(std::uint32_t top, std::uint32_t rank, const Control& control) {
        struct Frame {
            std::uint32_t item, rank, step, nodes;
        };
        std::vector<TreeNode> nodes;
        std::vector<Frame> stack{{top, rank, 0, 0}};
        std::uint32_t made = 0;
        while (!stack.empty()) {
            Frame& frame = stack.back();
            if (frame.step == 0) demand(frame.item, frame.rank, control);
            const Item& now = items_[frame.item];
            const Derivation& derivation = now.best[frame.rank];
            const Edge& edge = now.edges[derivation.edge];
            if (frame.step > 0) frame.nodes += made;
            const std::uint32_t step = frame.step++;
            if (step == 0 && edge.first != kNone) {
                stack.push_back({edge.first, derivation.rank[0], 0, 0});
                continue;
            }
            if (step == 1 && edge.second != kNone) {
                stack.push_back({edge.second, derivation.rank[1], 0, 0});
                continue;
            }
            made = frame.nodes;
            if (edge.first == kNone) {
                nodes.push_back({now.begin, 0});
                made = 1;
            }
            if (now.layer == kLower && rules_.label(now.symbol) != kNone) {
                nodes.push_back({rules_.label(now.symbol), made});
                made = 1;
            } else if (now.layer == kUpper && edge.what != kNone) {
                const auto labels = rules_.labels_of(rules_.chain(edge.what));
                for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
                    nodes.push_back({*label, made});
                    made = 1;
                }
            }
            stack.pop_back();
        }
        return nodes;
    }

    const Rules& rules_;
    const Chart& chart_;
    const Sentence& sentence_;
    std::size_t most_;
    std::vector<Item> items_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack_;
    std::vector<Draft> drafts_;
};

}  // namespace sapwood::parse
