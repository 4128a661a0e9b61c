// An index of the fragments that the trees of a subset-tree model share, as it lies in memory.
//
// A fragment grows from a production by matching one open child after the other, always to the right of the last:
//
//     E(G, open) = sum of weights of G + sum over open children k of decay * E(subtrees of G with that child, new open)
//
// where G are the subtrees of the model that begin with the fragment, and matching child k leaves open its children and
// what stood right of it. Followed with the productions of a subtree n, this adds up to the sum of weight * D(n, m)
// over all subtrees m of the model, and visits a fragment once however many of them share it. Two things cut this
// short:
//
//     - where few share a fragment, or where going on would not be faster, they are listed, to be compared one by one;
//     - where most of G have the very same subtree s at an open child, those become a fragment without that child;
//       it counts 1 + D(child, s) times, and the others another: trees of language nearly all end in the same full
//       stop.
//
// Open children come in fours, so that comparing has no loop to go wrong in. A fragment that would have more is listed
// by what was matched last and what stands right of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/arena.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sapwood {

struct FragmentTables {
    static constexpr std::size_t kPlaces = 4;
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    // What a subtree has in one place.
    struct Below {
        Production production = kNone;  // of a leaf kNone
        std::uint32_t children = 0;     // which of `below` begins the list of its children; 0 if all of them are leaves
    };
    // What it has in four places side by side, the last of which may be empty.
    struct Quad {
        std::array<Production, kPlaces> production{kNone, kNone, kNone, kNone};
        std::array<std::uint32_t, kPlaces> children{};

        void put(std::size_t place, const Below& what) {
            production[place] = what.production;
            children[place] = what.children;
        }
    };

    enum class Kind : std::uint8_t {
        kEnd,     // nothing is open
        kListed,  // compare with items
        kWhole,   // the same, where the first place was matched already and its children stand open
        kSplit,   // most have the same subtree in one place
        kGrown,   // look for edges
    };
    struct Entry {  // a fragment: how it goes on
        Entry() : at(0), count(0), opens(0), kind(Kind::kEnd) {}
        std::uint32_t at;          // in items, or in splits
        std::uint32_t count : 26;  // of items
        std::uint32_t opens : 3;   // how many children it has opened below what it matched last
        Kind kind : 3;
    };
    static constexpr std::size_t kMostItems = (std::size_t{1} << 26) - 1;

    struct Edge {  // from a fragment to one that matches one place more
        std::uint32_t parent = 0, place = 0;
        Production production = 0;
        std::uint32_t child = kNone;
        Entry entry;          // that of the child: who follows an edge looks at nothing else
        double weight = 0.0;  // of the child, where there is one output
    };
    struct Split {
        Entry same_entry, others_entry;
        std::uint32_t same = kNone, others = kNone;  // fragments; there may be no others
        std::uint32_t place = 0;
        std::uint32_t height = 0;  // of the fragments that may begin there; 0: of any
        Below subtree;             // what most have there
        double weight = 0.0;       // of `same`, where there is one output
    };
    struct Item {             // a subtree in a list
        double weight = 0.0;  // where there is one output
        Quad quad;
    };
    struct Root {                      // of a production
        std::uint32_t number = kNone;  // of its fragment; kNone: no subtree has an internal child
        std::uint32_t arity = 0;
        std::uint32_t mask = 0;  // size of its hash table, less one
        Entry entry;
        std::size_t edges = 0;  // where that table starts
    };

    std::size_t outputs = 1;
    double decay = 1.0;
    std::size_t height = kUnlimited;
    std::vector<Root> roots;             // per production
    std::vector<double> bare;            // per production x outputs: the sum of weights
    std::vector<double> leaf;            // per label x outputs: the sum of weights of leaves, where these count
    std::vector<double> weight;          // per fragment x outputs: the sum of weights
    std::vector<double> subtree_weight;  // per listed subtree x outputs
    std::vector<Quad> below;             // the children of all subtrees, in lists; the first belongs to none
    std::vector<Edge> edges;             // the hash tables of all productions: each stays in cache while it is used
    std::vector<Split> splits;
    std::vector<Item> items;
    std::vector<std::uint32_t> item_subtree;                      // per item, where there are several outputs
    std::vector<std::array<std::uint32_t, kPlaces>> item_height;  // per item, where heights are limited

    std::size_t bytes() const {
        return roots.capacity() * sizeof(Root) +
               (bare.capacity() + leaf.capacity() + weight.capacity() + subtree_weight.capacity()) * sizeof(double) +
               below.capacity() * sizeof(Quad) + edges.capacity() * sizeof(Edge) + splits.capacity() * sizeof(Split) +
               items.capacity() * sizeof(Item) + item_subtree.capacity() * 4 + item_height.capacity() * 4 * kPlaces;
    }

    static std::size_t hash(std::uint32_t parent, std::size_t place, Production production) {
        return static_cast<std::size_t>(detail::mix((std::uint64_t{parent} << 32) | place, production));
    }
    // Where an edge is looked for first.
    const Edge* seek(const Root& root, std::uint32_t parent, std::size_t place, Production production) const {
        return edges.data() + root.edges + (hash(parent, place, production) & root.mask);
    }
    // The edge to the fragment that a grown one goes on to; its child is kNone if there is none.
    const Edge& find(const Root& root, std::uint32_t parent, std::size_t place, Production production) const {
        const Edge* first = edges.data() + root.edges;
        for (std::size_t at = hash(parent, place, production) & root.mask;; at = (at + 1) & root.mask) {
            const Edge& edge = first[at];
            if (edge.child == kNone || (edge.parent == parent && edge.place == place && edge.production == production))
                return edge;
        }
    }

    // In which of four places two subtrees have the same, as bits.
    static unsigned equal(const std::uint32_t* a, const std::uint32_t* b) {
#if defined(__SSE2__)
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
        const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
        return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(x, y))));
#else
        unsigned result = 0;
        for (unsigned k = 0; k < kPlaces; ++k) result |= static_cast<unsigned>(a[k] == b[k]) << k;
        return result;
#endif
    }
    static unsigned equal(const Quad& a, const Quad& b) { return equal(a.production.data(), b.production.data()); }
};

}  // namespace sapwood
