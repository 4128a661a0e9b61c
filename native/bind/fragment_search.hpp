// What searches for fragments take and give, the same for all kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "explain/heaviest.hpp"
#include "explain/heaviest_similar.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

inline void check_one(const Bags& bags) {
    if (bags.size() != 1) throw nb::value_error("expected exactly one element");
}

// (arena, roots, roots of the other fragments, weights, counts, children left out on both sides, exact)
inline auto to_tuple(Heaviest&& found) {
    return std::make_tuple(std::move(found.arena), to_numpy(std::move(found.roots)), to_numpy(std::move(found.others)),
                           to_numpy(std::move(found.weights)), to_numpy(std::move(found.counts)),
                           std::move(found.deleted), std::move(found.other_deleted), found.exact);
}

inline void check_links(const WordLinks& links, const Arena& rows, const Arena& model) {
    for (const auto& row : links.rows)
        if (row.first >= rows.symbols.size()) throw nb::value_error("a linked word is out of range");
    for (const Symbol word : links.words)
        if (word >= model.symbols.size()) throw nb::value_error("a linked word is out of range");
}

// ask(query, control) runs the search of a model.
template <class Fragments, class Ask>
auto search(const Fragments& model, Values combination, const Arena* arena, const Bags* element, const WordLinks* links,
            bool pairs, std::size_t capacity, std::size_t limit, Ask ask) {
    if (combination.shape(0) != model.outputs()) throw nb::value_error("combination has the wrong shape");
    if ((arena == nullptr) != (element == nullptr)) throw nb::value_error("an element needs its arena");
    if (element) check_one(*element);
    if (links) check_links(*links, element ? *arena : model.arena(), model.arena());
    const HeaviestQuery query{view(combination), arena, element, links, pairs, capacity, limit};
    Heaviest found;
    run_interruptible(false, nb::none(), [&](Control& control) { found = ask(query, control); });
    return to_tuple(std::move(found));
}

}  // namespace sapwood::bind
