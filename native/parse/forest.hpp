// All derivations of a sentence that its chart holds: their sum, how probable each labeled span is, samples, and what
// one tree has of them.
//
// Several derivations may make one tree, since symbols know more than trees show. Sums over all derivations are plain
// numbers: the weight of the best derivation is shared out among the words, which keeps them near 1. What one tree has
// may be far smaller, and is added up in logarithms.
#pragma once

#include <map>
#include <optional>

#include "parse/kbest.hpp"
#include "parse/span_chart.hpp"

namespace sapwood::parse {

// Which spans the derivations of one tree may have, and which labels they have there, from the top down.
class TreeShape {
  public:
    // The nodes of a tree over so many words, in post-order.
    TreeShape(std::span<const TreeNode> nodes, std::size_t words) : at_(span_count(words), kForbidden), lists_(1) {
        struct Part {
            std::size_t begin, end;
        };
        std::vector<Part> stack;
        std::vector<std::vector<std::uint32_t>> labels(span_count(words));
        for (const TreeNode& node : nodes) {
            if (node.children == 0) {
                stack.push_back({node.label, std::size_t{node.label} + 1});
                if (node.label >= words) throw std::invalid_argument("a tree has more words than its sentence");
                continue;
            }
            if (node.children > stack.size()) throw std::invalid_argument("the nodes are those of no tree");
            const std::size_t first = stack.size() - node.children;
            // Binary rules put neighboring children together, in any order.
            for (std::size_t left = first; left < stack.size(); ++left)
                for (std::size_t right = left; right < stack.size(); ++right) {
                    if (right > left && stack[right].begin != stack[right - 1].end)
                        throw std::invalid_argument("the words of a tree are not in order");
                    std::uint32_t& at = at_[span_at(stack[left].begin, stack[right].end)];
                    if (at == kForbidden) at = kNoLabels;
                }
            const Part whole{stack[first].begin, stack.back().end};
            labels[span_at(whole.begin, whole.end)].push_back(node.label);
            stack.resize(first);
            stack.push_back(whole);
        }
        if (stack.size() != 1 || stack[0].begin != 0 || stack[0].end != words)
            throw std::invalid_argument("a tree has other words than its sentence");
        for (std::size_t at = 0; at < labels.size(); ++at)
            if (!labels[at].empty()) {
                at_[at] = static_cast<std::uint32_t>(lists_.size());
                lists_.emplace_back(labels[at].rbegin(), labels[at].rend());
            }
    }

    bool allows(std::size_t begin, std::size_t end) const { return at_[span_at(begin, end)] != kForbidden; }
    std::span<const std::uint32_t> labels(std::size_t begin, std::size_t end) const {
        return lists_[at_[span_at(begin, end)]];
    }

  private:
    static constexpr std::uint32_t kForbidden = kNone, kNoLabels = 0;
    std::vector<std::uint32_t> at_;
    std::vector<std::vector<std::uint32_t>> lists_;
};

// Where symbols are found among the entries of a chart: in one cell, and in the cells of one column.
struct Places {
    Places(std::size_t words, std::size_t symbols)
        : symbols(symbols), lower(symbols, kNone), upper(symbols, kNone), column(words * symbols, kNone) {}

    void enter(std::vector<std::uint32_t>& places, std::span<const Entry> entries, std::size_t first) const {
        for (std::size_t k = 0; k < entries.size(); ++k)
            places[entries[k].symbol] = static_cast<std::uint32_t>(first + k);
    }
    void leave(std::vector<std::uint32_t>& places, std::span<const Entry> entries) const {
        for (const Entry& entry : entries) places[entry.symbol] = kNone;
    }
    std::uint32_t* row(std::size_t begin) { return column.data() + begin * symbols; }

    std::size_t symbols;
    std::vector<std::uint32_t> lower, upper, column;
};

// Weights are plain numbers.
struct Linear {
    static constexpr double none = 0.0;
    static double times(double a, double b) { return a * b; }
    static double plus(double a, double b) { return a + b; }
    static double weight(double log_weight) { return std::exp(log_weight); }
};

// Weights are logarithms.
struct Logarithms {
    static constexpr double none = kNever;
    static double times(double a, double b) { return a + b; }
    static double plus(double a, double b) { return log_sum(a, b); }
    static double weight(double log_weight) { return log_weight; }
};

// What was added up below every entry of a chart.
template <class Semiring>
struct Inside {
    std::vector<double> upper, lower;

    // `share` is taken off the logarithmic weight of every tag, word by word; `only`, if given, leaves the derivations
    // of one tree.
    Inside(const Rules& rules, const Chart& chart, const Sentence& sentence, std::span<const double> share,
           const TreeShape* only, Places& places, const Control& control)
        : upper(chart.upper_count(), Semiring::none), lower(chart.lower_count(), Semiring::none) {
        const std::size_t words = chart.words();
        std::vector<double> weights(rules.binary_count());
        for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = Semiring::weight(rules.results()[at].weight);
        for (std::size_t end = 1; end <= words; ++end) {
            for (std::size_t begin = end; begin-- > 0;) {
                control.check();
                if (only && !only->allows(begin, end)) continue;
                const auto lowers = chart.lower(begin, end), uppers = chart.upper(begin, end);
                const std::size_t first_lower = chart.lower_at(begin, end), first_upper = chart.upper_at(begin, end);
                places.enter(places.lower, lowers, first_lower);
                if (end - begin == 1) {
                    for (const Tag& tag : sentence[begin])
                        add(lower, places.lower[tag.symbol], Semiring::weight(tag.weight - share[begin]));
                } else
                    combine(rules, chart, weights, begin, end, places);
                places.leave(places.lower, lowers);
                places.enter(places.upper, uppers, first_upper);
                for (std::size_t k = 0; k < lowers.size(); ++k) {
                    const double value = lower[first_lower + k];
                    const Symbol symbol = lowers[k].symbol;
                    if (value == Semiring::none) continue;
                    if (rules.stay(symbol) != kNever && fits(rules, only, begin, end, nullptr, symbol))
                        add(upper, places.upper[symbol], Semiring::times(value, Semiring::weight(rules.stay(symbol))));
                    for (const Chain& chain : rules.chains_over(symbol))
                        if (fits(rules, only, begin, end, &chain, symbol))
                            add(upper, places.upper[chain.upper],
                                Semiring::times(value, Semiring::weight(chain.weight)));
                }
                places.leave(places.upper, uppers);
                for (std::size_t k = 0; k < uppers.size(); ++k)
                    if (upper[first_upper + k] != Semiring::none)
                        places.row(begin)[uppers[k].symbol] = static_cast<std::uint32_t>(first_upper + k);
            }
            for (std::size_t begin = 0; begin < end; ++begin)
                for (const Entry& entry : chart.upper(begin, end)) places.row(begin)[entry.symbol] = kNone;
        }
    }

    // Of the root over the whole sentence; none if there is no derivation.
    double total(const Rules& rules, const Chart& chart) const {
        const auto entries = chart.upper(0, chart.words());
        const Entry* top = Chart::find(entries, rules.root());
        return top ? upper[chart.upper_at(0, chart.words()) + static_cast<std::size_t>(top - entries.data())]
                   : Semiring::none;
    }

  private:
    static void add(std::vector<double>& values, std::uint32_t at, double value) {
        if (at != kNone) values[at] = Semiring::plus(values[at], value);
    }

    void combine(const Rules& rules, const Chart& chart, std::span<const double> weights, std::size_t begin,
                 std::size_t end, Places& places) {
        const Rules::Result* results = rules.results();
        for (std::size_t split = begin + 1; split < end; ++split) {
            const std::uint32_t* right = places.row(split);
            const auto lefts = chart.upper(begin, split);
            const std::size_t first = chart.upper_at(begin, split);
            for (std::size_t k = 0; k < lefts.size(); ++k) {
                const double value = upper[first + k];
                if (value == Semiring::none) continue;
                for (const Rules::Pair& pair : rules.pairs(lefts[k].symbol)) {
                    const std::uint32_t other = right[pair.right];
                    if (other == kNone) continue;
                    const double both = Semiring::times(value, upper[other]);
                    for (std::uint32_t at = pair.begin; at < pair.end; ++at)
                        add(lower, places.lower[results[at].parent], Semiring::times(both, weights[at]));
                }
            }
        }
    }

    // Whether a symbol with this chain above it, or none, has the labels that the tree has there.
    static bool fits(const Rules& rules, const TreeShape* only, std::size_t begin, std::size_t end, const Chain* chain,
                     Symbol symbol) {
        if (!only) return true;
        const auto wanted = only->labels(begin, end);
        const auto above = chain ? rules.labels_of(*chain) : std::span<const std::uint32_t>();
        const bool shown = rules.label(symbol) != kNone;
        return wanted.size() == above.size() + shown && std::equal(above.begin(), above.end(), wanted.begin()) &&
               (!shown || wanted.back() == rules.label(symbol));
    }
};

// The labels over a span, from the top down, that belong together: a chain and the label below it, tags included.
struct LabelList {
    std::uint32_t begin, end, list;
    double share;
};

struct Marginals {
    std::vector<std::vector<std::uint32_t>> lists;
    std::vector<LabelList> spans;
    double entropy = 0.0;  // of derivations, in nats
};

class Forest {
  public:
    // Throws ChartTooLarge where the chart with its sums would exceed the limit.
    Forest(const Rules& rules, Sentence sentence, const Limits& limits, const Control& control)
        : rules_(rules), sentence_(std::move(sentence)), chart_(Filler(rules).fill(sentence_, limits, control)) {
        const std::size_t words = sentence_.size();
        const Entry* top = words == 0 ? nullptr : Chart::find(chart_.upper(0, words), rules.root());
        if (!top) return;
        if (chart_.bytes() + words * rules.symbols() * sizeof(std::uint32_t) +
                (chart_.upper_count() + chart_.lower_count()) * sizeof(double) >
            limits.bytes)
            throw ChartTooLarge();
        // A word's share is that of its best tag, and what is left is divided evenly.
        double left = best_ = top->value;
        for (const std::vector<Tag>& tags : sentence_) {
            double most = kNever;
            for (const Tag& tag : tags) most = std::max(most, tag.weight);
            share_.push_back(most);
            left -= most;
        }
        for (double& value : share_) value += left / static_cast<double>(words);
        Places places(words, rules.symbols());
        sums_.emplace(rules_, chart_, sentence_, share_, nullptr, places, control);
        total_ = sums_->total(rules_, chart_);
        if (!(total_ > 0.0) || !std::isfinite(total_)) throw ChartTooLarge();
    }

    bool empty() const { return !sums_; }
    std::size_t words() const { return sentence_.size(); }
    std::size_t bytes() const { return chart_.bytes(); }
    // The logarithm of the weight of all derivations together.
    double total() const { return empty() ? kNever : std::log(total_) + best_; }

    // The share of the derivations in which a span has these labels.
    Marginals marginals(const Control& control) const {
        Marginals found;
        std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double> shares;
        std::vector<std::uint32_t> list;
        double expected = 0.0;
        const auto visit = [&](std::size_t begin, std::size_t end, const Chain* chain, Symbol symbol, double share) {
            const auto above = chain ? rules_.labels_of(*chain) : std::span<const std::uint32_t>();
            list.assign(above.begin(), above.end());
            if (rules_.label(symbol) != kNone) list.push_back(rules_.label(symbol));
            if (list.empty()) return;
            const auto [at, fresh] = numbers.try_emplace(list, static_cast<std::uint32_t>(found.lists.size()));
            if (fresh) found.lists.push_back(list);
            shares[{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), at->second}] += share;
        };
        outside(visit, expected, control);
        for (const auto& [key, share] : shares)
            found.spans.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), share});
        found.entropy = std::max(0.0, total() - expected);
        return found;
    }

    // The trees of the best derivations with the logarithm of the weight of all their derivations, best first.
    std::vector<Parse> trees(std::size_t count, std::size_t derivations, const Control& control) const {
        std::vector<Parse> found = KBest(rules_, chart_, sentence_, derivations).trees(derivations, control);
        Places places(words(), rules_.symbols());
        for (Parse& parse : found) parse.weight = weight(parse.nodes, places, control);
        std::stable_sort(found.begin(), found.end(),
                         [](const Parse& a, const Parse& b) { return a.weight > b.weight; });
        if (found.size() > count) found.resize(count);
        return found;
    }

    // The logarithm of the weight of all derivations of one tree, in post-order; kNever if there is none.
    double weight(std::span<const TreeNode> nodes, const Control& control) const {
        Places places(words(), rules_.symbols());
        return weight(nodes, places, control);
    }

    // `uniform()` gives numbers in [0, 1).
    template <class Uniform>
    Parse draw(Uniform uniform, const Control& control) const {
        const auto words = static_cast<std::uint32_t>(sentence_.size());
        std::vector<Frame> stack{choose_upper(0, words, rules_.root(), uniform())};
        Parse parse{{}, 0.0};
        std::uint32_t made = 0;
        while (!stack.empty()) {
            control.check();
            Frame& frame = stack.back();
            if (frame.step > 0) frame.nodes += made;
            const std::uint32_t step = frame.step++;
            if (step == 0 && frame.is_upper) {
                stack.push_back(choose_lower(frame.begin, frame.end, frame.first, uniform()));
                continue;
            }
            if (step < 2 && !frame.is_upper && frame.end - frame.begin > 1) {
                const std::uint32_t begin = step == 0 ? frame.begin : frame.split;
                const std::uint32_t end = step == 0 ? frame.split : frame.end;
                stack.push_back(choose_upper(begin, end, step == 0 ? frame.first : frame.second, uniform()));
                continue;
            }
            made = frame.nodes;
            if (!frame.is_upper && frame.end - frame.begin == 1) {
                parse.nodes.push_back({frame.begin, 0});
                made = 1;
            }
            if (!frame.is_upper && rules_.label(frame.symbol) != kNone) {
                parse.nodes.push_back({rules_.label(frame.symbol), made});
                made = 1;
            } else if (frame.is_upper && frame.chain) {
                const auto labels = rules_.labels_of(*frame.chain);
                for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
                    parse.nodes.push_back({*label, made});
                    made = 1;
                }
            }
            parse.weight += frame.weight;
            stack.pop_back();
        }
        return parse;
    }

  private:
    // A symbol over a span and how it was made: by a chain (or none) over `first`, or from `first` and `second`.
    struct Frame {
        bool is_upper;
        std::uint32_t begin, end;
        Symbol symbol;
        double weight = 0.0;
        const Chain* chain = nullptr;
        Symbol first = kNone, second = kNone;
        std::uint32_t split = 0, step = 0, nodes = 0;
    };

    double weight(std::span<const TreeNode> nodes, Places& places, const Control& control) const {
        const TreeShape shape(nodes, words());
        const std::vector<double> nothing(words(), 0.0);
        return Inside<Logarithms>(rules_, chart_, sentence_, nothing, &shape, places, control).total(rules_, chart_);
    }

    double inside_upper(std::size_t begin, std::size_t end, Symbol symbol) const {
        const auto entries = chart_.upper(begin, end);
        const Entry* found = Chart::find(entries, symbol);
        return found ? sums_->upper[chart_.upper_at(begin, end) + static_cast<std::size_t>(found - entries.data())]
                     : 0.0;
    }

    double inside_lower(std::size_t begin, std::size_t end, Symbol symbol) const {
        const auto entries = chart_.lower(begin, end);
        const Entry* found = Chart::find(entries, symbol);
        return found ? sums_->lower[chart_.lower_at(begin, end) + static_cast<std::size_t>(found - entries.data())]
                     : 0.0;
    }

    Frame choose_upper(std::uint32_t begin, std::uint32_t end, Symbol symbol, double left) const {
        Frame chosen{true, begin, end, symbol};
        left *= inside_upper(begin, end, symbol);
        const auto passes = [&](const Chain* chain, Symbol lower, double weight) {
            const double value = inside_lower(begin, end, lower) * std::exp(weight);
            if (value == 0.0) return false;
            chosen.chain = chain, chosen.first = lower, chosen.weight = weight;
            return (left -= value) < 0.0;
        };
        if (rules_.stay(symbol) != kNever && passes(nullptr, symbol, rules_.stay(symbol))) return chosen;
        for (const std::uint32_t at : rules_.chains_under(symbol)) {
            const Chain& chain = rules_.chain(at);
            if (passes(&chain, chain.lower, chain.weight)) return chosen;
        }
        // Rounding may leave a little; it belongs to the last one that is possible.
        return chosen;
    }

    Frame choose_lower(std::uint32_t begin, std::uint32_t end, Symbol symbol, double left) const {
        Frame chosen{false, begin, end, symbol};
        if (end - begin == 1) {
            for (const Tag& tag : sentence_[begin])
                if (tag.symbol == symbol) chosen.weight = tag.weight;
            return chosen;
        }
        left *= inside_lower(begin, end, symbol);
        const auto rules = rules_.rules_of(symbol);
        for (std::uint32_t split = begin + 1; split < end; ++split) {
            const auto lefts = chart_.upper(begin, split);
            auto entry = lefts.begin();
            for (auto rule = rules.begin(); rule != rules.end() && entry != lefts.end();) {
                if (entry->symbol < rule->left)
                    ++entry;
                else if (rule->left < entry->symbol)
                    ++rule;
                else {
                    const double first =
                        sums_->upper[chart_.upper_at(begin, split) + static_cast<std::size_t>(entry - lefts.begin())];
                    const double value = first * inside_upper(split, end, rule->right) * std::exp(rule->weight);
                    if (value > 0.0) {
                        chosen.split = split, chosen.first = rule->left, chosen.second = rule->right;
                        chosen.weight = rule->weight;
                        if ((left -= value) < 0.0) return chosen;
                    }
                    ++rule;
                }
            }
        }
        return chosen;
    }

    // Calls visit(begin, end, chain or none, symbol below, share of the derivations) for every step from an upper to a
    // lower symbol, and adds up the expected weight of a derivation.
    template <class Visit>
    void outside(Visit visit, double& expected, const Control& control) const {
        const std::size_t words = sentence_.size();
        const Rules::Result* results = rules_.results();
        std::vector<double> weights(rules_.binary_count());
        for (std::size_t at = 0; at < weights.size(); ++at) weights[at] = std::exp(results[at].weight);
        Places places(words, rules_.symbols());
        std::vector<double> above(chart_.upper_count(), 0.0), below;
        for (std::size_t end = words; end > 0; --end) {
            for (std::size_t begin = 0; begin < end; ++begin) {
                const auto uppers = chart_.upper(begin, end);
                for (std::size_t k = 0; k < uppers.size(); ++k)
                    places.row(begin)[uppers[k].symbol] = static_cast<std::uint32_t>(chart_.upper_at(begin, end) + k);
            }
            if (end == words) above[places.row(0)[rules_.root()]] = 1.0 / total_;
            for (std::size_t begin = 0; begin < end; ++begin) {
                control.check();
                const auto lowers = chart_.lower(begin, end);
                const std::size_t first_lower = chart_.lower_at(begin, end);
                below.assign(lowers.size(), 0.0);
                bool reached = false;
                for (std::size_t k = 0; k < lowers.size(); ++k) {
                    const Symbol symbol = lowers[k].symbol;
                    const auto step = [&](const Chain* chain, Symbol upper, double weight) {
                        const std::uint32_t at = places.row(begin)[upper];
                        if (at == kNone || above[at] == 0.0) return;
                        const double outside = above[at] * std::exp(weight);
                        const double share = outside * sums_->lower[first_lower + k];
                        if (share == 0.0) return;
                        below[k] += outside;
                        expected += share * weight;
                        reached = true;
                        visit(begin, end, chain, symbol, share);
                    };
                    if (rules_.stay(symbol) != kNever) step(nullptr, symbol, rules_.stay(symbol));
                    for (const Chain& chain : rules_.chains_over(symbol)) step(&chain, chain.upper, chain.weight);
                }
                if (!reached) continue;
                places.enter(places.lower, lowers, 0);
                if (end - begin == 1) {
                    for (const Tag& tag : sentence_[begin])
                        if (const std::uint32_t k = places.lower[tag.symbol]; k != kNone && below[k] > 0.0)
                            expected += below[k] * std::exp(tag.weight - share_[begin]) * tag.weight;
                } else
                    for (std::size_t split = begin + 1; split < end; ++split) {
                        const std::uint32_t* right = places.row(split);
                        const auto lefts = chart_.upper(begin, split);
                        const std::size_t first = chart_.upper_at(begin, split);
                        for (std::size_t k = 0; k < lefts.size(); ++k)
                            for (const Rules::Pair& pair : rules_.pairs(lefts[k].symbol)) {
                                const std::uint32_t other = right[pair.right];
                                if (other == kNone) continue;
                                double outside = 0.0, logs = 0.0;
                                for (std::uint32_t at = pair.begin; at < pair.end; ++at)
                                    if (const std::uint32_t place = places.lower[results[at].parent]; place != kNone) {
                                        const double part = below[place] * weights[at];
                                        outside += part;
                                        logs += part * results[at].weight;
                                    }
                                if (outside == 0.0) continue;
                                const double first_sum = sums_->upper[first + k], second_sum = sums_->upper[other];
                                above[first + k] += outside * second_sum;
                                above[other] += outside * first_sum;
                                expected += logs * first_sum * second_sum;
                            }
                    }
                places.leave(places.lower, lowers);
            }
            for (std::size_t begin = 0; begin < end; ++begin)
                for (const Entry& entry : chart_.upper(begin, end)) places.row(begin)[entry.symbol] = kNone;
        }
    }

    const Rules& rules_;
    Sentence sentence_;
    Chart chart_;
    std::vector<double> share_;
    std::optional<Inside<Linear>> sums_;
    double best_ = kNever, total_ = 0.0;
};

}  // namespace sapwood::parse
