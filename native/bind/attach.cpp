// Bindings of connection paths and forests of attachments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arena.hpp"
#include "arrays.hpp"
#include "attach.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace sapwood;
using sapwood::bind::give;
using sapwood::bind::view;
using sapwood::bind::watch;

namespace {

std::span<const Node> checked(const Arena& arena, const bind::Numbers& trees) {
    for (const Node tree : view(trees))
        if (tree >= arena.size()) throw nb::index_error("root outside the arena");
    return view(trees);
}

IncrementalRoot root_of(bool top) { return top ? IncrementalRoot::kTop : IncrementalRoot::kLowest; }

nb::list texts(const SymbolTable& symbols, std::span<const Symbol> labels) {
    nb::list result;
    for (const Symbol label : labels) {
        const std::string_view text = symbols.text(label);
        result.append(nb::str(text.data(), text.size()));
    }
    return result;
}

void add_path(ConnectionPaths& paths, const std::vector<std::string>& up, const std::string& anchor,
              const std::vector<std::string>& down, double count) {
    if (down.empty()) throw nb::value_error("a path needs a tag to end in");
    const auto numbers = [&](const std::vector<std::string>& labels) {
        std::vector<Symbol> result;
        for (const std::string& label : labels) result.push_back(paths.symbols.intern(label));
        return result;
    };
    const std::vector<Symbol> above = numbers(up), below = numbers(down);
    paths.add({above, paths.symbols.intern(anchor), below}, count);
}

nb::tuple forests(const ConnectionPaths& paths, const Arena& arena, bind::Numbers tree_array, bool top, int missing,
                  std::size_t reduction, double minimum_count, nb::object progress) {
    const auto trees = checked(arena, tree_array);
    if (missing < 0 || missing > 2) throw nb::value_error("missing is 0, 1 or 2");
    AttachmentForests made;
    watch(false, progress, [&](Control& control) {
        made = build_forests(paths, arena, trees,
                             {root_of(top), static_cast<MissingGold>(missing), reduction, minimum_count}, control);
    });
    std::vector<Symbol> feet = made.foot;
    std::sort(feet.begin(), feet.end());
    feet.erase(std::unique(feet.begin(), feet.end()), feet.end());
    std::vector<std::uint32_t> foot;
    for (const Symbol label : made.foot)
        foot.push_back(static_cast<std::uint32_t>(std::lower_bound(feet.begin(), feet.end(), label) - feet.begin()));
    nb::list names = texts(made.arena.symbols, feet);
    nb::tuple counts = nb::make_tuple(made.steps, made.missing, made.alone);
    return nb::make_tuple(nb::cast(std::move(made.arena)), give(std::move(made.tree)), give(std::move(made.depth)),
                          give(std::move(made.path)), give(std::move(made.end)), give(std::move(made.gold)),
                          give(std::move(made.sentence)), give(std::move(made.word)), give(std::move(foot)), names, counts);
}

}  // namespace

void register_attach(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("attach", "Incremental trees and the ways to attach a word to them.");
    nb::class_<ConnectionPaths>(module, "Paths")
        .def(nb::init<>())
        .def("__len__", &ConnectionPaths::size)
        .def("add", &add_path, nb::arg("up"), nb::arg("anchor"), nb::arg("down"), nb::arg("count"))
        .def("learn",
             [](ConnectionPaths& paths, const Arena& arena, bind::Numbers tree_array, bool top) {
                 const auto trees = checked(arena, tree_array);
                 watch(false, nb::none(),
                       [&](Control& control) { learn_paths(paths, arena, trees, root_of(top), control); });
             },
             nb::arg("arena"), nb::arg("trees").noconvert(), nb::arg("top"))
        .def("path",
             [](const ConnectionPaths& paths, std::uint32_t number) {
                 if (number >= paths.size()) throw nb::index_error("no such path");
                 const PathView path = paths.path(number);
                 return nb::make_tuple(texts(paths.symbols, path.up), texts(paths.symbols, std::span(&path.anchor, 1))[0],
                                       texts(paths.symbols, path.down));
             },
             nb::arg("number"))
        .def("counts",
             [](const ConnectionPaths& paths) {
                 std::vector<double> counts;
                 for (std::uint32_t number = 0; number < paths.size(); ++number) counts.push_back(paths.count(number));
                 return give(std::move(counts));
             })
        .def("forests", &forests, nb::arg("arena"), nb::arg("trees").noconvert(), nb::arg("top"), nb::arg("missing"),
             nb::arg("reduction"), nb::arg("minimum_count"), nb::arg("progress").none());
}
