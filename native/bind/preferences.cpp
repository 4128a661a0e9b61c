// Bindings of the growing subset-tree model: training on preferences, and scoring.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "learn/perceptron.hpp"

namespace sapwood::bind {

namespace {}  // namespace

void register_preferences(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("preferences", "Preferences learnt with a growing subset-tree model.");

    nb::class_<GrowingModel>(module, "SubsetModel")
        .def(
            "__init__",
            [](GrowingModel* self, const Arena& arena, Numbers roots, Values weights, double decay, bool bag_of_words) {
                check_roots(arena, view(roots));
                if (roots.shape(0) != weights.shape(0)) throw nb::value_error("one weight per tree");
                new (self) GrowingModel(arena, decay, bag_of_words);
                nb::gil_scoped_release release;
                add_trees(*self, view(roots), view(weights));
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("weights").noconvert(), nb::arg("decay"),
            nb::arg("bag_of_words"), nb::keep_alive<1, 2>())
        .def(
            "evaluate",
            [](const GrowingModel& model, const Arena& arena, Numbers roots, Vector out, std::size_t threads,
               Progress progress) {
                check_roots(arena, view(roots));
                if (out.shape(0) != roots.shape(0)) throw nb::value_error("out has the wrong shape");
                run_interruptible(false, progress, [&](Control& control) {
                    evaluate_model(model, arena, view(roots), out.data(), threads, control);
                });
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"),
            nb::arg("progress").none())
        .def_prop_ro("nbytes", &GrowingModel::bytes);

    nb::class_<PreferencePerceptron>(module, "PreferencePerceptron")
        .def(
            "__init__",
            [](PreferencePerceptron* self, const Arena& arena, Numbers root_array, Offsets end_array, Values scales,
               ConstMatrix features, double decay, bool bag_of_words, std::size_t cache_bytes) {
                const auto roots = view(root_array);
                const auto ends = view(end_array);
                check_roots(arena, roots);
                std::uint64_t before = 0;
                for (const std::uint64_t end : ends) {
                    if (end <= before) throw nb::value_error("a group without trees");
                    before = end;
                }
                if (before != roots.size()) throw nb::value_error("ends do not cover the roots");
                if (scales.shape(0) != roots.size() || features.shape(0) != roots.size())
                    throw nb::value_error("one entry per tree");
                new (self)
                    PreferencePerceptron(arena, {roots.begin(), roots.end()}, {ends.begin(), ends.end()},
                                         {scales.data(), scales.data() + scales.shape(0)},
                                         {features.data(), features.data() + features.shape(0) * features.shape(1)},
                                         features.shape(1), decay, bag_of_words, cache_bytes);
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("ends").noconvert(), nb::arg("scales").noconvert(),
            nb::arg("features").noconvert(), nb::arg("decay"), nb::arg("bag_of_words"), nb::arg("cache_bytes"),
            nb::keep_alive<1, 2>())
        .def(
            "train",
            [](PreferencePerceptron& perceptron, Offsets order, Values relevance, std::uint32_t rule, double rate,
               Progress progress) {
                for (const std::uint64_t group : view(order))
                    if (group >= perceptron.size()) throw nb::index_error("no such group");
                if (relevance.shape(0) != perceptron.rows()) throw nb::value_error("one relevance per tree");
                if (rule > static_cast<std::uint32_t>(Rule::softmax)) throw nb::value_error("no such rule");
                run_interruptible(false, progress, [&](Control& control) {
                    perceptron.train(view(order), relevance.data(), static_cast<Rule>(rule), rate, control);
                });
            },
            nb::arg("order").noconvert(), nb::arg("relevance").noconvert(), nb::arg("rule"), nb::arg("rate"),
            nb::arg("progress").none())
        .def(
            "replay",
            [](PreferencePerceptron& perceptron, Offsets row, Values weight, Offsets step, std::uint64_t steps,
               std::uint64_t mistakes) {
                if (row.shape(0) != weight.shape(0) || row.shape(0) != step.shape(0))
                    throw nb::value_error("a log has three columns");
                for (const std::uint64_t number : view(row))
                    if (number >= perceptron.rows()) throw nb::index_error("no such row");
                nb::gil_scoped_release release;
                perceptron.replay(view(row), view(weight), view(step), steps, mistakes);
            },
            nb::arg("row").noconvert(), nb::arg("weight").noconvert(), nb::arg("step").noconvert(), nb::arg("steps"),
            nb::arg("mistakes"))
        .def("log",
             [](const PreferencePerceptron& perceptron) {
                 const UpdateLog& log = perceptron.log();
                 return std::make_tuple(to_numpy(std::vector<std::uint64_t>(log.row)),
                                        to_numpy(std::vector<double>(log.weight)),
                                        to_numpy(std::vector<std::uint64_t>(log.step)));
             })
        .def(
            "utilities",
            [](PreferencePerceptron& perceptron, std::size_t group) {
                if (group >= perceptron.size()) throw nb::index_error("no such group");
                std::vector<double> values;
                perceptron.utilities(group, values);
                return to_numpy(std::move(values));
            },
            nb::arg("group"))
        .def_prop_ro("steps", &PreferencePerceptron::steps)
        .def_prop_ro("mistakes", &PreferencePerceptron::mistakes)
        .def_prop_ro("most_cached", &PreferencePerceptron::most_cached)
        .def_prop_ro("nbytes", &PreferencePerceptron::bytes);
}

}  // namespace sapwood::bind
