// Bindings of columns that stand for texts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <string>

#include "bind/arrays.hpp"
#include "learn/text_columns.hpp"

namespace sapwood::bind {

namespace {

using Ends = std::vector<std::uint32_t>;
using Groups = std::vector<Ends>;

// A text in UTF-8, surrogates as model files have them; `kept` holds what has to be made for it.
std::string_view utf8(nb::handle text, std::vector<nb::bytes>& kept) {
    Py_ssize_t size = 0;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {bytes, static_cast<std::size_t>(size)};
    PyErr_Clear();
    kept.push_back(nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass")));
    if (!kept.back().is_valid()) throw nb::python_error();
    return {kept.back().c_str(), kept.back().size()};
}

// For rows of values the columns of each, and where each ends.
auto find(const TextColumns& columns, nb::typed<nb::list, nb::typed<nb::list, nb::str>> rows) {
    std::vector<std::int32_t> found, ends{0};
    std::vector<std::string_view> values(columns.singles());
    std::vector<nb::bytes> kept;
    TextColumns::Scratch scratch;
    for (nb::handle one : rows) {
        const auto row = nb::cast<nb::list>(one);
        if (row.size() != values.size()) throw nb::value_error("a row has another number of values than features");
        kept.clear();
        std::size_t feature = 0;
        for (nb::handle value : row) values[feature++] = utf8(value, kept);
        columns.find(std::span<const std::string_view>(values), scratch, found);
        if (found.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::length_error("there are too many rows");
        ends.push_back(static_cast<std::int32_t>(found.size()));
    }
    return std::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(ends)));
}

nb::bytes bytes(const TextColumns& columns) { return nb::bytes(columns.texts().data(), columns.texts().size()); }

void make(TextColumns* place, nb::bytes texts, Ends ends, Groups groups) {
    new (place) TextColumns(std::string(texts.c_str(), texts.size()), std::move(ends), std::move(groups));
}

}  // namespace

void register_columns(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("columns", "Which columns of a matrix stand for texts.");
    nb::class_<TextColumns>(module, "TextColumns")
        .def("__init__", &make, nb::arg("texts"), nb::arg("ends"), nb::arg("groups"))
        .def("find", &find, nb::arg("rows"))
        .def("__getstate__",
             [](const TextColumns& self) { return std::make_tuple(bytes(self), self.ends(), self.groups()); })
        .def("__setstate__",
             [](TextColumns& self, const std::tuple<nb::bytes, Ends, Groups>& state) {
                 make(&self, std::get<0>(state), std::get<1>(state), std::get<2>(state));
             })
        .def_prop_ro("texts", &bytes)
        .def_prop_ro("ends", &TextColumns::ends);
}

}  // namespace sapwood::bind
