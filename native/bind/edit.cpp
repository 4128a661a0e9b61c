// Bindings of tree edit distance: matrices, pairs and scripts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "search/edit_distance.hpp"

namespace sapwood::bind {

namespace {

template <class T>
std::vector<T> copied(const Input<T>& array) {
    return {view(array).begin(), view(array).end()};
}

void check_costs(const EditForest& forest, const EditCosts& costs) {
    const std::size_t keys = forest.samples().size();
    if (costs.removal.size() != keys || costs.insertion.size() != keys)
        throw nb::value_error("one price per key is needed");
    if (costs.table.empty()) return;
    const std::size_t height = costs.table.size() / costs.width;
    if (costs.rows.size() != keys || costs.columns.size() != keys) throw nb::value_error("one place per key is needed");
    for (std::size_t k = 0; k < keys; ++k)
        if (costs.rows[k] >= height || costs.columns[k] >= costs.width)
            throw nb::value_error("a place is outside the table");
}

double steps_of(const EditForest& forest) {
    double total = 0;
    for (std::size_t k = 0; k < forest.size(); ++k) total += forest[k].orders[0].steps + 1;
    return total;
}

}  // namespace

void register_edit(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("edit", "Tree edit distance.");
    nb::class_<EditForest>(module, "Forest")
        .def(
            "__init__",
            [](EditForest* self, const Arena& arena, Numbers roots, bool leaves_apart) {
                const auto checked = checked_roots(arena, roots);
                nb::gil_scoped_release release;
                new (self) EditForest(arena, checked, leaves_apart);
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("leaves_apart"))
        .def("__len__", &EditForest::size)
        .def(
            "keys",
            [](const EditForest& forest, const Arena& arena) {
                std::vector<std::string> labels;
                std::vector<std::uint32_t> leaves;
                for (const Node node : forest.samples()) {
                    if (node >= arena.size()) throw nb::index_error("node outside the arena");
                    labels.emplace_back(arena.symbols.text(arena.label(node)));
                    leaves.push_back(arena.is_leaf(node));
                }
                return std::make_tuple(labels, to_numpy(std::move(leaves)));
            },
            nb::arg("arena"))
        .def(
            "used_keys",
            [](const EditForest& forest, std::size_t begin, std::size_t end) {
                std::vector<std::uint32_t> found;
                std::vector<bool> seen(forest.samples().size());
                for (std::size_t k = begin; k < std::min(end, forest.size()); ++k)
                    for (const std::uint32_t key : forest[k].orders[0].keys) seen[key] = true;
                for (std::uint32_t key = 0; key < seen.size(); ++key)
                    if (seen[key]) found.push_back(key);
                return to_numpy(std::move(found));
            },
            nb::arg("begin"), nb::arg("end"))
        .def(
            "weights",
            [](const EditForest& forest, Values prices) {
                const auto price = view(prices);
                if (price.size() != forest.samples().size()) throw nb::value_error("one price per key is needed");
                std::vector<double> weights;
                for (std::size_t k = 0; k < forest.size(); ++k) {
                    double total = 0;
                    for (const std::uint32_t key : forest[k].orders[0].keys) total += price[key];
                    weights.push_back(total);
                }
                return to_numpy(std::move(weights));
            },
            nb::arg("prices").noconvert());
    nb::class_<EditCosts>(module, "Costs")
        .def(
            "__init__",
            [](EditCosts* self, Values removal, Values insertion, double rename, std::optional<ConstMatrix> table,
               Numbers rows, Numbers columns, bool whole, bool keeps_free) {
                EditCosts costs{copied(removal), copied(insertion), rename, {}, copied(rows), copied(columns), 0,
                                whole,           keeps_free};
                if (table) {
                    costs.table.assign(table->data(), table->data() + table->size());
                    costs.width = table->shape(1);
                    if (costs.table.empty()) throw nb::value_error("the table is empty");
                }
                new (self) EditCosts(std::move(costs));
            },
            nb::arg("removal").noconvert(), nb::arg("insertion").noconvert(), nb::arg("rename"),
            nb::arg("table").noconvert().none(), nb::arg("rows").noconvert(), nb::arg("columns").noconvert(),
            nb::arg("whole"), nb::arg("keeps_free"));
    module.def(
        "distances",
        [](const EditForest& forest, const EditCosts& costs, std::size_t rows, bool symmetric, double limit, Matrix out,
           std::size_t threads, Progress progress) {
            check_costs(forest, costs);
            if (rows > forest.size() || (symmetric && rows != forest.size())) throw nb::value_error("too many rows");
            if (out.shape(0) != rows || out.shape(1) != (symmetric ? rows : forest.size() - rows))
                throw nb::value_error("out has the wrong shape");
            const double steps = steps_of(forest);
            run_interruptible(steps * steps < 4e6, progress, [&](Control& control) {
                edit_distances(forest, costs, rows, rows, symmetric, limit, out.data(), threads, control);
            });
        },
        nb::arg("forest"), nb::arg("costs"), nb::arg("rows"), nb::arg("symmetric"), nb::arg("limit"),
        nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none());
    module.def(
        "pairs",
        [](const EditForest& forest, const EditCosts& costs, double limit, Vector out, std::size_t threads,
           Progress progress) {
            check_costs(forest, costs);
            if (2 * out.shape(0) != forest.size()) throw nb::value_error("out has the wrong shape");
            const double steps = steps_of(forest);
            run_interruptible(steps * steps < 4e6, progress, [&](Control& control) {
                edit_pairs(forest, costs, limit, out.data(), threads, control);
            });
        },
        nb::arg("forest"), nb::arg("costs"), nb::arg("limit"), nb::arg("out").noconvert(), nb::arg("threads"),
        nb::arg("progress").none());
    module.def(
        "script",
        [](const EditForest& forest, const EditCosts& costs) {
            check_costs(forest, costs);
            if (forest.size() != 2) throw nb::value_error("a script is of two trees");
            std::vector<std::uint32_t> from, to;
            std::vector<double> prices;
            const double steps = steps_of(forest);
            run_interruptible(steps * steps < 4e6, nb::none(), [&](Control& control) {
                with_edit_numbers(forest, costs, [&](auto number) {
                    for (const auto& edit : EditComparer<decltype(number)>(forest, costs, control).script(0, 1)) {
                        from.push_back(edit.from);
                        to.push_back(edit.to);
                        prices.push_back(edit.cost);
                    }
                });
            });
            return std::make_tuple(to_numpy(std::move(from)), to_numpy(std::move(to)), to_numpy(std::move(prices)));
        },
        nb::arg("forest"), nb::arg("costs"));
    module.def(
        "sequences",
        [](Numbers rows, Offsets row_ends, Numbers columns, Offsets column_ends, Matrix out) {
            const auto check = [](const Numbers& numbers, const Offsets& ends) {
                std::uint64_t before = 0;
                for (const std::uint64_t end : view(ends)) {
                    if (end < before || end > numbers.shape(0)) throw nb::value_error("ends are out of order");
                    before = end;
                }
            };
            check(rows, row_ends);
            check(columns, column_ends);
            if (out.shape(0) != row_ends.shape(0) || out.shape(1) != column_ends.shape(0))
                throw nb::value_error("out has the wrong shape");
            const double steps = static_cast<double>(rows.shape(0) + 1) * static_cast<double>(columns.shape(0) + 1);
            run_interruptible(steps < 4e6, nb::none(), [&](Control& control) {
                sequence_distances(view(rows), view(row_ends), view(columns), view(column_ends), out.data(), control);
            });
        },
        nb::arg("rows").noconvert(), nb::arg("row_ends").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("column_ends").noconvert(), nb::arg("out").noconvert());
}

}  // namespace sapwood::bind
