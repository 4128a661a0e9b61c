// Bindings of the syntactic kernels: Gram matrices and diagonals into arrays that the caller allocates.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>
#include <optional>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/makers.hpp"
#include "bind/roots.hpp"
#include "core/vectorized.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gram.hpp"
#include "kernels/model.hpp"
#include "kernels/scoring.hpp"
#include "learn/kernel_rows.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

namespace {

// Distinct subtrees and their children: one subtree can have any number of children.
double extent(const Arena& arena, const Bags& bags) {
    double total = static_cast<double>(bags.numbers.size());
    for (const Node node : bags.numbers) total += static_cast<double>(arena.children(node).size());
    return total;
}

// Small enough to finish before Ctrl-C could be pressed.
bool is_brief(const Arena& arena, const Bags& rows, const Arena& store, const Bags& columns) {
    if (static_cast<double>(rows.numbers.size()) * static_cast<double>(columns.numbers.size()) >= 1e6) return false;
    return extent(arena, rows) * extent(store, columns) < 4e6;
}

// make(arena, bags) gives the columns of a kernel. Columns None means the Gram matrix of the rows.
template <class Make>
void run_gram(const Arena& arena, const Bags& rows, const Arena* column_arena, const Bags* columns, Matrix out,
              std::size_t threads, nb::handle progress, Make make) {
    const bool symmetric = columns == nullptr;
    const Arena& store = symmetric ? arena : *column_arena;
    const Bags& others = symmetric ? rows : *columns;
    if (out.shape(0) != rows.size() || out.shape(1) != others.size()) throw nb::value_error("out has the wrong shape");
    run_interruptible(is_brief(arena, rows, store, others), progress, [&](Control& control) {
        const auto prepared = make(store, others, threads);
        const ArenaMap map(arena, store, rows);
        gram(prepared, store, others, map, rows, symmetric, out.data(), threads, control);
    });
}

template <class Make>
void run_diagonal(const Arena& arena, const Bags& bags, Vector out, std::size_t threads, Make make) {
    if (out.shape(0) != bags.size()) throw nb::value_error("out has the wrong shape");
    run_interruptible(bags.numbers.size() < 1000 && extent(arena, bags) < 2000, nb::none(),
                      [&](Control& control) { diagonal(arena, bags, out.data(), threads, control, make); });
}

// The first half of the bags with the second.
template <class Make>
void run_pairs(const Arena& arena, const Bags& bags, Vector out, std::size_t threads, nb::handle progress, Make make) {
    if (2 * out.shape(0) != bags.size()) throw nb::value_error("out has the wrong shape");
    run_interruptible(bags.numbers.size() < 1000 && extent(arena, bags) < 2000, progress, [&](Control& control) {
        elementwise(
            arena, bags, out.data(), threads, control, [&] { return make.pairs(arena); },
            [&](std::size_t first, std::size_t second, std::vector<Node>& number, double* value) {
                const IsolatedPair pair(arena, bags, first, second, number);
                const ArenaMap map(pair.alone, pair.alone, pair.row);
                gram(make(pair.alone, pair.column), pair.alone, pair.column, map, pair.row, false, value, 1, control);
            });
    });
}

// Roots and where those of each element end, checked.
Elements elements_of(const Arena& arena, Numbers root_array, const std::optional<Offsets>& end_array) {
    const auto roots = checked_roots(arena, root_array);
    std::span<const std::uint64_t> ends;
    if (end_array) {
        ends = view(*end_array);
        std::uint64_t before = 0;
        for (const std::uint64_t end : ends) {
            if (end < before || end > roots.size()) throw nb::value_error("ends are out of order");
            before = end;
        }
    }
    return {roots, ends, !end_array};
}

template <class Scorer>
void run_scorer(const Scorer& scorer, const Arena& arena, Numbers roots, std::optional<Offsets> ends, Matrix out,
                std::size_t threads, Progress progress) {
    const Elements elements = elements_of(arena, roots, ends);
    if (out.shape(0) != elements.size() || out.shape(1) != scorer.outputs())
        throw nb::value_error("out has the wrong shape");
    // At worst all subtrees resemble all of the model, or are as wide as what they resemble; looking them up is
    // negligible.
    const auto edges = static_cast<double>(arena.edge_count());
    const bool brief = IsQuick<Scorer> ? edges < 200000 && elements.roots.size() < 200000
                                       : edges < 2000 && edges * static_cast<double>(scorer.bytes()) < 2e9;
    run_interruptible(brief, progress, [&](Control& control) {
        if constexpr (requires { scorer.score(arena, elements, out.data(), threads, control); })
            scorer.score(arena, elements, out.data(), threads, control);
        else
            score(scorer, arena, elements, out.data(), threads, control);
    });
}

// A kernel with its parameters: the same methods for each.
template <class Maker>
nb::class_<Maker> register_kernel(nb::module_& module, const char* name, const char* model_name,
                                  const char* scorer_name) {
    using Scorer = decltype(std::declval<Maker>().scorer(std::declval<const Arena&>(), std::declval<const Bags&>(),
                                                         std::declval<const double*>(), std::size_t{}));
    nb::class_<Scorer>(module, scorer_name)
        .def("evaluate", &run_scorer<Scorer>, nb::arg("arena"), nb::arg("roots").noconvert(),
             nb::arg("ends").noconvert().none(), nb::arg("out").noconvert(), nb::arg("threads"),
             nb::arg("progress").none())
        .def_prop_ro("nbytes", &Scorer::bytes);
    using Columns = decltype(std::declval<Maker>()(std::declval<const Arena&>(), std::declval<const Bags&>()));
    using KernelModel = Model<Columns>;
    nb::class_<KernelModel>(module, model_name)
        .def(
            "evaluate",
            [](const KernelModel& model, const Arena& arena, const Bags& rows, Matrix out, std::size_t threads,
               Progress progress) {
                if (out.shape(0) != rows.size() || out.shape(1) != model.outputs())
                    throw nb::value_error("out has the wrong shape");
                const bool brief =
                    rows.numbers.size() < 1000 && extent(arena, rows) < 2000 && model.arena().edge_count() < 100000;
                run_interruptible(brief, progress,
                                  [&](Control& control) { model.evaluate(arena, rows, out.data(), threads, control); });
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("out").noconvert(), nb::arg("threads"),
            nb::arg("progress").none())
        .def_prop_ro("nbytes", &KernelModel::bytes);
    return nb::class_<Maker>(module, name)
        .def(
            "gram",
            [](const Maker& make, const Arena& arena, const Bags& rows, const Arena* column_arena, const Bags* columns,
               Matrix out, std::size_t threads,
               Progress progress) { run_gram(arena, rows, column_arena, columns, out, threads, progress, make); },
            nb::arg("arena"), nb::arg("rows"), nb::arg("column_arena").none(), nb::arg("columns").none(),
            nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "diagonal",
            [](const Maker& make, const Arena& arena, const Bags& bags, Vector out, std::size_t threads) {
                run_diagonal(arena, bags, out, threads, make);
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("out").noconvert(), nb::arg("threads"))
        .def(
            "pairs",
            [](const Maker& make, const Arena& arena, const Bags& bags, Vector out, std::size_t threads,
               Progress progress) { run_pairs(arena, bags, out, threads, progress, make); },
            nb::arg("arena"), nb::arg("bags"), nb::arg("out").noconvert(), nb::arg("threads"),
            nb::arg("progress").none())
        .def(
            "model",
            [](const Maker& make, const Arena& arena, const Bags& bags, ConstMatrix weights) {
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                nb::gil_scoped_release release;
                return KernelModel(make(arena, bags), arena, bags, weights.data(), weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("weights").noconvert(), nb::keep_alive<0, 2>())
        .def(
            "scorer",
            [](const Maker& make, const Arena& arena, const Bags& bags, ConstMatrix weights) {
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                nb::gil_scoped_release release;
                return make.scorer(arena, bags, weights.data(), weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("weights").noconvert(), nb::keep_alive<0, 2>())
        .def(
            "rows",
            [](const Maker& make, const Arena& arena, const Bags& rows, const Arena& column_arena, const Bags& columns,
               Values factors, std::size_t cache_bytes) -> std::shared_ptr<RowSource<float>> {
                if (rows.size() != columns.size() || factors.shape(0) != rows.size())
                    throw nb::value_error("rows, columns and factors differ in number");
                const auto given = view(factors);
                std::vector<double> copied(given.begin(), given.end());
                nb::gil_scoped_release release;
                return std::make_shared<KernelRows<Columns>>(make(column_arena, columns), arena, rows, column_arena,
                                                             columns, std::move(copied), cache_bytes);
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("column_arena"), nb::arg("columns"),
            nb::arg("factors").noconvert(), nb::arg("cache_bytes"), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
            nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>());
}

Bags bags_of(const Arena& arena, Numbers roots, std::optional<Offsets> ends, std::size_t threads) {
    const Elements elements = elements_of(arena, roots, ends);
    nb::gil_scoped_release release;
    return make_bags(arena, elements.roots, elements.ends, elements.one_each, threads);
}

}  // namespace

void register_kernels(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("kernels", "Syntactic tree kernels.");
    nb::class_<Bags>(module, "Bags")
        .def(
            "__init__",
            [](Bags* self, const Arena& arena, Numbers roots, std::optional<Offsets> ends, std::size_t threads) {
                new (self) Bags(bags_of(arena, roots, ends, threads));
            },
            nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("ends").noconvert().none(), nb::arg("threads"))
        .def("__len__", &Bags::size)
        .def_prop_ro("nbytes", &Bags::bytes)
        .def("node_count",
             [](const Bags& bags) {
                 double total = 0;
                 for (const double count : bags.counts) total += count;
                 return total;
             })
        .def("distinct_count", [](const Bags& bags) {
            std::vector<std::uint32_t> all = bags.numbers;
            std::sort(all.begin(), all.end());
            return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
        });

    module.def(
        "scale_within_one",
        [](Matrix values, Values left, Values right) {
            const auto by_row = view(left), by_column = view(right);
            if (values.shape(0) != by_row.size() || values.shape(1) != by_column.size())
                throw nb::value_error("values and factors differ in number");
            const nb::gil_scoped_release release;
            std::size_t beyond = 0;
            for (std::size_t i = 0; i < by_row.size(); ++i)
                beyond += scale_within_one(values.data() + i * by_column.size(), by_row[i], by_column.data(),
                                           by_column.size());
            return beyond;
        },
        nb::arg("values").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert());

    register_kernel<SubtreeMaker>(module, "Subtree", "SubtreeModel", "SubtreeScorer")
        .def(nb::init<double>(), nb::arg("decay"));
    register_kernel<SubsetMaker>(module, "Subset", "SubsetModel", "SubsetScorer")
        .def(
            "__init__",
            [](SubsetMaker* self, double decay, bool bag_of_words, std::size_t height_limit) {
                new (self) SubsetMaker{{decay, bag_of_words, height_limit}};
            },
            nb::arg("decay"), nb::arg("bag_of_words"), nb::arg("height_limit"));
    register_kernel<PartialMaker>(module, "Partial", "PartialModel", "PartialScorer")
        .def(
            "__init__",
            [](PartialMaker* self, double decay, double depth_decay, std::size_t max_subsequence, bool leaves,
               double terminal_factor) {
                new (self) PartialMaker{{decay, depth_decay, max_subsequence, leaves, terminal_factor}};
            },
            nb::arg("decay"), nb::arg("depth_decay"), nb::arg("max_subsequence"), nb::arg("leaves"),
            nb::arg("terminal_factor"));
}

}  // namespace sapwood::bind
