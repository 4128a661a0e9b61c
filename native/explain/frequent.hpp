// All fragments that enough elements hold: grown from every production, as long as they stay frequent.
//
// A fragment grown further is held by no more elements than before, so whatever falls below the least number can be
// dropped with all that would grow from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/parallel.hpp"
#include "explain/fragments.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct FrequentOptions {
    std::size_t least_elements;  // that must hold a fragment
    std::size_t size_limit;      // productions; 0: none
    std::size_t height_limit;    // 0: none
    std::size_t most;            // fragments; more are an error
};

class FrequentFragments {
  public:
    FrequentFragments(const Arena& arena, const Bags& bags, const FrequentOptions& options, const Control& control)
        : arena_(arena),
          bags_(bags),
          options_(options),
          control_(control),
          begin_(arena.size() + 1, 0),
          stamp_(bags.size(), 0) {
        for (const Node node : bags.numbers) ++begin_[node + 1];
        for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        holder_.resize(bags.numbers.size());
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (std::size_t i = 0; i < bags.size(); ++i)
            for (const Node node : bags.numbers_of(i)) holder_[next[node]++] = static_cast<std::uint32_t>(i);
    }

    // Writes the fragments into `out` as trees, smaller ones before larger ones of the same root production.
    std::vector<Node> run(Arena& out) {
        const FragmentSide sides[1] = {{arena_, arena_.productions()}};
        FragmentGrower<1> grower(sides, options_.height_limit);
        std::vector<Pair> pairs;
        for (Node node = 0; node < arena_.size(); ++node)
            if (begin_[node] != begin_[node + 1] && !arena_.is_leaf(node))
                pairs.push_back({arena_.production_of(node), node});
        std::stable_sort(pairs.begin(), pairs.end(), before);
        for_each_group(pairs, [&](std::span<const Pair> group) {
            if (holders(group) < options_.least_elements) return;
            const std::uint32_t step = emit({kNone, 0, group[0].production});
            if (options_.size_limit == 1) return;
            roots_.clear();
            for (const Pair& pair : group) roots_.push_back(pair.root);
            const std::span<const Node> starts[1] = {roots_};
            auto grown = std::make_shared<Grown>(grower.start(step, arity(group[0].production), starts));
            if (!grown->open.empty()) expand(grown);
            grow_all(grower);
        });
        FragmentWriter writer(arena_, out);
        std::vector<Node> roots;
        roots.reserve(steps_.size());
        for (std::uint32_t step = 0; step < steps_.size(); ++step) {
            if (step % 1024 == 0) control_.check();
            roots.push_back(writer.write(steps_, step));
        }
        return roots;
    }

  private:
    using Grown = GrownFragment<1>;
    struct Pair {
        Production production;
        Node root;
    };
    struct Waiting {
        std::shared_ptr<const Grown> from;
        std::uint32_t at, step;
    };

    static bool before(const Pair& a, const Pair& b) { return a.production < b.production; }

    std::size_t arity(Production production) const { return arena_.children(arena_.sample(production)).size(); }

    template <class Use>
    static void for_each_group(const std::vector<Pair>& pairs, Use use) {
        for (std::size_t begin = 0; begin < pairs.size();) {
            std::size_t end = begin;
            while (end < pairs.size() && pairs[end].production == pairs[begin].production) ++end;
            use(std::span(pairs).subspan(begin, end - begin));
            begin = end;
        }
    }

    // How many elements hold some of these nodes; counts no further than it has to.
    std::size_t holders(std::span<const Pair> group) {
        ++now_;
        std::size_t found = 0;
        for (const Pair& pair : group)
            for (std::size_t k = begin_[pair.root]; k < begin_[pair.root + 1]; ++k) {
                if (stamp_[holder_[k]] == now_) continue;
                stamp_[holder_[k]] = now_;
                if (++found >= options_.least_elements) return found;
            }
        return found;
    }

    std::uint32_t emit(const FragmentStep& step) {
        if (steps_.size() >= options_.most) throw TooManyFragmentsError();
        steps_.push_back(step);
        return static_cast<std::uint32_t>(steps_.size() - 1);
    }

    void grow_all(FragmentGrower<1>& grower) {
        while (!waiting_.empty()) {
            const Waiting next = std::move(waiting_.back());
            waiting_.pop_back();
            const Production production = steps_[next.step].production;
            auto grown =
                std::make_shared<Grown>(grower.grow(*next.from, next.at, production, next.step, arity(production)));
            if (!grown->open.empty()) expand(grown);
        }
    }

    void expand(const std::shared_ptr<const Grown>& grown) {
        const std::size_t width = grown->open.size();
        const FragmentRows& rows = grown->rows[0];
        if ((work_ += rows.fillings.size() + 64) > 1000000) {
            control_.check();
            work_ = 0;
        }
        for (std::uint32_t at = 0; at < width; ++at) {
            pairs_.clear();
            for (std::size_t i = 0; i < rows.roots.size(); ++i)
                if (const Node filling = rows.fillings[i * width + at]; filling != kNone)
                    pairs_.push_back({arena_.production_of(filling), rows.roots[i]});
            std::stable_sort(pairs_.begin(), pairs_.end(), before);
            for_each_group(pairs_, [&](std::span<const Pair> group) {
                if (holders(group) < options_.least_elements) return;
                const std::uint32_t step = emit({grown->step, grown->open[at].number, group[0].production});
                if (grown->size + 1 != options_.size_limit) waiting_.push_back({grown, at, step});
            });
        }
    }

    const Arena& arena_;
    const Bags& bags_;
    FrequentOptions options_;
    const Control& control_;
    std::vector<std::size_t> begin_;     // per node: where its holders start
    std::vector<std::uint32_t> holder_;  // elements
    std::vector<std::size_t> stamp_;     // per element
    std::size_t now_ = 0, work_ = 0;
    std::vector<FragmentStep> steps_;
    std::vector<Waiting> waiting_;
    std::vector<Pair> pairs_;
    std::vector<Node> roots_;
};

// The distinct subtrees with children that enough elements hold.
inline std::vector<Node> frequent_subtrees(const Arena& arena, const Bags& bags, std::size_t least_elements) {
    std::vector<std::size_t> holders(arena.size(), 0);
    for (const Node node : bags.numbers) ++holders[node];
    std::vector<Node> result;
    for (Node node = 0; node < arena.size(); ++node)
        if (!arena.is_leaf(node) && holders[node] > 0 && holders[node] >= least_elements) result.push_back(node);
    return result;
}

}  // namespace sapwood
