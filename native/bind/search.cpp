// Bindings of the search for similar trees.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <memory>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/makers.hpp"
#include "search/searched_trees.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

namespace {

using Mask = Input<bool>;

// Where the hits of each row end, their elements and their values; and what rows lack.
template <class Lack>
using Rows = std::tuple<Result<std::uint64_t>, Result<std::uint32_t>, Result<double>, Result<Lack>>;
using Pairs = std::tuple<Result<std::uint32_t>, Result<std::uint32_t>, Result<double>>;

template <class Lack>
Rows<Lack> as_arrays(const std::vector<std::vector<Hit>>& rows, std::vector<Lack>&& lack) {
    std::vector<std::uint64_t> ends;
    std::vector<std::uint32_t> elements;
    std::vector<double> values;
    for (const auto& row : rows) {
        for (const Hit& hit : row) {
            elements.push_back(hit.element);
            values.push_back(hit.value);
        }
        ends.push_back(elements.size());
    }
    return {to_numpy(std::move(ends)), to_numpy(std::move(elements)), to_numpy(std::move(values)),
            to_numpy(std::move(lack))};
}

Pairs as_arrays(const std::vector<SimilarPair>& pairs) {
    std::vector<std::uint32_t> first, second;
    std::vector<double> values;
    for (const SimilarPair& pair : pairs) {
        first.push_back(pair.first);
        second.push_back(pair.second);
        values.push_back(pair.value);
    }
    return {to_numpy(std::move(first)), to_numpy(std::move(second)), to_numpy(std::move(values))};
}

template <class Maker>
void check_rows(const SearchedTrees<Maker>& trees, const Bags& rows, const Values& scale, const Mask& kept) {
    if (scale.shape(0) != rows.size()) throw nb::value_error("scale has the wrong length");
    if (kept.shape(0) != trees.size()) throw nb::value_error("kept has the wrong length");
}

template <class Maker>
void register_searched(nb::module_& module, const char* name) {
    using Trees = SearchedTrees<Maker>;
    nb::class_<Trees>(module, name)
        .def(
            "__init__",
            [](Trees* self, const Maker& make, const Arena& arena, const Bags& bags, Values scale, bool grouped,
               std::size_t threads) {
                if (scale.shape(0) != bags.size()) throw nb::value_error("scale has the wrong length");
                run_interruptible(bags.numbers.size() < 100000, nb::none(), [&](Control&) {
                    new (self) Trees(make, arena, bags, view(scale), grouped, threads);
                });
            },
            nb::arg("kernel"), nb::arg("arena"), nb::arg("bags"), nb::arg("scale").noconvert(), nb::arg("grouped"),
            nb::arg("threads"), nb::keep_alive<1, 3>())
        .def(
            "__init__",
            [](Trees* self, const Maker& make, const Arena& arena, const GivenArrays& arrays,
               const std::vector<std::uint64_t>& numbers) {
                from_parts(arrays, numbers, [&](Placing& placing) {
                    new (self) Trees(make, arena, placing);
                    if (placing.done()) return;
                    self->~Trees();
                    throw nb::value_error("there are more parts than needed");
                });
            },
            nb::arg("kernel"), nb::arg("arena"), nb::arg("arrays"), nb::arg("numbers"), nb::keep_alive<1, 3>(),
            nb::keep_alive<1, 4>())
        .def("parts", [](nb::handle_t<Trees> self) -> Parts { return parts_of(nb::cast<Trees&>(self), self); })
        .def("__len__", &Trees::size)
        .def_prop_ro("grouped", &Trees::grouped)
        .def("undescribed",
             [](const Trees& trees) {
                 if (!trees.grouped()) throw nb::value_error("there are no bounds");
                 const auto found = trees.undescribed();
                 return to_numpy(std::vector<std::uint32_t>(found.begin(), found.end()));
             })
        .def(
            "nearest",
            [](const Trees& trees, const Arena& arena, const Bags& rows, Values scale, Mask kept, std::size_t count,
               double least, double seconds, std::size_t threads, Progress progress) -> Rows<double> {
                check_rows(trees, rows, scale, kept);
                const auto start = Trees::Clock::now();
                // No clock counts to more than some centuries.
                const auto deadline = seconds < 1e9
                                          ? start + std::chrono::duration_cast<typename Trees::Clock::duration>(
                                                        std::chrono::duration<double>(seconds))
                                          : Trees::Clock::time_point::max();
                std::vector<std::vector<Hit>> found;
                std::vector<double> open;
                const bool brief = rows.size() * trees.size() < 10000 && rows.numbers.size() < 1000;
                run_interruptible(brief, progress, [&](Control& control) {
                    found = trees.nearest(arena, rows, view(scale), view(kept), count, least, deadline, open, threads,
                                          control);
                });
                return as_arrays(found, std::move(open));
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("scale").noconvert(), nb::arg("kept").noconvert(),
            nb::arg("count"), nb::arg("least"), nb::arg("seconds"), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "within",
            [](const Trees& trees, const Arena& arena, const Bags& rows, Values scale, Mask kept, double least,
               std::size_t most, std::size_t threads, Progress progress) -> Rows<std::uint8_t> {
                check_rows(trees, rows, scale, kept);
                if (!trees.grouped()) throw nb::value_error("there are no bounds");
                std::vector<std::vector<Hit>> found;
                std::vector<std::uint8_t> late;
                const bool brief = rows.size() * trees.size() < 10000 && rows.numbers.size() < 1000;
                run_interruptible(brief, progress, [&](Control& control) {
                    found = trees.within(arena, rows, view(scale), view(kept), least, most, late, threads, control);
                });
                return as_arrays(found, std::move(late));
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("scale").noconvert(), nb::arg("kept").noconvert(),
            nb::arg("least"), nb::arg("most"), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "pairs",
            [](const Trees& trees, const Bags& bags, Mask kept, double least, std::size_t threads,
               Progress progress) -> std::tuple<Pairs, Pairs, std::size_t> {
                if (bags.size() != trees.size()) throw nb::value_error("bags have the wrong length");
                if (kept.shape(0) != trees.size()) throw nb::value_error("kept has the wrong length");
                if (!trees.grouped()) throw nb::value_error("there are no bounds");
                std::vector<SimilarPair> found, left;
                std::size_t evaluated = 0;
                run_interruptible(bags.numbers.size() < 1000, progress, [&](Control& control) {
                    found = trees.pairs(bags, view(kept), least, evaluated, left, threads, control);
                });
                return {as_arrays(found), as_arrays(left), evaluated};
            },
            nb::arg("bags"), nb::arg("kept").noconvert(), nb::arg("least"), nb::arg("threads"),
            nb::arg("progress").none());
}

}  // namespace

void register_search(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("search", "The search for similar trees.");
    register_searched<SubtreeMaker>(module, "SubtreeTrees");
    register_searched<SubsetMaker>(module, "SubsetTrees");
    register_searched<PartialMaker>(module, "PartialTrees");
}

}  // namespace sapwood::bind
