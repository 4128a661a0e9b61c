// Bindings of connection paths and forests of attachments.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "parse/attachment.hpp"
#include "trees/arena.hpp"

namespace sapwood::bind {

namespace {

IncrementalRoot root_of(bool top) { return top ? IncrementalRoot::kTop : IncrementalRoot::kLowest; }

std::vector<std::string> texts(const SymbolTable& symbols, std::span<const Symbol> labels) {
    std::vector<std::string> result;
    for (const Symbol label : labels) result.emplace_back(symbols.text(label));
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

auto forests(const ConnectionPaths& paths, const Arena& arena, Numbers tree_array, bool top, int missing,
             std::size_t reduction, double minimum_count, Progress progress) {
    const auto trees = checked_roots(arena, tree_array);
    if (missing < 0 || missing > 2) throw nb::value_error("missing is 0, 1 or 2");
    AttachmentForests made;
    run_interruptible(false, progress, [&](Control& control) {
        made = build_forests(paths, arena, trees,
                             {root_of(top), static_cast<MissingGold>(missing), reduction, minimum_count}, control);
    });
    std::vector<Symbol> feet = made.foot;
    std::sort(feet.begin(), feet.end());
    feet.erase(std::unique(feet.begin(), feet.end()), feet.end());
    std::vector<std::uint32_t> foot;
    for (const Symbol label : made.foot)
        foot.push_back(static_cast<std::uint32_t>(std::lower_bound(feet.begin(), feet.end(), label) - feet.begin()));
    std::vector<std::string> names = texts(made.arena.symbols, feet);
    return std::make_tuple(std::move(made.arena), to_numpy(std::move(made.tree)), to_numpy(std::move(made.depth)),
                           to_numpy(std::move(made.path)), to_numpy(std::move(made.end)),
                           to_numpy(std::move(made.gold)), to_numpy(std::move(made.sentence)),
                           to_numpy(std::move(made.word)), to_numpy(std::move(foot)), std::move(names),
                           std::make_tuple(made.steps, made.missing, made.alone));
}

}  // namespace

void register_attach(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("attach", "Incremental trees and the ways to attach a word to them.");
    nb::class_<ConnectionPaths>(module, "Paths")
        .def(nb::init<>())
        .def("__len__", &ConnectionPaths::size)
        .def("add", &add_path, nb::arg("up"), nb::arg("anchor"), nb::arg("down"), nb::arg("count"))
        .def(
            "learn",
            [](ConnectionPaths& paths, const Arena& arena, Numbers tree_array, bool top) {
                const auto trees = checked_roots(arena, tree_array);
                run_interruptible(false, nb::none(),
                                  [&](Control& control) { learn_paths(paths, arena, trees, root_of(top), control); });
            },
            nb::arg("arena"), nb::arg("trees").noconvert(), nb::arg("top"))
        .def(
            "path",
            [](const ConnectionPaths& paths, std::uint32_t number) {
                if (number >= paths.size()) throw nb::index_error("no such path");
                const PathView path = paths.path(number);
                return std::make_tuple(texts(paths.symbols, path.up), std::string(paths.symbols.text(path.anchor)),
                                       texts(paths.symbols, path.down));
            },
            nb::arg("number"))
        .def("counts",
             [](const ConnectionPaths& paths) {
                 std::vector<double> counts;
                 for (std::uint32_t number = 0; number < paths.size(); ++number) counts.push_back(paths.count(number));
                 return to_numpy(std::move(counts));
             })
        .def("forests", &forests, nb::arg("arena"), nb::arg("trees").noconvert(), nb::arg("top"), nb::arg("missing"),
             nb::arg("reduction"), nb::arg("minimum_count"), nb::arg("progress").none());
}

}  // namespace sapwood::bind
