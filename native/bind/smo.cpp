// Bindings of the support vector solver: sources of kernel rows, the kernel between points, and the solver itself.
#include "learn/smo.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "learn/point_kernel.hpp"
#include "learn/row_sources.hpp"

namespace sapwood::bind {

namespace {

using Sides = Input<std::int8_t>;

// A NumPy array as a source of rows.
template <class Real>
class Held final : public RowSource<Real> {
  public:
    explicit Held(InputMatrix<Real> table) : table_(table), square_(table.data(), table.shape(0)) {
        if (table.shape(0) != table.shape(1)) throw nb::value_error("a table of kernel values must be square");
    }
    std::size_t size() const override { return square_.size(); }
    Row<Real> row(std::size_t item) const override { return square_.row(item); }
    const Real* table() const override { return square_.table(); }

  private:
    InputMatrix<Real> table_;
    Square<Real> square_;
};

// Sparse vectors one after the other: where each ends, its features and their values.
Bags read_vectors(Offsets end_array, Numbers number_array, Values value_array, std::size_t features) {
    const auto ends = view(end_array);
    const auto numbers = view(number_array);
    const auto values = view(value_array);
    if (numbers.size() != values.size()) throw nb::value_error("numbers and values differ in length");
    std::uint64_t before = 0;
    for (const std::uint64_t end : ends) {
        if (end < before || end > numbers.size()) throw nb::value_error("ends are out of order");
        before = end;
    }
    if (before != numbers.size()) throw nb::value_error("ends do not cover the numbers");
    for (const std::uint32_t number : numbers)
        if (number >= features) throw nb::value_error("a feature is out of range");
    Bags bags;
    bags.ends.assign(ends.begin(), ends.end());
    bags.numbers.assign(numbers.begin(), numbers.end());
    bags.counts.assign(values.begin(), values.end());
    return bags;
}

template <class Real>
std::shared_ptr<RowSource<Real>> dot_rows(Offsets end_array, Numbers number_array, Values value_array,
                                          std::size_t features, double scale, double constant, unsigned degree,
                                          Values factor_array, std::size_t cache_bytes) {
    const auto factors = view(factor_array);
    if (!factors.empty() && factors.size() != end_array.shape(0)) throw nb::value_error("factors differ in number");
    Bags bags = read_vectors(end_array, number_array, value_array, features);
    nb::gil_scoped_release release;
    return std::make_shared<DotRows<Real>>(std::move(bags), features, PowerOptions{scale, constant, degree},
                                           std::vector<double>(factors.begin(), factors.end()), cache_bytes);
}

// Dot products of all rows with all columns, written where the caller wants them.
void dot_products(Offsets row_ends, Numbers row_numbers, Values row_values, Offsets column_ends, Numbers column_numbers,
                  Values column_values, std::size_t features, Matrix out, std::size_t threads) {
    const Bags rows = read_vectors(row_ends, row_numbers, row_values, features);
    const Bags columns = read_vectors(column_ends, column_numbers, column_values, features);
    const std::size_t width = columns.size();
    if (out.shape(0) != rows.size() || out.shape(1) != width) throw nb::value_error("out has the wrong shape");
    run_interruptible(rows.size() * width < 100000, nb::none(), [&](Control& control) {
        const Postings postings(columns, features, threads);
        const auto multiply = [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                double* row = out.data() + i * width;
                std::fill(row, row + width, 0.0);
                const auto numbers = rows.numbers_of(i);
                const auto values = rows.counts_of(i);
                for (std::size_t k = 0; k < numbers.size(); ++k) postings.add(numbers[k], values[k], 0, row);
            }
        };
        parallel_blocks(rows.size(), 8, threads, control, [&] { return multiply; });
    });
}

template <class T>
std::vector<T> copy(const Input<T>& array) {
    return {array.data(), array.data() + array.shape(0)};
}

// Squares of values between items with the same tag, and, per point, its tag (0 for none) and its row among all of
// them.
template <class Real>
struct Same {
    std::shared_ptr<Blocks<Real>> blocks;
    std::vector<std::uint32_t> tags, rows, places;
};

template <class Real>
Same<Real> same(Offsets size_array, Input<Real> value_array, Numbers tags, Numbers rows) {
    Same<Real> result{nullptr, copy(tags), copy(rows), {}};
    std::vector<std::size_t> sizes;
    std::vector<std::uint32_t> block, place;
    std::size_t cells = 0;
    for (const std::uint64_t size : view(size_array)) {
        for (std::uint32_t k = 0; k < size; ++k) {
            block.push_back(static_cast<std::uint32_t>(sizes.size()));
            place.push_back(k);
        }
        sizes.push_back(size);
        cells += size * size;
    }
    if (cells != value_array.shape(0)) throw nb::value_error("squares and values differ in size");
    if (result.tags.size() != result.rows.size()) throw nb::value_error("tags and rows differ in number");
    for (std::size_t k = 0; k < result.rows.size(); ++k) {
        if (result.tags[k] != 0 && (result.rows[k] >= block.size() || block[result.rows[k]] + 1 != result.tags[k]))
            throw nb::value_error("a row lies in the square of another tag");
        result.places.push_back(result.tags[k] != 0 ? place[result.rows[k]] : 0);
    }
    auto owner = std::make_shared<Input<Real>>(value_array);
    result.blocks = std::make_shared<Blocks<Real>>(sizes, owner->data(), owner);
    return result;
}

template <class Real>
Component<Real> component(std::shared_ptr<RowSource<Real>> values, Numbers items, const Same<Real>* same) {
    Component<Real> result{values, nullptr, copy(items), {}, {}, {}};
    for (const std::uint32_t item : result.items)
        if (item >= values->size()) throw nb::value_error("an item is out of range");
    if (same) {
        if (same->tags.size() != result.items.size()) throw nb::value_error("tags and items differ in number");
        result.same = same->blocks;
        result.tags = same->tags;
        result.rows = same->rows;
        result.places = same->places;
    }
    return result;
}

Term term(double weight, std::vector<std::size_t> factors, Values scale) {
    return {weight, std::move(factors), copy(scale)};
}

template <class Real>
PointKernel<Real> point_kernel(const std::vector<Component<Real>>& components, const std::vector<Term>& terms,
                               Values diagonal) {
    const std::size_t points = diagonal.shape(0);
    for (const Component<Real>& one : components)
        if (one.items.size() != points) throw nb::value_error("a component has the wrong number of points");
    for (const Term& one : terms) {
        if (!one.scale.empty() && one.scale.size() != points) throw nb::value_error("a scale has the wrong length");
        for (const std::size_t factor : one.factors)
            if (factor >= components.size()) throw nb::value_error("a factor is out of range");
    }
    return {points, components, terms, copy(diagonal)};
}

// Problems one after the other: where each ends, and its points, sides and costs.
std::vector<SvmProblem> read_problems(std::size_t size, Offsets end_array, Numbers point_array, Sides side_array,
                                      Values cost_array) {
    const auto points = view(point_array);
    const auto sides = view(side_array);
    const auto costs = view(cost_array);
    if (points.size() != sides.size() || points.size() != costs.size())
        throw nb::value_error("problems differ in length");
    std::vector<SvmProblem> problems;
    std::size_t begin = 0;
    for (const std::uint64_t end : view(end_array)) {
        if (end < begin || end > points.size()) throw nb::value_error("ends are out of order");
        SvmProblem& problem = problems.emplace_back();
        for (std::size_t k = begin; k < end; ++k) {
            if (points[k] >= size || (sides[k] != 1 && sides[k] != -1) || !(costs[k] > 0.0))
                throw nb::value_error("a point, side or cost is out of range");
        }
        problem.points.assign(points.begin() + begin, points.begin() + end);
        problem.side.assign(sides.begin() + begin, sides.begin() + end);
        problem.cost.assign(costs.begin() + begin, costs.begin() + end);
        begin = end;
    }
    return problems;
}

template <class Real>
auto solve(const PointKernel<Real>& kernel, Offsets ends, Numbers points, Sides sides, Values costs, double tolerance,
           std::size_t max_iterations, std::size_t window_bytes, bool shrinking, std::size_t threads,
           Progress progress) {
    const std::vector<SvmProblem> problems = read_problems(kernel.size(), ends, points, sides, costs);
    std::vector<SvmSolution> solutions;
    // However few points there are, a small tolerance may take millions of steps.
    run_interruptible(false, progress, [&](Control& control) {
        solutions =
            solve_svms(kernel, problems, {tolerance, max_iterations, window_bytes, shrinking}, threads, control);
    });
    std::vector<double> weights, bias, objective, gap;
    std::vector<std::uint64_t> iterations;
    weights.reserve(points.shape(0));
    bool converged = true;
    for (const SvmSolution& one : solutions) {
        weights.insert(weights.end(), one.weights.begin(), one.weights.end());
        bias.push_back(one.bias);
        objective.push_back(one.objective);
        gap.push_back(one.gap);
        iterations.push_back(one.iterations);
        converged = converged && one.converged;
    }
    return std::make_tuple(to_numpy(std::move(weights)), to_numpy(std::move(bias)), to_numpy(std::move(objective)),
                           to_numpy(std::move(gap)), to_numpy(std::move(iterations)), converged);
}

// Everything in one precision; names end in 32 or 64.
template <class Real>
void register_precision(nb::module_& module, const std::string& bits) {
    const auto named = [&](const char* name) { return name + bits; };
    nb::class_<RowSource<Real>>(module, named("Rows").c_str())
        .def("__len__", &RowSource<Real>::size)
        .def(
            "row",
            [](const RowSource<Real>& source, std::size_t item) {
                if (item >= source.size()) throw nb::index_error("no such row");
                const Row<Real> row = source.row(item);
                return to_numpy(std::vector<Real>(row.values, row.values + source.size()));
            },
            nb::arg("item"));
    module.def(
        named("square").c_str(),
        [](InputMatrix<Real> table) -> std::shared_ptr<RowSource<Real>> { return std::make_shared<Held<Real>>(table); },
        nb::arg("table").noconvert());
    module.def(named("dot_rows").c_str(), &dot_rows<Real>, nb::arg("ends").noconvert(), nb::arg("numbers").noconvert(),
               nb::arg("values").noconvert(), nb::arg("features"), nb::arg("scale"), nb::arg("constant"),
               nb::arg("degree"), nb::arg("factors").noconvert(), nb::arg("cache_bytes"));
    nb::class_<Same<Real>>(module, named("Same").c_str())
        .def(
            "__init__",
            [](Same<Real>* self, Offsets sizes, Input<Real> values, Numbers tags, Numbers rows) {
                new (self) Same<Real>(same<Real>(sizes, values, tags, rows));
            },
            nb::arg("sizes").noconvert(), nb::arg("values").noconvert(), nb::arg("tags").noconvert(),
            nb::arg("rows").noconvert());
    nb::class_<Component<Real>>(module, named("Component").c_str())
        .def(
            "__init__",
            [](Component<Real>* self, std::shared_ptr<RowSource<Real>> values, Numbers items, const Same<Real>* same) {
                new (self) Component<Real>(component<Real>(values, items, same));
            },
            nb::arg("values"), nb::arg("items").noconvert(), nb::arg("same").none());
    nb::class_<PointKernel<Real>>(module, named("PointKernel").c_str())
        .def(
            "__init__",
            [](PointKernel<Real>* self, const std::vector<Component<Real>>& components, const std::vector<Term>& terms,
               Values diagonal) { new (self) PointKernel<Real>(point_kernel<Real>(components, terms, diagonal)); },
            nb::arg("components"), nb::arg("terms"), nb::arg("diagonal").noconvert())
        .def("__len__", &PointKernel<Real>::size)
        .def(
            "row",
            [](const PointKernel<Real>& kernel, std::size_t point) {
                if (point >= kernel.size()) throw nb::index_error("no such point");
                std::vector<std::uint32_t> all(kernel.size());
                for (std::size_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::uint32_t>(k);
                std::vector<Real> values(kernel.size());
                kernel.row(point, kernel.select(std::move(all)), values.data());
                return to_numpy(std::move(values));
            },
            nb::arg("point"))
        .def("solve", &solve<Real>, nb::arg("ends").noconvert(), nb::arg("points").noconvert(),
             nb::arg("sides").noconvert(), nb::arg("costs").noconvert(), nb::arg("tolerance"),
             nb::arg("max_iterations"), nb::arg("window_bytes"), nb::arg("shrinking"), nb::arg("threads"),
             nb::arg("progress").none());
}

template <class Half>
void register_half(nb::module_& module, const char* name) {
    nb::class_<Half, RowSource<float>>(module, name)
        .def(nb::init<std::size_t, std::size_t, double>(), nb::arg("size"), nb::arg("cache_bytes"),
             nb::arg("top") = 1.0)
        .def_static("nbytes", &Half::bytes, nb::arg("size"))
        .def(
            "set",
            [](Half& half, std::size_t begin, ConstMatrix block) {
                if (begin % Half::kSide != 0 || begin + block.shape(1) != half.size() ||
                    block.shape(0) > block.shape(1))
                    throw nb::value_error("a block must start at a tile and reach to the last column");
                nb::gil_scoped_release release;
                half.set(begin, block.shape(0), block.data(), block.shape(1));
            },
            nb::arg("begin"), nb::arg("block").noconvert());
}

}  // namespace

void register_smo(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("smo", "Support vector machines on rows of kernel values.");
    nb::class_<Term>(module, "Term")
        .def(
            "__init__",
            [](Term* self, double weight, std::vector<std::size_t> factors, Values scale) {
                new (self) Term(term(weight, std::move(factors), scale));
            },
            nb::arg("weight"), nb::arg("factors"), nb::arg("scale").noconvert());
    module.def("dot_products", &dot_products, nb::arg("row_ends").noconvert(), nb::arg("row_numbers").noconvert(),
               nb::arg("row_values").noconvert(), nb::arg("column_ends").noconvert(),
               nb::arg("column_numbers").noconvert(), nb::arg("column_values").noconvert(), nb::arg("features"),
               nb::arg("out").noconvert(), nb::arg("threads"));
    register_precision<float>(module, "32");
    register_precision<double>(module, "64");
    register_half<Triangle>(module, "Triangle");
    register_half<ShortTriangle>(module, "ShortTriangle");
}

}  // namespace sapwood::bind
