// How much fragments of aligned kernels (see explain/aligned.hpp) can gain by growing below a node: the bound of their
// search.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "explain/aligned.hpp"
#include "explain/growth.hpp"
#include "trees/arena.hpp"

namespace sapwood {

struct AlignedCosts {
    double phrase, word;  // of a production, and of a tag with its word
    bool ignore_words;    // then the word of every tag is 0, and is written as a star
};

// What expanding a tag inside a production adds to its similarity.
inline double beneath(const AlignedSide::Label& label) { return label.mutates ? 1.0 : label.weights.same; }

// Per subtree of both sides: what expanding it multiplies by at most. Costs and similarity are on the model's side.
class AlignedGrowth {
  public:
    std::vector<double> theirs, mine;

    AlignedGrowth(const AlignedSide& their_side, const AlignedSide& my_side, const SimilarWords& similar,
                  const AlignedCosts& costs, std::size_t keys)
        : theirs(their_side.arena.size(), 0.0), mine(my_side.arena.size(), 0.0) {
        std::vector<bool> held(keys, false);
        for (const Variant& variant : my_side.variants) held[variant.key] = true;
        const auto of_tag = [&](Node tag) {
            double most = 0.0;
            for (const SimilarWords::Match& match : similar.of(their_side.word(tag)))
                most = std::max(most, std::abs(match.value));
            return costs.word * most * beneath(their_side.label[their_side.arena.label(tag)]);
        };
        const auto of_variant = [&](const Variant& variant) {
            if (!held[variant.key]) return 0.0;
            double product = costs.phrase * variant.weight;
            for (const Node kid : their_side.kids_of(variant)) {
                const AlignedSide::Label& label = their_side.label[their_side.arena.label(kid)];
                const double tags = label.mutates ? std::max(1.0, label.weights.same) : 1.0;
                product = std::min(kLargestGrowth, product * tags * std::max(1.0, theirs[kid]));
            }
            return product;
        };
        sum_up(their_side, theirs, keys, [](const Variant& v) { return v.key; }, of_tag, of_variant);
        const auto of_my_variant = [&](const Variant& variant) {
            double product = variant.weight;
            for (const Node kid : my_side.kids_of(variant))
                product = std::min(kLargestGrowth, product * std::max(1.0, mine[kid]));
            return product;
        };
        sum_up(
            my_side, mine, my_side.own_count, [](const Variant& v) { return v.own; }, [](Node) { return 1.0; },
            of_my_variant);
    }

  private:
    using Kind = AlignedSide::Kind;
    using Variant = AlignedSide::Variant;

    // For a phrase: the largest sum over its variants that go together. Children come before their parents.
    template <class Number, class OfTag, class OfVariant>
    static void sum_up(const AlignedSide& side, std::vector<double>& growth, std::size_t count, Number number,
                       OfTag of_tag, OfVariant of_variant) {
        std::vector<double> sum(count, 0.0);
        for (Node node = 0; node < side.arena.size(); ++node) {
            if (side.kind[node] == Kind::tag) growth[node] = of_tag(node);
            if (side.kind[node] != Kind::phrase) continue;
            for (const Variant& variant : side.variants_of(node)) {
                double& total = sum[number(variant)];
                total += of_variant(variant);
                growth[node] = std::min(kLargestGrowth, std::max(growth[node], total));
            }
            for (const Variant& variant : side.variants_of(node)) sum[number(variant)] = 0.0;
        }
    }
};

}  // namespace sapwood
