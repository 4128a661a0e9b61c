// Bindings of what spells trees out place by place: search by patterns, and tables in pre-order.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "trees/pattern_search.hpp"
#include "trees/preorder.hpp"

namespace sapwood::bind {

namespace {

// Trees so few that a thread to watch over them would take longer.
constexpr std::size_t kFewTrees = 256;

// The labels of an arena by number.
std::vector<std::string_view> labels(const Arena& arena) {
    std::vector<std::string_view> texts;
    texts.reserve(arena.symbols.size());
    for (std::size_t s = 0; s < arena.symbols.size(); ++s) texts.push_back(arena.symbols.text(static_cast<Symbol>(s)));
    return texts;
}

// For every match: the tree, the place in it, and the subtree there.
auto search(const Arena& arena, Numbers root_array, InputMatrix<std::int32_t> step_array, Input<std::uint8_t> table,
            Numbers required) {
    const auto roots = checked_roots(arena, root_array);
    if (step_array.shape(1) != 2) throw nb::value_error("steps are pairs");
    std::vector<PatternStep> steps;
    for (std::size_t k = 0; k < step_array.shape(0); ++k)
        steps.push_back({static_cast<PatternOp>(step_array.data()[2 * k]), step_array.data()[2 * k + 1]});
    std::vector<std::uint64_t> trees;
    std::vector<std::uint32_t> places, nodes;
    run_interruptible(roots.size() <= kFewTrees, nb::none(), [&](Control& control) {
        PatternSearch patterns(arena, steps, view(table), view(required));
        for (std::size_t tree = 0; tree < roots.size(); ++tree) {
            if (tree % 64 == 0) control.check();
            patterns.search(roots[tree], [&](std::size_t place, Node node) {
                trees.push_back(tree);
                places.push_back(static_cast<std::uint32_t>(place));
                nodes.push_back(node);
            });
        }
    });
    return std::make_tuple(to_numpy(std::move(trees)), to_numpy(std::move(places)), to_numpy(std::move(nodes)));
}

// The labels of all nodes in pre-order, as numbers, with the numbers of their children, and where each tree ends.
auto preorder(const Arena& arena, Numbers root_array) {
    const auto roots = checked_roots(arena, root_array);
    std::vector<std::uint32_t> symbols, counts;
    std::vector<std::uint64_t> ends;
    run_interruptible(roots.size() <= kFewTrees, nb::none(), [&](Control& control) {
        std::vector<Node> stack;
        for (std::size_t tree = 0; tree < roots.size(); ++tree) {
            if (tree % 64 == 0) control.check();
            for_each_in_preorder(arena, roots[tree], stack, [&](Node node, std::span<const Node> kids) {
                symbols.push_back(arena.label(node));
                counts.push_back(static_cast<std::uint32_t>(kids.size()));
            });
            ends.push_back(symbols.size());
        }
    });
    return std::make_tuple(to_numpy(std::move(symbols)), to_numpy(std::move(counts)), to_numpy(std::move(ends)));
}

// The inverse: adds trees to an arena and gives their roots. The tables may come from a file, so everything is checked;
// kNone stands for what is no tree.
auto from_preorder(Arena& arena, nb::typed<nb::list, nb::str> texts, Numbers label_array, Numbers count_array,
                   Offsets end_array) {
    std::vector<Symbol> symbols;
    for (nb::handle text : texts) {
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!bytes) throw nb::python_error();
        symbols.push_back(arena.symbols.intern({bytes, static_cast<std::size_t>(size)}));
    }
    const auto labels = view(label_array);
    const auto counts = view(count_array);
    const auto ends = view(end_array);
    if (labels.size() != counts.size()) throw nb::value_error("labels and numbers of children differ in length");
    for (const std::uint32_t label : labels)
        if (label >= symbols.size()) throw nb::value_error("a label number is out of range");
    std::vector<std::uint32_t> roots;
    run_interruptible(ends.size() <= kFewTrees, nb::none(), [&](Control& control) {
        std::vector<Node> stack;
        std::size_t begin = 0;
        for (const std::uint64_t end : ends) {
            if (roots.size() % 64 == 0) control.check();
            if (end < begin || end > labels.size()) throw std::invalid_argument("ends of trees are out of order");
            roots.push_back(node_of_preorder(arena, symbols, labels.subspan(begin, end - begin),
                                             counts.subspan(begin, end - begin), stack));
            begin = end;
        }
    });
    return to_numpy(std::move(roots));
}

}  // namespace

void register_places(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("places", "Trees spelled out place by place.");
    module.attr("ONLY_CHILD") = kOnlyChild;
    module.def("labels", &labels, nb::arg("arena"));
    module.def("search", &search, nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("steps").noconvert(),
               nb::arg("table").noconvert(), nb::arg("required").noconvert());
    module.def("preorder", &preorder, nb::arg("arena"), nb::arg("roots").noconvert());
    module.def("from_preorder", &from_preorder, nb::arg("arena"), nb::arg("labels"), nb::arg("numbers").noconvert(),
               nb::arg("counts").noconvert(), nb::arg("ends").noconvert());
}

}  // namespace sapwood::bind
