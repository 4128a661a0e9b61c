// What searches for fragments take and give, the same for all kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.hpp"
#include "bags.hpp"
#include "heaviest.hpp"
#include "heaviest_alike.hpp"
#include "watch.hpp"

namespace sapwood::bind {

inline void check_one(const Bags& bags) {
    if (bags.size() != 1) throw nb::value_error("expected exactly one element");
}

// (arena, roots, roots of the other fragments, weights, counts, children left out on both sides, exact)
inline nb::tuple give_found(Heaviest&& found) {
    return nb::make_tuple(nb::cast(std::move(found.arena)), give(std::move(found.roots)), give(std::move(found.others)),
                          give(std::move(found.weights)), give(std::move(found.counts)), found.deleted,
                          found.other_deleted, found.exact);
}

inline void check_links(const WordLinks& links, const Arena& rows, const Arena& model) {
    for (const auto& row : links.rows)
        if (row.first >= rows.symbols.size()) throw nb::value_error("a linked word is out of range");
    for (const Symbol word : links.words)
        if (word >= model.symbols.size()) throw nb::value_error("a linked word is out of range");
}

// ask(question, control) runs the search of a model.
template <class Fragments, class Ask>
nb::tuple search(const Fragments& model, Values combination, const Arena* arena, const Bags* element,
                 const WordLinks* links, bool pairs, std::size_t capacity, std::size_t limit, Ask ask) {
    if (combination.shape(0) != model.outputs()) throw nb::value_error("combination has the wrong shape");
    if ((arena == nullptr) != (element == nullptr)) throw nb::value_error("an element needs its arena");
    if (element) check_one(*element);
    if (links) check_links(*links, element ? *arena : model.arena(), model.arena());
    const HeaviestQuestion question{view(combination), arena, element, links, pairs, capacity, limit};
    Heaviest found;
    watch(false, nb::none(), [&](Control& control) { found = ask(question, control); });
    return give_found(std::move(found));
}

}  // namespace sapwood::bind
