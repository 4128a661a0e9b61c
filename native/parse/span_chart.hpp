// Trees over a sentence whose weight is the sum of the scores of their labeled spans: the best one, the k best, the sum
// over all of them, how probable each span is, and samples.
//
// A tree is a root over two or more children, each of which is again a labeled span or a single word; a single word may
// do without a label, which has score 0. Every tree is counted once: the children of a node are taken off its row from
// left to right, and no binary trees stand in for it. `begin` and `end` are positions between words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/parallel.hpp"

namespace sapwood::parse {

inline constexpr std::uint32_t kUnlabeled = std::numeric_limits<std::uint32_t>::max();

inline std::size_t span_count(std::size_t words) { return words * (words + 1) / 2; }
inline std::size_t span_at(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }

struct LabeledSpan {
    std::uint32_t begin, end, label;
    auto operator<=>(const LabeledSpan&) const = default;
};

// The labeled spans of a tree, children before their parents, left to right.
struct SpanTree {
    std::vector<LabeledSpan> spans;
    double weight = 0.0;
};

// Scores of one sentence: for every span, in the order of span_at, one number per label.
struct SpanScores {
    std::size_t words, labels;
    const float* values;

    const float* of(std::size_t begin, std::size_t end) const { return values + span_at(begin, end) * labels; }
    // Whether the span may have no label and still be a child: a single word below the root.
    bool optional(std::size_t begin, std::size_t end) const { return end - begin == 1 && words > 1; }
};

inline double log_sum(double a, double b) {
    if (a < b) std::swap(a, b);
    return std::isinf(b) ? a : a + std::log1p(std::exp(b - a));
}

// The logarithm of the summed weights of the labels of each span.
inline std::vector<double> summed_labels(const SpanScores& scores) {
    std::vector<double> sums(span_count(scores.words));
    for (std::size_t end = 1; end <= scores.words; ++end)
        for (std::size_t begin = 0; begin < end; ++begin) {
            const float* row = scores.of(begin, end);
            double top = scores.optional(begin, end) ? 0.0 : row[0];
            for (std::size_t label = 0; label < scores.labels; ++label) top = std::max<double>(top, row[label]);
            double sum = scores.optional(begin, end) ? std::exp(-top) : 0.0;
            for (std::size_t label = 0; label < scores.labels; ++label) sum += std::exp(row[label] - top);
            sums[span_at(begin, end)] = top + std::log(sum);
        }
    return sums;
}

// Sums over all trees. `weights` holds, for every span, the logarithm of the weight of making it a node.
class InsideOutside {
  public:
    InsideOutside(std::span<const double> weights, std::size_t words, const Control& control)
        : words_(words), weights_(weights), child_(span_count(words)), row_(child_.size()), tail_(child_.size()) {
        for (std::size_t end = 1; end <= words; ++end)
            for (std::size_t begin = end; begin-- > 0;) {
                const std::size_t at = span_at(begin, end);
                row_[at] = -std::numeric_limits<double>::infinity();
                if (end - begin == 1)
                    child_[at] = tail_[at] = weights[at];
                else {
                    control.check();
                    terms_.clear();
                    for (std::size_t split = begin + 1; split < end; ++split)
                        terms_.push_back(child_[span_at(begin, split)] + tail_[span_at(split, end)]);
                    row_[at] = log_sum_all();
                    child_[at] = row_[at] + weights[at];
                    tail_[at] = log_sum(row_[at], child_[at]);
                }
            }
    }

    // The logarithm of the weight of all trees together.
    double total() const { return words_ == 0 ? 0.0 : child_[span_at(0, words_)]; }

    double weight(std::size_t begin, std::size_t end) const { return weights_[span_at(begin, end)]; }
    double child(std::size_t begin, std::size_t end) const { return child_[span_at(begin, end)]; }
    // Two or more children side by side.
    double row(std::size_t begin, std::size_t end) const { return row_[span_at(begin, end)]; }
    // One or more.
    double tail(std::size_t begin, std::size_t end) const { return tail_[span_at(begin, end)]; }

    // The share of the trees in which each span is a node (a child, for single words: 1).
    std::vector<double> marginals(const Control& control) {
        std::vector<double> share(child_.size(), 0.0);
        if (words_ == 0) return share;
        std::vector<double> outside_row(child_.size()), outside_tail(child_.size());
        for (std::size_t length = words_; length > 0; --length)
            for (std::size_t begin = 0; begin + length <= words_; ++begin) {
                control.check();
                const std::size_t end = begin + length, at = span_at(begin, end);
                // As the rest of a row behind its first child.
                terms_.clear();
                for (std::size_t first = 0; first < begin; ++first)
                    terms_.push_back(outside_row[span_at(first, end)] + child_[span_at(first, begin)]);
                outside_tail[at] = log_sum_all();
                // As the first child of a row, as the last child, or as the root.
                terms_.clear();
                for (std::size_t last = end + 1; last <= words_; ++last)
                    terms_.push_back(outside_row[span_at(begin, last)] + tail_[span_at(end, last)]);
                terms_.push_back(outside_tail[at]);
                if (length == words_) terms_.push_back(0.0);
                const double outside = log_sum_all();
                outside_row[at] = log_sum(outside_tail[at], outside + weights_[at]);
                share[at] = std::exp(outside + child_[at] - total());
            }
        return share;
    }

  private:
    double log_sum_all() const {
        double top = -std::numeric_limits<double>::infinity();
        for (const double term : terms_) top = std::max(top, term);
        if (std::isinf(top)) return top;
        double sum = 0.0;
        for (const double term : terms_) sum += std::exp(term - top);
        return top + std::log(sum);
    }

    std::size_t words_;
    std::span<const double> weights_;
    std::vector<double> child_, row_, tail_, terms_;
};

// The best trees of a sentence, best first; among equal ones the order is fixed.
class BestTrees {
  public:
    BestTrees(const SpanScores& scores, std::size_t count, const Control& control) : scores_(scores), count_(count) {
        child_.resize(span_count(scores.words));
        row_.resize(child_.size());
        tail_.resize(child_.size());
        for (std::size_t end = 1; end <= scores.words; ++end)
            for (std::size_t begin = end; begin-- > 0;) {
                control.check();
                label(begin, end);
                if (end - begin > 1) {
                    combine_rows(begin, end);
                    combine_labels(begin, end);
                }
                merge_tail(begin, end);
            }
    }

    std::vector<SpanTree> trees() const {
        std::vector<SpanTree> found;
        if (scores_.words == 0) return found;
        for (std::uint32_t rank = 0; rank < child_[span_at(0, scores_.words)].size(); ++rank)
            found.push_back(read(rank));
        return found;
    }

    // Bytes that the lists of one span may take, so that callers can bound the whole.
    static std::size_t bytes(std::size_t words, std::size_t count) {
        return span_count(words) * count * 3 * sizeof(Choice);
    }

  private:
    // A way to make an item: `what` is the split of a row, the label of a child, or 1 for a tail that is a row and 0
    // for one that is a child; the ranks are those of its parts.
    struct Choice {
        double weight;
        std::uint32_t what, first, second;
        bool operator<(const Choice& other) const {
            if (weight != other.weight) return weight < other.weight;
            return std::tie(what, first, second) > std::tie(other.what, other.first, other.second);
        }
    };
    using Choices = std::vector<Choice>;
    static constexpr auto kBetter = [](const Choice& a, const Choice& b) { return b < a; };

    // The labels of a span in order of their scores; those of a single word are its choices.
    void label(std::size_t begin, std::size_t end) {
        labels_.clear();
        if (scores_.optional(begin, end)) labels_.push_back({0.0, kUnlabeled, 0, 0});
        const float* row = scores_.of(begin, end);
        for (std::uint32_t at = 0; at < scores_.labels; ++at) labels_.push_back({row[at], at, 0, 0});
        const std::size_t kept = std::min(count_, labels_.size());
        if (kept == 1)
            std::iter_swap(labels_.begin(), std::max_element(labels_.begin(), labels_.end()));
        else
            std::partial_sort(labels_.begin(), labels_.begin() + static_cast<std::ptrdiff_t>(kept), labels_.end(),
                              kBetter);
        labels_.resize(kept);
        if (end - begin == 1) child_[span_at(begin, end)] = labels_;
    }

    void combine_rows(std::size_t begin, std::size_t end) {
        heap_.clear();
        for (std::size_t split = begin + 1; split < end; ++split)
            heap_.push_back({child_[span_at(begin, split)][0].weight + tail_[span_at(split, end)][0].weight,
                             static_cast<std::uint32_t>(split), 0, 0});
        take(row_[span_at(begin, end)],
             [&](const Choice& choice, std::uint32_t first, std::uint32_t second, double& weight) {
                 const Choices &left = child_[span_at(begin, choice.what)], &right = tail_[span_at(choice.what, end)];
                 if (first >= left.size() || second >= right.size()) return false;
                 weight = left[first].weight + right[second].weight;
                 return true;
             });
    }

    void combine_labels(std::size_t begin, std::size_t end) {
        const Choices& rows = row_[span_at(begin, end)];
        heap_.clear();
        for (const Choice& label : labels_) heap_.push_back({label.weight + rows[0].weight, label.what, 0, 0});
        const float* row = scores_.of(begin, end);
        take(child_[span_at(begin, end)],
             [&](const Choice& choice, std::uint32_t first, std::uint32_t second, double& weight) {
                 if (first > 0 || second >= rows.size()) return false;
                 weight = row[choice.what] + rows[second].weight;
                 return true;
             });
    }

    void merge_tail(std::size_t begin, std::size_t end) {
        const std::size_t at = span_at(begin, end);
        const Choices* sides[2] = {&child_[at], &row_[at]};
        Choices& merged = tail_[at];
        std::uint32_t next[2] = {0, 0};
        while (merged.size() < count_) {
            const bool child = next[0] < sides[0]->size(), row = next[1] < sides[1]->size();
            if (!child && !row) break;
            const std::uint32_t side =
                !child || (row && (*sides[1])[next[1]].weight > (*sides[0])[next[0]].weight) ? 1 : 0;
            merged.push_back({(*sides[side])[next[side]].weight, side, next[side], 0});
            ++next[side];
        }
    }

    // Takes the best choices off the heap; each is followed by the two that come next to it.
    template <class Weigh>
    void take(Choices& found, Weigh weigh) {
        if (count_ == 1) {
            found.assign(1, *std::max_element(heap_.begin(), heap_.end()));
            return;
        }
        std::make_heap(heap_.begin(), heap_.end());
        while (found.size() < count_ && !heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end());
            const Choice choice = heap_.back();
            heap_.pop_back();
            found.push_back(choice);
            // First ranks grow only beside second rank 0, so that no pair is reached twice.
            for (const auto& [first, second] : {std::pair{choice.first, choice.second + 1}, {choice.first + 1, 0u}}) {
                if (second == 0 && choice.second > 0) continue;
                double weight = 0.0;
                if (!weigh(choice, first, second, weight)) continue;
                heap_.push_back({weight, choice.what, first, second});
                std::push_heap(heap_.begin(), heap_.end());
            }
        }
    }

    enum Kind : std::uint8_t { kChild, kRow, kTail, kClose };
    struct Step {
        Kind kind;
        std::uint32_t begin, end, rank;
    };

    SpanTree read(std::uint32_t rank) const {
        const auto words = static_cast<std::uint32_t>(scores_.words);
        SpanTree tree{{}, child_[span_at(0, words)][rank].weight};
        std::vector<Step> stack{{kChild, 0, words, rank}};
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            const std::size_t at = span_at(step.begin, step.end);
            if (step.kind == kClose) {
                tree.spans.push_back({step.begin, step.end, step.rank});
            } else if (step.kind == kChild) {
                const Choice& choice = child_[at][step.rank];
                if (choice.what != kUnlabeled) stack.push_back({kClose, step.begin, step.end, choice.what});
                if (step.end - step.begin > 1) stack.push_back({kRow, step.begin, step.end, choice.second});
            } else if (step.kind == kRow) {
                const Choice& choice = row_[at][step.rank];
                stack.push_back({kTail, choice.what, step.end, choice.second});
                stack.push_back({kChild, step.begin, choice.what, choice.first});
            } else {
                const Choice& choice = tail_[at][step.rank];
                stack.push_back({choice.what == 1 ? kRow : kChild, step.begin, step.end, choice.first});
            }
        }
        return tree;
    }

    SpanScores scores_;
    std::size_t count_;
    std::vector<Choices> child_, row_, tail_;
    Choices labels_, heap_;
};

// What labels are worth in the tree with the fewest expected errors, span by span, from their probabilities. A label is
// one or more names; each is worth having if it is right more often than not. Of labels with the same names in another
// order, the likelier. A sentence of one word has one label: the likeliest.
inline std::vector<float> expected_gains(const SpanScores& shares, std::span<const std::vector<std::uint32_t>> names) {
    std::vector<float> gains(span_count(shares.words) * shares.labels);
    if (shares.words == 1) {
        std::copy_n(shares.values, gains.size(), gains.begin());
        return gains;
    }
    std::uint32_t count = 0;
    for (const auto& label : names)
        for (const std::uint32_t name : label) count = std::max(count, name + 1);
    std::vector<double> right(count);
    for (std::size_t at = 0; at < gains.size(); at += shares.labels) {
        std::fill(right.begin(), right.end(), 0.0);
        for (std::size_t label = 0; label < shares.labels; ++label)
            for (const std::uint32_t name : names[label]) right[name] += shares.values[at + label];
        for (std::size_t label = 0; label < shares.labels; ++label) {
            double gain = 1e-4 * shares.values[at + label];
            for (const std::uint32_t name : names[label]) gain += std::min(1.0, right[name]) - 0.5;
            gains[at + label] = static_cast<float>(gain);
        }
    }
    return gains;
}

// Draws trees with the probability they have under the scores.
class TreeSampler {
  public:
    TreeSampler(const SpanScores& scores, const InsideOutside& sums) : scores_(scores), sums_(sums) {}

    // `uniform()` gives numbers in [0, 1).
    template <class Uniform>
    SpanTree draw(Uniform uniform) {
        SpanTree tree;
        if (scores_.words == 0) return tree;
        struct Step {
            std::uint32_t begin, end, label;
            bool open;
        };
        const auto words = static_cast<std::uint32_t>(scores_.words);
        std::vector<Step> stack{{0, words, 0, true}};
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            if (!step.open) {
                tree.spans.push_back({step.begin, step.end, step.label});
                continue;
            }
            const std::uint32_t label = draw_label(step.begin, step.end, uniform());
            if (label != kUnlabeled) {
                tree.weight += scores_.of(step.begin, step.end)[label];
                stack.push_back({step.begin, step.end, label, false});
            }
            if (step.end - step.begin == 1) continue;
            // The row is divided from its left end; its children are opened from the left, so they go on in reverse.
            const std::size_t first = stack.size();
            for (std::uint32_t begin = step.begin; begin < step.end;) {
                const bool last = begin > step.begin &&
                                  uniform() < std::exp(sums_.child(begin, step.end) - sums_.tail(begin, step.end));
                const std::uint32_t split =
                    last || step.end - begin == 1 ? step.end : draw_split(begin, step.end, uniform());
                stack.push_back({begin, split, 0, true});
                begin = split;
            }
            std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
        }
        return tree;
    }

  private:
    std::uint32_t draw_label(std::size_t begin, std::size_t end, double left) const {
        const float* row = scores_.of(begin, end);
        const double total = sums_.weight(begin, end);
        if (scores_.optional(begin, end) && (left -= std::exp(-total)) < 0.0) return kUnlabeled;
        std::uint32_t label = 0;
        while (label + 1 < scores_.labels && (left -= std::exp(row[label] - total)) >= 0.0) ++label;
        return label;
    }

    std::uint32_t draw_split(std::uint32_t begin, std::uint32_t end, double left) const {
        std::uint32_t split = begin + 1;
        for (; split + 1 < end; ++split)
            if ((left -= std::exp(sums_.child(begin, split) + sums_.tail(split, end) - sums_.row(begin, end))) < 0.0)
                break;
        return split;
    }

    SpanScores scores_;
    const InsideOutside& sums_;
};

}  // namespace sapwood::parse
