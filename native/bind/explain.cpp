// Bindings of what explains kernels: contributions of nodes, heaviest fragments, and explicit maps.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/fragment_search.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "explain/attribution.hpp"
#include "explain/fragment_vocabulary.hpp"
#include "explain/frequent.hpp"
#include "explain/heaviest.hpp"
#include "explain/heaviest_partial.hpp"
#include "kernels/model.hpp"
#include "kernels/partial.hpp"
#include "kernels/subset.hpp"
#include "kernels/subtree.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

namespace {

bool is_brief(const Bags& rows) { return rows.numbers.size() < 200; }

template <class Columns>
void register_attribution(nb::module_& module) {
    module.def(
        "attribute",
        [](const Model<Columns>& model, const Arena& arena, const Bags& element, Matrix out) {
            check_one(element);
            if (out.shape(0) != element.numbers.size() || out.shape(1) != model.outputs())
                throw nb::value_error("out has the wrong shape");
            run_interruptible(is_brief(element), nb::none(),
                              [&](Control& control) { attribute(model, arena, element, 0, out.data(), control); });
        },
        nb::arg("model"), nb::arg("arena"), nb::arg("element"), nb::arg("out").noconvert());
}

template <class Columns>
void register_search(nb::module_& module) {
    module.def(
        "heaviest",
        [](const Model<Columns>& model, Values combination, const Arena* arena, const Bags* element,
           std::size_t capacity, std::size_t limit) {
            if (combination.shape(0) != model.outputs()) throw nb::value_error("combination has the wrong shape");
            if (element) check_one(*element);
            Heaviest found;
            run_interruptible(false, nb::none(), [&](Control& control) {
                found = heaviest(model, view(combination), arena, element, capacity, limit, control);
            });
            return to_tuple(std::move(found));
        },
        nb::arg("model"), nb::arg("combination").noconvert(), nb::arg("arena").none(), nb::arg("element").none(),
        nb::arg("capacity"), nb::arg("limit"));
}

template <class Vocabulary>
void register_vocabulary(nb::module_& module, const char* name) {
    nb::class_<Vocabulary>(module, name)
        .def(
            "__init__",
            [](Vocabulary* self, const Arena& arena, Numbers roots) {
                check_roots(arena, view(roots));
                std::optional<Vocabulary> made;
                run_interruptible(arena.size() < 1000, nb::none(),
                                  [&](Control& control) { made.emplace(arena, view(roots), control); });
                new (self) Vocabulary(std::move(*made));
            },
            nb::arg("arena"), nb::arg("roots").noconvert())
        .def(
            "count",
            [](const Vocabulary& vocabulary, const Arena& arena, const Bags& rows) {
                FragmentCounts counts;
                run_interruptible(is_brief(rows), nb::none(),
                                  [&](Control& control) { counts = vocabulary.count(arena, rows, control); });
                return std::make_tuple(to_numpy(std::move(counts.ends)), to_numpy(std::move(counts.columns)),
                                       to_numpy(std::move(counts.counts)));
            },
            nb::arg("arena"), nb::arg("rows"));
}

}  // namespace

void register_explain(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("explain", "Contributions, fragments and explicit maps.");
    nb::exception<TooManyFragmentsError>(module, "TooManyFragmentsError");
    register_attribution<SubtreeColumns>(module);
    register_attribution<SubsetColumns>(module);
    register_attribution<PartialColumns>(module);
    register_search<SubtreeColumns>(module);
    register_search<SubsetColumns>(module);
    register_search<PartialColumns>(module);
    register_vocabulary<SubtreeVocabulary>(module, "SubtreeVocabulary");
    register_vocabulary<FragmentVocabulary>(module, "FragmentVocabulary");
    module.def(
        "frequent_fragments",
        [](const Arena& arena, const Bags& bags, std::size_t least, std::size_t size_limit, std::size_t height_limit,
           std::size_t most) {
            Arena out;
            std::vector<Node> roots;
            run_interruptible(false, nb::none(), [&](Control& control) {
                roots = FrequentFragments(arena, bags, {least, size_limit, height_limit, most}, control).run(out);
            });
            return std::make_tuple(std::move(out), to_numpy(std::move(roots)));
        },
        nb::arg("arena"), nb::arg("bags"), nb::arg("least"), nb::arg("size_limit"), nb::arg("height_limit"),
        nb::arg("most"));
    module.def(
        "frequent_subtrees",
        [](const Arena& arena, const Bags& bags, std::size_t least) {
            return to_numpy(frequent_subtrees(arena, bags, least));
        },
        nb::arg("arena"), nb::arg("bags"), nb::arg("least"));
    module.def(
        "measure",
        [](const Arena& arena, Numbers roots) {
            check_roots(arena, view(roots));
            FragmentSizes sizes = measure(arena, view(roots));
            return std::make_tuple(to_numpy(std::move(sizes.sizes)), to_numpy(std::move(sizes.heights)));
        },
        nb::arg("arena"), nb::arg("roots").noconvert());
}

}  // namespace sapwood::bind
