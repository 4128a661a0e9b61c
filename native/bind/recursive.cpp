// Bindings of the recursive network: forests in, weights and scores out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "learn/recursive_training.hpp"

namespace sapwood::bind {

namespace {

void check_sizes(const NetworkShape& shape, const Forests& forests, const ConstMatrix& extras) {
    if (extras.shape(0) != forests.trees() || extras.shape(1) != shape.extras)
        throw nb::value_error("extras have the wrong shape");
}

void check_targets(const NetworkShape& shape, const Forests& forests, const Values& targets, Loss loss) {
    if (targets.shape(0) != forests.trees()) throw nb::value_error("targets have the wrong length");
    if (static_cast<std::uint32_t>(loss) > static_cast<std::uint32_t>(Loss::squares))
        throw nb::value_error("no such loss");
    if (loss != Loss::classes && shape.outputs != 1) throw nb::value_error("this loss needs one output");
    if (loss != Loss::classes) return;
    for (const double target : view(targets))
        if (!(target >= 0) || target >= static_cast<double>(shape.outputs)) throw nb::value_error("no such class");
}

template <class Real>
void set(std::vector<Real>& own, const Input<Real>& values) {
    if (values.shape(0) != own.size()) throw nb::value_error("the array has the wrong length");
    std::copy(values.data(), values.data() + own.size(), own.begin());
}

template <class Real>
void register_network(nb::module_& module, const char* name) {
    using Own = Network<Real>;
    const auto copy = [](const std::vector<Real>& values) { return to_numpy(std::vector<Real>(values)); };
    nb::class_<Own>(module, name)
        .def(
            "__init__",
            [](Own* self, std::size_t units, std::size_t outdegree, std::size_t labels, std::size_t outputs,
               std::size_t extras) { new (self) Own(NetworkShape{units, outdegree, labels, outputs, extras}); },
            nb::arg("units"), nb::arg("outdegree"), nb::arg("labels"), nb::arg("outputs"), nb::arg("extras"))
        .def_prop_ro("stride", [](const Own& own) { return own.shape().stride(); })
        .def_prop_ro("rows", [](const Own& own) { return own.shape().rows(); })
        .def_prop_ro("size", [](const Own& own) { return own.shape().size(); })
        .def("weights", [copy](Own& own) { return copy(own.weights()); })
        .def("first_moments", [copy](Own& own) { return copy(own.first_moments()); })
        .def("second_moments", [copy](Own& own) { return copy(own.second_moments()); })
        .def_prop_rw(
            "steps", [](Own& own) { return own.steps(); }, [](Own& own, std::uint64_t steps) { own.steps() = steps; })
        .def(
            "set_weights",
            [](Own& own, Input<Real> values) {
                set(own.weights(), values);
                own.refresh();
            },
            nb::arg("values").noconvert())
        .def(
            "set_moments",
            [](Own& own, Input<Real> first, Input<Real> second) {
                set(own.first_moments(), first);
                set(own.second_moments(), second);
            },
            nb::arg("first").noconvert(), nb::arg("second").noconvert())
        .def(
            "train",
            [](Own& own, Forests& forests, Offsets order, Values targets, ConstMatrix extras, std::uint32_t loss,
               std::size_t batch, bool adam, double rate, double momentum, double second_momentum, double epsilon,
               double clip, double decay, Progress progress) {
                check_sizes(own.shape(), forests, extras);
                check_targets(own.shape(), forests, targets, static_cast<Loss>(loss));
                for (const std::uint64_t group : view(order))
                    if (group >= forests.size()) throw nb::index_error("no such group");
                if (batch == 0) throw nb::value_error("a batch needs a group");
                double total = 0.0;
                run_interruptible(false, progress, [&](Control& control) {
                    total = own.train(forests, view(order), targets.data(), extras.data(), static_cast<Loss>(loss),
                                      batch, {adam, rate, momentum, second_momentum, epsilon, clip, decay}, control);
                });
                return total;
            },
            nb::arg("forests"), nb::arg("order").noconvert(), nb::arg("targets").noconvert(),
            nb::arg("extras").noconvert(), nb::arg("loss"), nb::arg("batch"), nb::arg("adam"), nb::arg("rate"),
            nb::arg("momentum"), nb::arg("second_momentum"), nb::arg("epsilon"), nb::arg("clip"), nb::arg("decay"),
            nb::arg("progress").none())
        .def(
            "gradient",
            [](Own& own, Forests& forests, Values targets, ConstMatrix extras, std::uint32_t loss) {
                check_sizes(own.shape(), forests, extras);
                check_targets(own.shape(), forests, targets, static_cast<Loss>(loss));
                double total = 0.0;
                std::vector<Real> gradient;
                run_interruptible(false, nb::none(), [&](Control& control) {
                    total = own.gradient(forests, targets.data(), extras.data(), static_cast<Loss>(loss), gradient,
                                         control);
                });
                return std::make_tuple(total, to_numpy(std::move(gradient)));
            },
            nb::arg("forests"), nb::arg("targets").noconvert(), nb::arg("extras").noconvert(), nb::arg("loss"))
        .def(
            "evaluate",
            [](const Own& own, const Forests& forests, ConstMatrix extras, Matrix out, std::size_t threads,
               Progress progress) {
                check_sizes(own.shape(), forests, extras);
                if (out.shape(0) != forests.trees() || out.shape(1) != own.shape().outputs)
                    throw nb::value_error("out has the wrong shape");
                run_interruptible(false, progress, [&](Control& control) {
                    own.evaluate(forests, extras.data(), out.data(), threads, control);
                });
            },
            nb::arg("forests"), nb::arg("extras").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"),
            nb::arg("progress").none())
        .def(
            "states",
            [](const Own& own, const Forests& forests, Matrix out, std::size_t threads, Progress progress) {
                if (out.shape(0) != forests.trees() || out.shape(1) != own.shape().units)
                    throw nb::value_error("out has the wrong shape");
                run_interruptible(false, progress,
                                  [&](Control& control) { own.states(forests, out.data(), threads, control); });
            },
            nb::arg("forests"), nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace

void register_recursive(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("recursive", "The recursive network over shared subtrees.");
    nb::class_<Forests>(module, "Forests")
        .def(
            "__init__",
            [](Forests* self, const Arena& arena, Numbers root_array, Offsets end_array,
               const std::vector<std::string>& labels, std::size_t outdegree, std::size_t cache_bytes) {
                const auto roots = checked_roots(arena, root_array);
                const auto ends = view(end_array);
                std::uint64_t before = 0;
                for (const std::uint64_t end : ends) {
                    if (end <= before) throw nb::value_error("a group without trees");
                    before = end;
                }
                if (before != roots.size()) throw nb::value_error("ends do not cover the roots");
                std::vector<std::uint32_t> vocabulary(arena.symbols.size(), kNone);
                for (std::size_t k = 0; k < labels.size(); ++k)
                    if (const Symbol symbol = arena.symbols.find(labels[k]); symbol != kNone)
                        vocabulary[symbol] = static_cast<std::uint32_t>(k);
                new (self) Forests(arena, {roots.begin(), roots.end()}, {ends.begin(), ends.end()},
                                   std::move(vocabulary), outdegree, cache_bytes);
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("ends").noconvert(), nb::arg("labels"),
            nb::arg("outdegree"), nb::arg("cache_bytes"), nb::keep_alive<1, 2>())
        .def("__len__", &Forests::size)
        .def_prop_ro("cached_bytes", &Forests::bytes)
        .def(
            "plan_size",
            [](Forests& forests, std::size_t group) {
                if (group >= forests.size()) throw nb::index_error("no such group");
                const Plan& plan = forests.plan(group);
                return std::make_tuple(plan.nodes, plan.items);
            },
            nb::arg("group"));
    // The labels of the distinct subtrees of some trees, sorted, and of how many each is the label.
    module.def(
        "count_labels",
        [](const Arena& arena, Numbers root_array) {
            const auto roots = checked_roots(arena, root_array);
            std::vector<std::uint64_t> count(arena.symbols.size(), 0);
            for (const Node node : reachable(arena, roots)) ++count[arena.label(node)];
            std::vector<std::pair<std::string, std::uint64_t>> found;
            for (Symbol symbol = 0; symbol < count.size(); ++symbol)
                if (count[symbol] > 0) found.emplace_back(arena.symbols.text(symbol), count[symbol]);
            std::sort(found.begin(), found.end());
            std::vector<std::string> labels;
            std::vector<std::uint64_t> counts;
            for (const auto& [label, number] : found) {
                labels.push_back(label);
                counts.push_back(number);
            }
            return std::make_tuple(std::move(labels), to_numpy(std::move(counts)));
        },
        nb::arg("arena"), nb::arg("roots").noconvert());
    register_network<float>(module, "Network32");
    register_network<double>(module, "Network64");
}

}  // namespace sapwood::bind
