// How each syntactic kernel scores trees under a model: through an index where there is one that pays.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/fragment_index.hpp"
#include "kernels/model.hpp"
#include "kernels/partial.hpp"
#include "kernels/partial_index.hpp"
#include "kernels/scoring.hpp"
#include "kernels/subset.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

// Scores by the walk that also fills Gram matrices.
template <class Columns>
void score(const Model<Columns>& model, const Arena& arena, const Elements& elements, double* out, std::size_t threads,
           Control& control) {
    model.evaluate(arena, make_bags(arena, elements.roots, elements.ends, elements.one_each, threads), out, threads,
                   control);
}

// Through an index, or by the walk where there is none.
template <class Index, class Columns>
class Scorer {
  public:
    bool indexed() const { return index_.has_value(); }
    std::size_t outputs() const { return index_ ? index_->outputs() : model_->outputs(); }
    std::size_t bytes() const { return index_ ? index_->bytes() : model_->bytes(); }
    void score(const Arena& arena, const Elements& elements, double* out, std::size_t threads, Control& control) const {
        if (index_)
            sapwood::score(*index_, arena, elements, out, threads, control);
        else
            sapwood::score(*model_, arena, elements, out, threads, control);
    }

  protected:
    // weights: elements x outputs, row major. The arena must outlive the scorer and not change.
    template <class Options>
    Scorer(bool indexed, const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
           const Options& options) {
        if (indexed)
            index_.emplace(arena, bags, weights, outputs, options);
        else
            model_.emplace(Columns(arena, bags, options), arena, bags, weights, outputs);
    }

  private:
    std::optional<Index> index_;
    std::optional<Model<Columns>> model_;
};

class SubsetScorer : public Scorer<FragmentIndex, SubsetColumns> {
  public:
    SubsetScorer(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                 const SubsetOptions& options)
        : Scorer(reach(arena, bags, options) <= kTall, arena, bags, weights, outputs, options) {}

  private:
    // Comparing two subtrees may walk down all of both; the other method goes bottom up, one step for each pair.
    static constexpr std::size_t kTall = 128;

    // How far down two fragments may be compared.
    static std::size_t reach(const Arena& arena, const Bags& bags, const SubsetOptions& options) {
        std::vector<std::size_t> height(arena.size(), 0);
        for (Node node = 0; node < arena.size(); ++node)
            for (const Node child : arena.children(node)) height[node] = std::max(height[node], height[child] + 1);
        std::size_t most = 0;
        for (const Node node : bags.numbers) most = std::max(most, height[node]);
        return options.height_limit == 0 ? most : std::min(most, options.height_limit);
    }
};

class PartialScorer : public Scorer<PartialIndex, PartialColumns> {
  public:
    // The index takes sequences of any length and leaves that count, which is what nearly everybody wants.
    PartialScorer(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                  const PartialOptions& options)
        : Scorer(options.leaves && options.max_subsequence == 0, arena, bags, weights, outputs, options) {}
};

}  // namespace sapwood
