// What is left of a production when optional children are deleted.
//
// A *form* is a shorter sequence of child labels that is itself a rule and keeps the head and every protected child.
// An *embedding* of a form says which children stay. Several embeddings may leave the same form, exponentially many in
// the length of the production, so they are counted before they are listed. Forms are found by walking the trie of
// rules with the set of positions that the walk can have reached; subsets of children are never enumerated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/rule_set.hpp"

namespace sapwood {

// A production as the rules see it.
struct Pattern {
    Symbol left = kNone;                // in the rule set
    std::vector<std::uint32_t> labels;  // of the children, with their marks
    std::vector<Symbol> symbols;        // the same in the rule set, without marks; kNone: no rule mentions it
    std::vector<std::uint8_t> kept;     // 1: may not be deleted
    std::uint32_t head = kNone;         // kNone: nothing can be deleted

    std::size_t size() const { return labels.size(); }
};

// The ways to delete children of a pattern so that a form is left.
class Embeddings {
  public:
    // With `strict` the head of the pattern must become child `head` of the form.
    void prepare(const Pattern& pattern, std::span<const std::uint32_t> form, bool strict, std::uint32_t head) {
        pattern_ = &pattern;
        form_ = form;
        strict_ = strict;
        head_ = head;
        width_ = pattern.size() + 1;
        const std::size_t length = form.size(), size = pattern.size();
        // ways(t, i): how the children from i on can give the form from t on.
        ways_.assign((length + 1) * width_, 0.0);
        ways_[length * width_ + size] = 1.0;
        for (std::size_t i = size; i-- > 0;)
            for (std::size_t t = 0; t <= length; ++t) {
                double ways = pattern.kept[i] ? 0.0 : ways_[t * width_ + i + 1];
                if (t < length && fits(t, i)) ways += ways_[(t + 1) * width_ + i + 1];
                ways_[t * width_ + i] = ways;
            }
    }

    double count() const { return ways_[0]; }

    // Calls found(slots) for each embedding, leftmost first, until it returns false.
    template <class Found>
    void list(Found found) {
        const std::size_t length = form_.size(), size = pattern_->size();
        slots_.resize(length);
        for (std::size_t t = 0, i = 0;;) {
            if (t == length) {
                if (!found(std::span<const std::uint32_t>(slots_))) return;
            } else {
                while (i < size && !(fits(t, i) && ways_[(t + 1) * width_ + i + 1] > 0.0))
                    i = pattern_->kept[i] ? size : i + 1;
                if (i < size) {
                    slots_[t++] = static_cast<std::uint32_t>(i++);
                    continue;
                }
            }
            // Back to the last choice that can still move to the right.
            do {
                if (t == 0) return;
                i = slots_[--t];
            } while (pattern_->kept[i]);
            ++i;
        }
    }

  private:
    bool fits(std::size_t t, std::size_t i) const {
        return pattern_->labels[i] == form_[t] && (!strict_ || (i == pattern_->head) == (t == head_));
    }

    const Pattern* pattern_ = nullptr;
    std::span<const std::uint32_t> form_;
    bool strict_ = false;
    std::uint32_t head_ = kNone;
    std::size_t width_ = 0;
    std::vector<double> ways_;
    std::vector<std::uint32_t> slots_;
};

// Finds the shorter forms of a pattern.
class FormFinder {
  public:
    explicit FormFinder(const RuleSet& rules) : rules_(rules) {}

    // Calls found(labels of the form, head position of that rule, embeddings).
    template <class Found>
    void find(const Pattern& pattern, Found found) {
        const std::size_t size = pattern.size();
        const std::uint32_t root = rules_.root(pattern.left);
        if (pattern.head == kNone || root == kNone || size <= rules_.min_children()) return;
        prepare(pattern);
        frames_.clear();
        form_.clear();
        reached_.assign(1, 0);
        frames_.push_back({root, 0, 1, 0});
        while (!frames_.empty()) {
            Frame& frame = frames_.back();
            if (frame.next == distinct_.size()) {
                reached_.resize(frame.begin);
                frames_.pop_back();
                if (!form_.empty()) form_.pop_back();
                continue;
            }
            const std::uint32_t sample = distinct_[frame.next++];
            const std::uint32_t place =
                pattern.symbols[sample] == kNone ? kNone : rules_.child(frame.place, pattern.symbols[sample]);
            if (place == kNone) continue;
            const std::size_t begin = reached_.size();
            const bool complete = advance(pattern, frame.begin, frame.end, pattern.labels[sample]);
            if (reached_.size() == begin) continue;
            form_.push_back(pattern.labels[sample]);
            const std::size_t length = form_.size();
            if (complete && rules_.head(place) != kNone && length >= rules_.min_children() && length < size &&
                size - length <= rules_.max_deletions()) {
                embeddings_.prepare(pattern, form_, rules_.strict_head(), rules_.head(place));
                if (embeddings_.count() > 0.0)
                    found(std::span<const std::uint32_t>(form_), rules_.head(place), embeddings_);
            }
            if (length + 1 < size) {
                frames_.push_back({place, begin, reached_.size(), 0});
            } else {
                reached_.resize(begin);
                form_.pop_back();
            }
        }
    }

  private:
    // A place in the trie with the positions after which the walk can stand there: reached_[begin, end).
    struct Frame {
        std::uint32_t place;
        std::size_t begin, end;
        std::size_t next;
    };

    void prepare(const Pattern& pattern) {
        const std::size_t size = pattern.size();
        distinct_.clear();
        for (std::uint32_t i = 0; i < size; ++i)
            if (std::find(pattern.labels.begin(), pattern.labels.begin() + i, pattern.labels[i]) ==
                pattern.labels.begin() + i)
                distinct_.push_back(i);
        // From a position one may go on as far as the next child that has to stay.
        limit_.resize(size + 1);
        limit_[size] = size;
        for (std::size_t i = size; i-- > 0;) limit_[i] = pattern.kept[i] ? i : limit_[i + 1];
    }

    // Adds the positions reached by one more child with this label; returns whether the walk may end there.
    bool advance(const Pattern& pattern, std::size_t begin, std::size_t end, std::uint32_t label) {
        bool complete = false;
        std::size_t from = begin, reach = 0;
        bool open = false;
        for (std::size_t i = reached_[begin]; i < pattern.size(); ++i) {
            for (; from < end && reached_[from] <= i; ++from) {
                open = true;
                reach = std::max(reach, limit_[reached_[from]]);
            }
            if (!open || i > reach || pattern.labels[i] != label) continue;
            reached_.push_back(i + 1);
            complete |= limit_[i + 1] == pattern.size();
        }
        return complete;
    }

    const RuleSet& rules_;
    Embeddings embeddings_;
    std::vector<Frame> frames_;
    std::vector<std::size_t> reached_, limit_;
    std::vector<std::uint32_t> distinct_, form_;
};

}  // namespace sapwood
