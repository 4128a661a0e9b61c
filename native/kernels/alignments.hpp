// Sums over the ways to align what is left of two productions, where the ways are too many to list.
//
// Both recursions run over prefixes and add non-negative terms only (for non-negative child values); a child that has
// to stay has deletion weight 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// A production reduced to one of its forms: labels of the children and of the form, what deleting a child costs, and
// with strict heads which child of the form must be the head of the production.
struct Reduction {
    std::span<const std::uint32_t> labels;
    std::span<const double> deletion;
    std::uint32_t head;
    const std::uint32_t* form;
    std::size_t length;
    std::uint32_t form_head;  // kNone: not strict

    // Whether child i may become child t of the form.
    bool fits(std::size_t i, std::size_t t) const {
        return labels[i] == form[t] && (form_head == kNone || (i == head) == (t == form_head));
    }
};

class Alignments {
  public:
    // The sum over all embeddings of both forms of the product of value(i, j) over aligned children and of the deletion
    // weights. G(t, i, j) is the sum over prefixes i and j that have given t children of the form; deletions on the
    // right come last, so that each pair of embeddings is met once.
    template <class Value>
    double both(const Reduction& left, const Reduction& right, Value value) {
        const std::size_t m = left.labels.size(), n = right.labels.size(), width = n + 1;
        before_.assign((m + 1) * width, 0.0);
        // t = 0: everything so far is deleted.
        before_[0] = 1.0;
        for (std::size_t i = 1; i <= m; ++i) before_[i * width] = left.deletion[i - 1] * before_[(i - 1) * width];
        for (std::size_t i = 0; i <= m; ++i)
            for (std::size_t j = 1; j <= n; ++j)
                before_[i * width + j] = right.deletion[j - 1] * before_[i * width + j - 1];
        for (std::size_t t = 0; t < left.length; ++t) {
            after_.assign((m + 1) * width, 0.0);
            matched_.assign(width, 0.0);  // P(t, i, .): child j was matched last
            for (std::size_t i = t + 1; i <= m; ++i) {
                const bool here = left.fits(i - 1, t);
                double sum = 0.0;
                for (std::size_t j = t + 1; j <= n; ++j) {
                    double& matched = matched_[j];
                    matched *= left.deletion[i - 1];
                    if (here && right.fits(j - 1, t))
                        if (const double way = before_[(i - 1) * width + j - 1]; way != 0.0)
                            matched += way * value(i - 1, j - 1);
                    sum = right.deletion[j - 1] * sum + matched;
                    after_[i * width + j] = sum;
                }
            }
            before_.swap(after_);
        }
        return before_[m * width + n];
    }

    // The same against `count` lists of children at once: value(i, t) gives a pointer to the values of child i against
    // child t of each list. out must hold `count` numbers.
    template <class Value>
    void left_only(const Reduction& left, std::size_t count, Value value, double* out) {
        const std::size_t m = left.labels.size();
        before_.assign((m + 1) * count, 0.0);
        for (std::size_t k = 0; k < count; ++k) before_[k] = 1.0;
        for (std::size_t i = 1; i <= m; ++i)
            for (std::size_t k = 0; k < count; ++k)
                before_[i * count + k] = left.deletion[i - 1] * before_[(i - 1) * count + k];
        for (std::size_t t = 0; t < left.length; ++t) {
            after_.assign((m + 1) * count, 0.0);
            for (std::size_t i = t + 1; i <= m; ++i) {
                const double* up = after_.data() + (i - 1) * count;
                double* own = after_.data() + i * count;
                const double deletion = left.deletion[i - 1];
                for (std::size_t k = 0; k < count; ++k) own[k] = deletion * up[k];
                if (!left.fits(i - 1, t)) continue;
                const double* way = before_.data() + (i - 1) * count;
                const double* values = value(i - 1, t);
                for (std::size_t k = 0; k < count; ++k) own[k] += way[k] * values[k];
            }
            before_.swap(after_);
        }
        for (std::size_t k = 0; k < count; ++k) out[k] = before_[m * count + k];
    }

  private:
    std::vector<double> before_, after_, matched_;
};

}  // namespace sapwood
