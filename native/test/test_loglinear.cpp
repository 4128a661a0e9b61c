// The log-linear model: derivatives against differences of the loss, and threads that change nothing.
#include "learn/loglinear.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

// Two sets: three candidates and two roles, then two candidates and one role; two groups of features.
struct Sample {
    std::vector<std::uint32_t> features{11, 12, 13, 11, 14, 15, 12, 16, 17};
    std::vector<std::uint64_t> ends{1, 2, 4, 4, 5, 6, 7, 8, 9, 9};
    std::vector<std::uint64_t> row_ends{3, 5}, role_ends{2, 3}, key_ends{2, 3, 4};
    std::vector<std::uint32_t> keys{101, 102, 103, 101}, masks{3, 2, 1, 3};
    std::vector<std::uint32_t> right{1, 2, 0};

    CandidateSets sets() const { return {features, ends, row_ends, role_ends, key_ends, keys, masks, 1, 2}; }
};

TEST(gradients_are_differences_of_the_loss) {
    const Sample sample;
    const CandidateSets sets = sample.sets();
    const int bits = 6;
    std::vector<double> weights(64), gradient(64, 0.0), unused(64);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.1 * static_cast<double>(i % 7) - 0.3;
    Control control;
    const double loss = loss_and_gradient(sets, sample.right, weights.data(), bits, gradient.data(), control);
    CHECK(loss > 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double step = 1e-6;
        std::vector<double> moved = weights;
        moved[i] += step;
        const double above = loss_and_gradient(sets, sample.right, moved.data(), bits, unused.data(), control);
        moved[i] -= 2 * step;
        const double below = loss_and_gradient(sets, sample.right, moved.data(), bits, unused.data(), control);
        CHECK(std::abs((above - below) / (2 * step) - gradient[i]) < 1e-6);
    }
}

TEST(threads_change_no_bit) {
    const Sample sample;
    const CandidateSets sets = sample.sets();
    const std::vector<std::uint64_t> order{1, 0, 0, 1, 1, 0};
    std::vector<std::vector<float>> found;
    for (const std::size_t threads : {1, 2, 3}) {
        std::vector<float> weights(64, 0.0f), squares(64, 0.0f);
        std::vector<std::uint32_t> moved(64, 0);
        AdaGradState state{weights.data(), squares.data(), moved.data(), 0};
        const AdaGradSettings settings{6, 0.1, 0.01, 1e-5, 2, threads};
        Control control;
        adagrad_epoch(sets, sample.right, order, state, settings, control);
        adagrad_settle(state, settings);
        CHECK(state.step == 3 && control.done == 6);
        found.push_back(weights);
    }
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}

TEST(training_can_be_cancelled) {
    const Sample sample;
    const CandidateSets sets = sample.sets();
    std::vector<float> weights(64, 0.0f), squares(64, 0.0f);
    std::vector<std::uint32_t> moved(64, 0);
    AdaGradState state{weights.data(), squares.data(), moved.data(), 0};
    Control control;
    control.cancel = true;
    const std::vector<std::uint64_t> order{0, 1};
    CHECK_THROWS(adagrad_epoch(sets, sample.right, order, state, {6, 0.1, 0.0, 0.0, 1, 1}, control), Cancelled);
}

TEST(a_set_without_choosers_costs_nothing) {
    const std::vector<std::uint32_t> features{1}, none;
    const std::vector<std::uint64_t> ends{1}, row_ends{1}, role_ends{0}, key_ends;
    const CandidateSets sets{features, ends, row_ends, role_ends, key_ends, none, none, 1, 1};
    std::vector<double> weights(16, 1.0), gradient(16, 0.0);
    Control control;
    CHECK(loss_and_gradient(sets, none, weights.data(), 4, gradient.data(), control) == 0.0);
    CHECK(sets.score_offsets().back() == 0);
}

}  // namespace
