// Bindings of the log-linear model. Python checks the arrays against each other before it calls.
#include "learn/loglinear.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"

namespace sapwood::bind {

namespace {

CandidateSets sets_of(const Numbers& features, const Offsets& ends, const Offsets& row_ends, const Offsets& role_ends,
                      const Offsets& key_ends, const Numbers& keys, const Numbers& masks, std::uint32_t shared,
                      std::uint32_t groups) {
    return {view(features), view(ends),  view(row_ends), view(role_ends), view(key_ends),
            view(keys),     view(masks), shared,         groups};
}

}  // namespace

#define SETS_ARGUMENTS                                                                                  \
    nb::arg("features").noconvert(), nb::arg("ends").noconvert(), nb::arg("row_ends").noconvert(),      \
        nb::arg("role_ends").noconvert(), nb::arg("key_ends").noconvert(), nb::arg("keys").noconvert(), \
        nb::arg("masks").noconvert(), nb::arg("shared"), nb::arg("groups")

void register_loglinear(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("loglinear", "Softmax over candidate sets with hashed weights.");
    module.def(
        "score",
        [](Numbers features, Offsets ends, Offsets row_ends, Offsets role_ends, Offsets key_ends, Numbers keys,
           Numbers masks, std::uint32_t shared, std::uint32_t groups, Input<float> weights, int bits,
           Output<double> out, std::size_t threads, Progress progress) {
            const CandidateSets sets =
                sets_of(features, ends, row_ends, role_ends, key_ends, keys, masks, shared, groups);
            const float* table = weights.data();
            double* scores = out.data();
            run_interruptible(sets.size() < 32, progress,
                              [&](Control& control) { score_sets(sets, table, bits, scores, threads, control); });
        },
        SETS_ARGUMENTS, nb::arg("weights").noconvert(), nb::arg("bits"), nb::arg("out").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
    module.def(
        "loss_and_gradient",
        [](Numbers features, Offsets ends, Offsets row_ends, Offsets role_ends, Offsets key_ends, Numbers keys,
           Numbers masks, std::uint32_t shared, std::uint32_t groups, Numbers right, Values weights, int bits,
           Output<double> gradient) {
            const CandidateSets sets =
                sets_of(features, ends, row_ends, role_ends, key_ends, keys, masks, shared, groups);
            double loss = 0.0;
            const double* table = weights.data();
            double* slopes = gradient.data();
            run_interruptible(sets.size() < 32, nb::none(), [&](Control& control) {
                loss = loss_and_gradient(sets, view(right), table, bits, slopes, control);
            });
            return loss;
        },
        SETS_ARGUMENTS, nb::arg("right").noconvert(), nb::arg("weights").noconvert(), nb::arg("bits"),
        nb::arg("gradient").noconvert());
    module.def(
        "adagrad_epoch",
        [](Numbers features, Offsets ends, Offsets row_ends, Offsets role_ends, Offsets key_ends, Numbers keys,
           Numbers masks, std::uint32_t shared, std::uint32_t groups, Numbers right, Offsets order,
           Output<float> weights, Output<float> squares, Output<std::uint32_t> moved, std::uint32_t step, int bits,
           double rate, double decay, double negligible, std::size_t batch, std::size_t threads, Progress progress) {
            const CandidateSets sets =
                sets_of(features, ends, row_ends, role_ends, key_ends, keys, masks, shared, groups);
            AdaGradState state{weights.data(), squares.data(), moved.data(), step};
            double loss = 0.0;
            run_interruptible(false, progress, [&](Control& control) {
                loss = adagrad_epoch(sets, view(right), view(order), state,
                                     {bits, rate, decay, negligible, batch, threads}, control);
            });
            return std::make_tuple(loss, state.step);
        },
        SETS_ARGUMENTS, nb::arg("right").noconvert(), nb::arg("order").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("squares").noconvert(), nb::arg("moved").noconvert(), nb::arg("step"), nb::arg("bits"), nb::arg("rate"),
        nb::arg("decay"), nb::arg("negligible"), nb::arg("batch"), nb::arg("threads"), nb::arg("progress").none());
    module.def(
        "adagrad_settle",
        [](Output<float> weights, Output<float> squares, Output<std::uint32_t> moved, std::uint32_t step, int bits,
           double rate, double decay) {
            AdaGradState state{weights.data(), squares.data(), moved.data(), step};
            nb::gil_scoped_release release;
            adagrad_settle(state, {bits, rate, decay, 0.0, 1, 1});
        },
        nb::arg("weights").noconvert(), nb::arg("squares").noconvert(), nb::arg("moved").noconvert(), nb::arg("step"),
        nb::arg("bits"), nb::arg("rate"), nb::arg("decay"));
}

}  // namespace sapwood::bind
