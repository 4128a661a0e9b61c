// Trees in which every word is one of its own: words that are compared as they are meant in their sentences, by one
// vector per occurrence. The label of an occurrence is that of the word, a separator, and the number of its vector.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

// No label that people write holds it, and the last one in a label is always the one that was put there.
inline constexpr char kOccurrence = '\x1f';

// Copies trees into another arena. `begins` holds, per root, the number of the vector of its first leaf; those of the
// other leaves follow. `known` says which vectors there are: a word without one gets no number and stays a word as it
// is spelled. is_word(parent, leaf) says which leaves are words; parent is kNone for a leaf that is a tree.
template <class IsWord>
std::vector<Node> number_occurrences(const Arena& from, std::span<const Node> roots,
                                     std::span<const std::uint64_t> begins, std::span<const bool> known, Arena& to,
                                     IsWord is_word) {
    struct Frame {
        Node node;
        std::size_t next = 0;  // child
    };
    std::vector<Symbol> symbol(from.symbols.size(), kNone);
    const auto plain = [&](Symbol label) {
        if (symbol[label] == kNone) symbol[label] = to.symbols.intern(from.symbols.text(label));
        return symbol[label];
    };
    std::vector<Frame> stack;
    std::vector<Node> built, result;
    std::string text;
    for (std::size_t k = 0; k < roots.size(); ++k) {
        std::size_t row = begins[k];
        stack.push_back({roots[k]});
        while (!stack.empty()) {
            const Node node = stack.back().node;
            const auto kids = from.children(node);
            if (stack.back().next < kids.size()) {
                stack.push_back({kids[stack.back().next++]});
                continue;
            }
            stack.pop_back();
            if (kids.empty()) {
                if (row >= known.size()) throw std::invalid_argument("fewer vectors than leaves");
                if (is_word(stack.empty() ? kNone : stack.back().node, node)) {
                    text.assign(from.symbols.text(from.label(node)));
                    text += kOccurrence;
                    if (known[row]) text += std::to_string(row);
                    built.push_back(to.leaf(to.symbols.intern(text)));
                } else {
                    built.push_back(to.leaf(plain(from.label(node))));
                }
                ++row;
                continue;
            }
            const std::span<const Node> below(built.data() + (built.size() - kids.size()), kids.size());
            const Node made = to.node(plain(from.label(node)), below);
            built.resize(built.size() - kids.size());
            built.push_back(made);
        }
        result.push_back(built.back());
        built.clear();
    }
    return result;
}

}  // namespace sapwood
