// The growing model against the definition of the kernel, and training against scoring everything anew.
#include <functional>
#include <random>

#include "learn/perceptron.hpp"
#include "test/check.hpp"

using namespace sapwood;

namespace {

std::vector<Node> draw_trees(Arena& arena, std::mt19937& random, std::size_t count) {
    std::vector<Symbol> labels;
    for (const char* text : {"A", "B", "C"}) labels.push_back(arena.symbols.intern(text));
    std::vector<Node> pool;
    for (const Symbol label : labels) pool.push_back(arena.leaf(label));
    while (pool.size() < 3 + count) {
        std::vector<Node> children(1 + random() % 3);
        for (Node& child : children) child = pool[random() % std::min<std::size_t>(pool.size(), 30)];
        pool.push_back(arena.node(labels[random() % 3], children));
    }
    return {pool.end() - static_cast<std::ptrdiff_t>(count), pool.end()};
}

// The kernel of two trees, by its definition.
double slow_kernel(const Arena& arena, Node a, Node b, double decay, bool bag_of_words) {
    const std::function<double(Node, Node)> delta = [&](Node x, Node y) -> double {
        if (arena.is_leaf(x) || arena.is_leaf(y)) return 0.0;
        if (arena.production_of(x) != arena.production_of(y)) return 0.0;
        double product = decay;
        for (std::size_t k = 0; k < arena.children(x).size(); ++k)
            product *= 1 + delta(arena.children(x)[k], arena.children(y)[k]);
        return product;
    };
    const std::function<void(Node, std::vector<Node>&)> list = [&](Node node, std::vector<Node>& out) {
        out.push_back(node);
        for (const Node child : arena.children(node)) list(child, out);
    };
    std::vector<Node> left, right;
    list(a, left);
    list(b, right);
    double total = 0.0;
    for (const Node x : left)
        for (const Node y : right) total += bag_of_words && arena.is_leaf(x) && x == y ? decay : delta(x, y);
    return total;
}

TEST(scores_are_sums_of_kernels) {
    std::mt19937 random(1);
    Arena arena;
    const std::vector<Node> roots = draw_trees(arena, random, 60);
    for (const bool bag_of_words : {false, true}) {
        GrowingModel model(arena, 0.5, bag_of_words);
        const std::span<const Node> support(roots.data(), 30);
        std::vector<double> weights(30);
        for (double& weight : weights) weight = static_cast<double>(random() % 7) - 3;
        add_trees(model, support, weights);
        std::vector<double> found(roots.size());
        Control control;
        evaluate_model(model, arena, roots, found.data(), 1, control);
        // The same trees in an arena of their own.
        Arena other;
        other.symbols.intern("unheard of");
        const std::vector<Node> moved = transplant(arena, roots, other);
        std::vector<double> again(roots.size());
        evaluate_model(model, other, moved, again.data(), 2, control);
        for (std::size_t i = 0; i < roots.size(); ++i) {
            double expected = 0.0;
            for (std::size_t k = 0; k < 30; ++k)
                expected += weights[k] * slow_kernel(arena, roots[i], roots[k], 0.5, bag_of_words);
            CHECK_CLOSE(found[i], expected);
            CHECK(again[i] == found[i]);
        }
    }
}

TEST(training_follows_its_own_updates) {
    std::mt19937 random(2);
    Arena arena;
    const std::vector<Node> roots = draw_trees(arena, random, 80);
    std::vector<std::uint64_t> ends;
    for (std::uint64_t end = 8; end <= 80; end += 8) ends.push_back(end);
    std::vector<double> relevance(80), scales(80), features(80);
    for (std::size_t i = 0; i < 80; ++i) {
        relevance[i] = static_cast<double>(random() % 3);
        scales[i] = 1.0 + static_cast<double>(random() % 3) / 4;
        features[i] = static_cast<double>(random() % 5) / 8;
    }
    std::vector<std::uint64_t> order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 1, 4, 1, 5};
    for (const Rule rule : {Rule::pairwise_best, Rule::pairwise_all, Rule::top, Rule::softmax}) {
        for (const std::size_t cache : {std::size_t{0}, std::size_t{1} << 20}) {
            PreferencePerceptron perceptron(arena, roots, ends, scales, features, 1, 0.4, true, cache);
            Control control;
            perceptron.train(order, relevance.data(), rule, 0.5, control);
            const UpdateLog& log = perceptron.log();
            CHECK(perceptron.steps() > 0 && !log.row.empty());
            // Whatever was learnt is in the log.
            std::vector<double> weight(80, 0.0);
            for (std::size_t k = 0; k < log.row.size(); ++k) weight[log.row[k]] += log.weight[k];
            std::vector<double> values;
            for (const std::size_t group : {std::size_t{0}, std::size_t{5}}) {
                perceptron.utilities(group, values);
                for (std::size_t i = 0; i < 8; ++i) {
                    const std::size_t row = 8 * group + i;
                    double expected = 0.0;
                    for (std::size_t k = 0; k < 80; ++k)
                        expected +=
                            weight[k] * (scales[k] * scales[row] * slow_kernel(arena, roots[k], roots[row], 0.4, true) +
                                         features[k] * features[row]);
                    CHECK(std::abs(values[i] - expected) < 1e-9 * std::max(1.0, std::abs(expected)));
                }
            }
            // A perceptron that goes through the log is the same to the last bit.
            PreferencePerceptron other(arena, roots, ends, scales, features, 1, 0.4, true, cache);
            other.replay(log.row, log.weight, log.step, perceptron.steps(), perceptron.mistakes());
            std::vector<double> replayed;
            for (std::size_t group = 0; group < ends.size(); ++group) {
                perceptron.utilities(group, values);
                other.utilities(group, replayed);
                CHECK(values == replayed);
            }
        }
    }
}

}  // namespace
