// Indexes that score trees agree with the sums of kernels they stand for, whatever the trees share.
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/object_pool.hpp"
#include "kernels/fragment_index.hpp"
#include "kernels/partial_index.hpp"
#include "kernels/plan_cache.hpp"
#include "kernels/scorers.hpp"
#include "kernels/scoring.hpp"
#include "kernels/subtree_index.hpp"
#include "test/check.hpp"
#include "test/kernels.hpp"
#include "test/plain.hpp"
#include "trees/brackets.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

SubtreeIndex index_of(const SubtreeKernel& kernel, const Arena& arena, const Bags& bags, const double* weights,
                      std::size_t outputs) {
    return SubtreeIndex(arena, bags, weights, outputs, kernel.decay);
}
FragmentIndex index_of(const SubsetKernel& kernel, const Arena& arena, const Bags& bags, const double* weights,
                       std::size_t outputs) {
    return FragmentIndex(arena, bags, weights, outputs, kernel.options);
}
// With so little room for plans that they are made anew every few nodes.
PartialIndex index_of(const PartialKernel& kernel, const Arena& arena, const Bags& bags, const double* weights,
                      std::size_t outputs) {
    return PartialIndex(arena, bags, weights, outputs, kernel.options, 100);
}

// Elements in an arena, with their bags.
struct Trees {
    Arena arena;
    std::vector<Node> roots;
    std::vector<std::uint64_t> ends;

    void add(const std::vector<Bag>& bags) {
        for (const Bag& bag : bags) {
            for (const Plain& tree : bag) roots.push_back(intern(tree, arena));
            ends.push_back(roots.size());
        }
    }
    void read(const std::string& text) {
        BracketReader reader(text, {});
        for (Node root; reader.next(arena, root);) {
            roots.push_back(root);
            ends.push_back(roots.size());
        }
    }
    Elements elements() const { return {roots, ends, false}; }
    Bags bags() const { return make_bags(arena, roots, ends, false); }
};

template <class Index>
std::vector<double> scores(const Index& index, const Trees& rows, std::size_t threads = 1) {
    Control control;
    std::vector<double> out(rows.ends.size() * index.outputs(), -1.0);
    score(index, rows.arena, rows.elements(), out.data(), threads, control);
    CHECK(control.done == rows.ends.size());
    return out;
}

template <class Kernel>
void check_scores(const Kernel& kernel, const Trees& support, const Trees& rows, std::size_t outputs,
                  RandomTrees& random) {
    std::vector<double> weights(support.ends.size() * outputs);
    for (double& weight : weights) weight = random.real();
    const Bags bags = support.bags();
    const auto index = index_of(kernel, support.arena, bags, weights.data(), outputs);
    const std::vector<double> found = scores(index, rows);
    CHECK(found == scores(index, rows, 2));
    const std::vector<double> K = gram_of(kernel, rows.arena, rows.bags(), support.arena, bags);
    const std::size_t count = support.ends.size();
    for (std::size_t i = 0; i < rows.ends.size(); ++i)
        for (std::size_t o = 0; o < outputs; ++o) {
            double expected = 0.0, scale = 0.0;
            for (std::size_t k = 0; k < count; ++k) {
                expected += K[i * count + k] * weights[k * outputs + o];
                scale += K[i * count + k] * std::abs(weights[k * outputs + o]);
            }
            CHECK(std::abs(found[i * outputs + o] - expected) <= 1e-11 * std::max(1.0, scale));
        }
}

template <class Test>
void for_every_indexed_kernel(Test test) {
    for_every_kernel([&](const auto& kernel) {
        if constexpr (std::is_same_v<std::decay_t<decltype(kernel)>, PartialKernel>) {
            if (kernel.options.max_subsequence != 0 || !kernel.options.leaves) return;
        }
        test(kernel);
    });
    test(PartialKernel{{0.4, 0.3, 0, true, 0.5}});
}

TEST(scores_are_weighted_sums_of_kernels) {
    RandomTrees random(700);
    Trees support, rows;
    support.add(random.bags(40));
    rows.add(random.bags(19));
    Trees both = support;
    both.roots.clear();
    both.ends.clear();
    both.add(random.bags(15));
    for (const std::size_t outputs : {1, 3})
        for_every_indexed_kernel([&](const auto& kernel) {
            check_scores(kernel, support, rows, outputs, random);
            check_scores(kernel, support, support, outputs, random);
        });
    // Rows that live in the arena of the model.
    std::vector<double> weights(support.ends.size());
    for (double& weight : weights) weight = random.real();
    for_every_indexed_kernel([&](const auto& kernel) {
        const Bags bags = make_bags(both.arena, support.roots, support.ends, false);
        const auto own = index_of(kernel, both.arena, bags, weights.data(), 1);
        const auto apart = index_of(kernel, support.arena, support.bags(), weights.data(), 1);
        const std::vector<double> a = scores(own, both), b = scores(apart, both);
        for (std::size_t i = 0; i < a.size(); ++i) CHECK_CLOSE(a[i], b[i]);
    });
}

// Sentences of one pattern: what they share is found in hundreds of them, and goes several productions deep. Some
// phrases are wider than four, and some have a leaf where others have a subtree.
std::string sentence(RandomTrees& random) {
    static const char* const kVerbs[] = {"saw", "has"};
    std::string text = "(S ";
    const auto noun = [&] { return "(NN n" + std::to_string(random.below(40)) + ")"; };
    const auto phrase = [&] {
        switch (random.below(7)) {
            case 0:
                return "(NP (DT the) " + noun() + ")";
            case 3:
                return "(NP DT " + noun() + ")";
            case 4:
                return "(NP (DT the) (JJ old) (JJ red) (NN brick) " + noun() + ")";
            case 5:
                return "(NP (DT the) (NP " + noun() + ") (JJ old) (NP (DT a) " + noun() + ") (JJ red) " + noun() + ")";
            case 1:
                return "(NP (DT a) (JJ old) " + noun() + ")";
            case 2:
                return "(NP " + noun() + ")";
            default:
                return "(NP (NP (DT the) " + noun() + ") (PP (IN of) (NP " + noun() + ")))";
        }
    };
    text += phrase() + " (VP (VB " + kVerbs[random.below(2)] + ") " + phrase();
    if (random.below(2) == 0) text += " (PP (IN of) " + phrase() + ")";
    return text + ") (. .))";
}

TEST(shared_fragments_are_followed) {
    RandomTrees random(701);
    std::string text, more = "(S (NP (NN cow)) (VP (VB saw)) (. .)) (X y)";
    for (int i = 0; i < 400; ++i) text += sentence(random);
    for (int i = 0; i < 60; ++i) more += sentence(random);
    Trees support, rows;
    support.read(text);
    rows.read(more);
    const std::vector<double> ones(support.ends.size(), 1.0);
    const FragmentIndex index(support.arena, support.bags(), ones.data(), 1, {0.4, false, 0});
    CHECK(index.fragments() > 4 * index.productions());
    for_every_indexed_kernel([&](const auto& kernel) { check_scores(kernel, support, rows, 2, random); });
}

// A few trees of a large store are found without going through the store, and score the same to the last bit.
TEST(trees_score_alone_as_they_do_together) {
    RandomTrees random(706);
    std::string text, model;
    for (int i = 0; i < 600; ++i) text += sentence(random);
    for (int i = 0; i < 80; ++i) model += sentence(random);
    Trees rows, support;
    rows.read(text + " (X y) (S (NP (NN cow)) (VP (VB saw)) (. .))");
    support.read(model);
    CHECK(rows.arena.size() > 2048);
    std::vector<double> weights(support.ends.size());
    for (double& weight : weights) weight = random.real();
    for_every_indexed_kernel([&](const auto& kernel) {
        const auto index = index_of(kernel, support.arena, support.bags(), weights.data(), 1);
        const std::vector<double> together = scores(index, rows);
        for (std::size_t i = 0; i < together.size(); i += 30) {
            for (const std::size_t count : {std::size_t{1}, std::min<std::size_t>(9, together.size() - i)}) {
                std::vector<double> alone(count, -1.0);
                Control control;
                score(index, rows.arena, Elements{std::span<const Node>(rows.roots).subspan(i, count), {}, true},
                      alone.data(), 1, control);
                for (std::size_t k = 0; k < count; ++k) CHECK(alone[k] == together[i + k]);
            }
        }
    });
}

struct CountedPlan {
    std::uint32_t number = 0;
    std::size_t size() const { return 10; }
};

// Plans that are used again and again stay; what the others hold is bounded.
TEST(plans_in_use_are_kept) {
    std::vector<std::size_t> made(5000, 0);
    PlanCache<CountedPlan> plans(100000);
    const auto ask = [&](std::uint32_t number) {
        const CountedPlan& plan = plans.get({7, number}, [&](CountedPlan& fresh) {
            fresh.number = number;
            ++made[number];
        });
        CHECK(plan.number == number);
    };
    for (int turn = 0; turn < 3; ++turn)
        for (std::uint32_t number = 1; number < made.size(); ++number) {
            ask(number);
            ask(0);
            ask(number);
        }
    CHECK(made[0] == 1);
    for (std::size_t number = 1; number < made.size(); ++number) CHECK(made[number] == 3);
}

// A full pool drops what is released; no object is given out twice.
TEST(object_pools_have_a_capacity) {
    ObjectPool<int> pool(2);
    const auto take = [&](int fresh) { return pool.acquire([&] { return std::make_unique<int>(fresh); }); };
    auto a = take(1), b = take(2), c = take(3);
    CHECK(*a == 1 && *b == 2 && *c == 3);
    pool.release(std::move(a));
    pool.release(std::move(b));
    pool.release(std::move(c));
    b = take(4);
    a = take(5);
    c = take(6);
    CHECK(*b == 2 && *a == 1 && *c == 6);
}

// What one call leaves to the next must not show, whatever was scored before, by how many, and where it was stopped.
TEST(plans_outlive_a_call) {
    RandomTrees random(707);
    Trees support, rows, others;
    std::string text[3];
    for (std::string& some : text)
        for (int i = 0; i < 150; ++i) some += sentence(random);
    support.read(text[0]);
    rows.read(text[1] + "(S (NP (NN cow)) (NP (NN n1) (NN n2) (NN n3) (NN n4) (NN n5)))");
    others.read(text[2]);
    std::vector<double> weights(support.ends.size());
    for (double& weight : weights) weight = random.real();
    const Bags bags = support.bags();
    for (const std::size_t room : {std::size_t{0}, std::size_t{100}, std::size_t{3000}, std::size_t{1} << 24}) {
        const auto fresh = [&] {
            return PartialIndex(support.arena, bags, weights.data(), 1, {0.4, 0.3, 0, true, 1.0}, room);
        };
        const std::vector<double> first = scores(fresh(), rows), second = scores(fresh(), others);
        const PartialIndex index = fresh();
        for (int turn = 0; turn < 3; ++turn) {
            CHECK(scores(index, rows) == first);
            Control control;
            control.cancel = turn > 0;
            std::vector<double> out(others.ends.size());
            try {
                score(index, others.arena, others.elements(), out.data(), 2, control);
            } catch (const Cancelled&) {
            }
            std::vector<double> found[2];
            std::thread beside([&] { found[0] = scores(index, rows, 2); });
            found[1] = scores(index, others);
            beside.join();
            CHECK(found[0] == first && found[1] == second);
        }
    }
}

// Trees that differ in one word only share so many fragments that no index could hold them.
TEST(near_copies_do_not_explode) {
    RandomTrees random(702);
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text += "(S";
        for (int k = 0; k < 30; ++k) text += " (A" + std::to_string(k % 4) + " (B (C c) (D d)))";
        text += " (W w" + std::to_string(i) + "))";
    }
    Trees trees;
    trees.read(text);
    const std::vector<double> ones(trees.ends.size(), 1.0);
    const FragmentIndex index(trees.arena, trees.bags(), ones.data(), 1, {0.1, false, 0});
    CHECK(index.bytes() < 4000000);
    check_scores(SubsetKernel{{0.1, false, 0}}, trees, trees, 1, random);
    // So many pairs of children match that partial trees are summed up without a plan.
    trees.roots.resize(20);
    trees.ends.resize(20);
    for (const double factor : {1.0, 0.5})
        check_scores(PartialKernel{{0.4, 0.3, 0, true, factor}}, trees, trees, 2, random);
}

TEST(depth_and_width_have_no_limit) {
    constexpr std::size_t kMany = 100000;
    Trees trees;
    const auto label = [&](const char* text) { return trees.arena.symbols.intern(text); };
    for (const char* word : {"u", "v"}) {
        Node deep = trees.arena.leaf(label(word));
        for (std::size_t i = 0; i < kMany; ++i) deep = trees.arena.node(label("A"), {&deep, 1});
        std::vector<Node> kids;
        for (std::size_t i = 0; i < kMany; ++i) {
            const Node leaf = trees.arena.leaf(label(i % 2 ? word : "w"));
            kids.push_back(trees.arena.node(label("B"), {&leaf, 1}));
        }
        for (const Node root : {deep, trees.arena.node(label("W"), kids)}) {
            trees.roots.push_back(root);
            trees.ends.push_back(trees.roots.size());
        }
    }
    const std::vector<double> weights{1.0, 2.0, 3.0, 4.0};
    for (const std::size_t height : {0, 3}) {
        // Against itself a chain would have more pairs than a test can wait for, so the chains are scored with the
        // other.
        const Bags some = make_bags(trees.arena, std::span<const Node>(trees.roots).subspan(1, 1), {}, true);
        const FragmentIndex index(trees.arena, some, weights.data(), 1, {1e-6, false, height});
        for (const double value : scores(index, trees)) CHECK(std::isfinite(value));
    }
    const SubtreeIndex index(trees.arena, trees.bags(), weights.data(), 1, 0.5);
    for (const double value : scores(index, trees)) CHECK(std::isfinite(value));
}

// Where each subtree of a long chain resembles all the others, comparing two must not mean walking down both every
// time.
TEST(long_chains_are_scored_bottom_up) {
    RandomTrees random(704);
    for (const int length : {100, 2000}) {
        Trees trees;
        const auto label = [&](const std::string& text) { return trees.arena.symbols.intern(text); };
        for (int t = 0; t < 2; ++t) {
            Node chain = trees.arena.leaf(label("end" + std::to_string(t)));
            for (int i = 0; i < length; ++i) {
                const Node word = trees.arena.leaf(label(random.below(9) == 0 ? "x" : "y"));
                const std::vector<Node> kids{trees.arena.node(label("W"), {&word, 1}), chain};
                chain = trees.arena.node(label("A"), kids);
            }
            trees.roots.push_back(chain);
            trees.ends.push_back(trees.roots.size());
        }
        const std::vector<double> weights{1.0, 0.5};
        const SubsetOptions options{0.01, false, 0};
        const SubsetScorer scorer(trees.arena, trees.bags(), weights.data(), 1, options);
        CHECK(scorer.indexed() == (length == 100));
        CHECK(SubsetScorer(trees.arena, trees.bags(), weights.data(), 1, {0.01, false, 3}).indexed());
        std::vector<double> found(2, -1.0);
        Control control;
        scorer.score(trees.arena, trees.elements(), found.data(), 1, control);
        CHECK(scorer.outputs() == 1 && scorer.bytes() > 0);
        const std::vector<double> K = gram_of(SubsetKernel{options}, trees.arena, trees.bags());
        // A sum of millions of equal terms is only good to some ten digits.
        for (int i = 0; i < 2; ++i) CHECK(std::abs(found[i] - (K[2 * i] + 0.5 * K[2 * i + 1])) <= 1e-9 * found[i]);
    }
}

// A scorer takes the index where it can, and gives the same where it cannot.
TEST(partial_trees_are_scored_with_all_options) {
    RandomTrees random(705);
    std::string text;
    for (int i = 0; i < 60; ++i) text += sentence(random);
    Trees trees;
    trees.read(text);
    std::vector<double> weights(trees.ends.size());
    for (double& weight : weights) weight = random.real();
    for (const std::size_t longest : {0, 2})
        for (const bool leaves : {true, false}) {
            const PartialOptions options{0.4, 0.3, longest, leaves, 1.0};
            const PartialScorer scorer(trees.arena, trees.bags(), weights.data(), 1, options);
            CHECK(scorer.indexed() == (longest == 0 && leaves));
            CHECK(scorer.outputs() == 1 && scorer.bytes() > 0);
            std::vector<double> found(trees.ends.size(), -1.0);
            Control control;
            scorer.score(trees.arena, trees.elements(), found.data(), 1, control);
            const std::vector<double> K = gram_of(PartialKernel{options}, trees.arena, trees.bags());
            for (std::size_t i = 0; i < found.size(); ++i) {
                double expected = 0.0;
                for (std::size_t k = 0; k < found.size(); ++k) expected += K[i * found.size() + k] * weights[k];
                CHECK(std::abs(found[i] - expected) <= 1e-9);
            }
        }
}

TEST(nothing_gives_nothing) {
    Trees none, some;
    some.add({{Plain{"A", {}}}, {}, {Plain{"A", {Plain{"b", {}}}}}});
    for_every_indexed_kernel([&](const auto& kernel) {
        const auto empty = index_of(kernel, none.arena, Bags{}, nullptr, 2);
        CHECK(scores(empty, some) == std::vector<double>(6, 0.0));
        CHECK(scores(empty, none).empty());
        const std::vector<double> weights{1.0, 1.0, 1.0};
        CHECK(scores(index_of(kernel, some.arena, some.bags(), weights.data(), 1), none).empty());
    });
}

TEST(cancelled_scoring_stops) {
    RandomTrees random(703);
    Trees trees;
    trees.add(random.bags(30));
    const std::vector<double> weights(30, 1.0);
    for_every_indexed_kernel([&](const auto& kernel) {
        if constexpr (std::is_same_v<std::decay_t<decltype(kernel)>, SubtreeKernel>) return;
        const auto index = index_of(kernel, trees.arena, trees.bags(), weights.data(), 1);
        Control control;
        control.cancel = true;
        std::vector<double> out(30);
        bool stopped = false;
        try {
            score(index, trees.arena, trees.elements(), out.data(), 1, control);
        } catch (const Cancelled&) {
            stopped = true;
        }
        CHECK(stopped);
    });
}

}  // namespace
