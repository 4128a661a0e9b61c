// The recursive network: tanh against the library's, shared plans against single trees, gradients against differences.
#include <cmath>
#include <random>

#include "learn/recursive_training.hpp"
#include "test/check.hpp"

using namespace sapwood;

namespace {

// Random trees over few labels, with much in common.
std::vector<Node> draw_trees(Arena& arena, std::mt19937& random, std::size_t count) {
    std::vector<Symbol> labels;
    for (const char* text : {"A", "B", "C", "D"}) labels.push_back(arena.symbols.intern(text));
    std::vector<Node> pool;
    for (const Symbol label : labels) pool.push_back(arena.leaf(label));
    while (pool.size() < 4 + count) {
        std::vector<Node> children(1 + random() % 4);
        for (Node& child : children) child = pool[random() % pool.size()];
        pool.push_back(arena.node(labels[random() % 4], children));
    }
    return {pool.end() - static_cast<std::ptrdiff_t>(count), pool.end()};
}

template <class Real>
void fill(Network<Real>& network, std::mt19937& random) {
    std::uniform_real_distribution<double> draw(-0.7, 0.7);
    const NetworkShape& shape = network.shape();
    for (std::size_t row = 0; row < shape.rows(); ++row)
        for (std::size_t j = 0; j < shape.units; ++j)
            network.weights()[row * shape.stride() + j] = static_cast<Real>(draw(random));
    for (std::size_t i = shape.extra_weights(); i < shape.size(); ++i)
        network.weights()[i] = static_cast<Real>(draw(random));
    network.refresh();
}

std::vector<std::uint32_t> vocabulary(const Arena& arena) {
    std::vector<std::uint32_t> numbers(arena.symbols.size());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    // One label is unknown.
    numbers.back() = kNone;
    return numbers;
}

template <class Real>
void check_tanh(double tolerance) {
    std::vector<Real> in(64), out(64);
    for (double x = -25; x < 25; x += 0.013) {
        for (std::size_t j = 0; j < in.size(); ++j) in[j] = static_cast<Real>(x + 1e-4 * static_cast<double>(j));
        detail::activate<Real>(out.data(), in.data(), nullptr, nullptr, in.size());
        for (std::size_t j = 0; j < in.size(); ++j)
            CHECK(std::abs(static_cast<double>(out[j]) - std::tanh(static_cast<double>(in[j]))) < tolerance);
    }
    in[0] = static_cast<Real>(NAN);
    detail::activate<Real>(out.data(), in.data(), nullptr, nullptr, in.size());
    CHECK(std::isnan(out[0]));
}

TEST(tanh_is_that_of_the_library) {
    check_tanh<double>(7e-16);
    check_tanh<float>(2.5e-7);
}

TEST(trees_together_are_trees_alone) {
    std::mt19937 random(1);
    Arena arena;
    const std::vector<Node> roots = draw_trees(arena, random, 900);
    Network<double> network(NetworkShape{7, 3, 3, 2, 1});
    fill(network, random);
    std::vector<double> extras(roots.size()), together(2 * roots.size()), alone(2);
    for (double& extra : extras) extra = static_cast<double>(random() % 10);
    Control control;
    const Forests all(arena, roots, {roots.size()}, vocabulary(arena), 3, 0);
    network.evaluate(all, extras.data(), together.data(), 3, control);
    for (std::size_t i = 0; i < roots.size(); ++i) {
        const Forests one(arena, {roots[i]}, {1}, vocabulary(arena), 3, 0);
        network.evaluate(one, extras.data() + i, alone.data(), 1, control);
        CHECK(alone[0] == together[2 * i] && alone[1] == together[2 * i + 1]);
    }
}

TEST(gradients_are_differences) {
    std::mt19937 random(2);
    Arena arena;
    const std::vector<Node> roots = draw_trees(arena, random, 9);
    std::vector<double> targets(roots.size()), extras(roots.size());
    for (std::size_t i = 0; i < roots.size(); ++i) {
        targets[i] = static_cast<double>(random() % 3);
        extras[i] = static_cast<double>(random() % 5) / 2;
    }
    Control control;
    for (const Loss loss : {Loss::setwise, Loss::pairwise_best, Loss::pairwise_all, Loss::squares, Loss::classes}) {
        Network<double> network(NetworkShape{6, 3, 3, loss == Loss::classes ? std::size_t{3} : std::size_t{1}, 1});
        fill(network, random);
        Forests forests(arena, roots, {4, 9}, vocabulary(arena), 3, 1 << 20);
        std::vector<double> gradient, scrap;
        network.gradient(forests, targets.data(), extras.data(), loss, gradient, control);
        for (std::size_t i = 0; i < gradient.size(); i += 5) {
            if (i < network.shape().extra_weights() && i % network.shape().stride() >= network.shape().units) continue;
            const double step = 1e-5, kept = network.weights()[i];
            double value[2];
            for (int side : {0, 1}) {
                network.weights()[i] = kept + (side == 0 ? step : -step);
                network.refresh();
                value[side] = network.gradient(forests, targets.data(), extras.data(), loss, scrap, control);
            }
            network.weights()[i] = kept;
            network.refresh();
            const double numeric = (value[0] - value[1]) / (2 * step);
            CHECK(std::abs(numeric - gradient[i]) < 1e-7 * std::max(1.0, std::abs(numeric)));
        }
    }
}

TEST(plans_stay_within_the_limit) {
    std::mt19937 random(3);
    Arena arena;
    const std::vector<Node> roots = draw_trees(arena, random, 100);
    std::vector<std::uint64_t> ends;
    for (std::uint64_t end = 10; end <= 100; end += 10) ends.push_back(end);
    std::vector<double> targets(100), extras(1);
    for (std::size_t i = 0; i < 100; i += 10) targets[i] = 1.0;
    std::vector<std::uint64_t> order{3, 1, 4, 1, 5, 9, 2, 6};
    Control control;
    std::vector<std::vector<float>> weights;
    for (const std::size_t limit : {std::size_t{0}, std::size_t{3000}, std::size_t{1} << 30}) {
        std::mt19937 same(4);
        Network<float> network(NetworkShape{6, 4, 4, 1, 0});
        fill(network, same);
        Forests forests(arena, roots, ends, vocabulary(arena), 4, limit);
        network.train(forests, order, targets.data(), extras.data(), Loss::setwise, 2,
                      {true, 0.01, 0.9, 0.999, 1e-8, 1.0, 0.0}, control);
        CHECK(forests.bytes() <= limit);
        weights.push_back(network.weights());
    }
    CHECK(weights[0] == weights[1] && weights[1] == weights[2]);
}

}  // namespace
