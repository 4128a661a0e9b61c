// Arbitrary bytes through the functions that read files: validation, the reader with every combination of options, the
// writer, and then the kernels on whatever was read.
//
// The first two bytes choose the options and the kernel, the rest is the text. A broken promise is an abort; the
// sanitizers watch for everything else.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/diagonal.hpp"
#include "kernels/gram.hpp"
#include "kernels/model.hpp"
#include "kernels/partial.hpp"
#include "kernels/subset.hpp"
#include "kernels/subtree.hpp"
#include "trees/brackets.hpp"

using namespace sapwood;

namespace {

void require(bool promise) {
    if (!promise) std::abort();
}

std::vector<Node> read(Arena& arena, std::string_view text, const BracketOptions& options) {
    BracketReader reader(text, options);
    std::vector<Node> roots;
    for (Node root; reader.next(arena, root);) {
        require(root < arena.size());
        require(reader.start() < text.size());
        roots.push_back(root);
    }
    return roots;
}

// What was read without unescaping can be written, and reads back as the same subtrees.
void round_trip(Arena& arena, const std::vector<Node>& roots) {
    std::string text;
    for (const Node root : roots) {
        for (const Node node : reachable(arena, std::span(&root, 1)))
            require(is_writable(arena.symbols.text(arena.label(node))));
        write_brackets(arena, root, text);
        text += '\n';
    }
    const std::size_t size = arena.size();
    require(read(arena, text, {}) == roots);
    require(arena.size() == size);
}

bool same(double a, double b) { return a == b || (a != a && b != b); }

template <class Make>
void evaluate(const Arena& arena, const Bags& bags, const Arena& other, const Bags& rows, Make make) {
    Control control;
    const std::size_t n = bags.size();
    std::vector<double> K(n * n), cross(n * n), diagonal_values(n), scores(n), weights(n, 0.5);
    const ArenaMap own(arena, arena, bags), foreign(other, arena, rows);
    const auto columns = make(arena, bags);
    gram(columns, arena, bags, own, bags, true, K.data(), 1, control);
    gram(columns, arena, bags, foreign, rows, false, cross.data(), 1, control);
    diagonal(arena, bags, diagonal_values.data(), 1, control, make);
    const Model model(make(arena, bags), arena, bags, weights.data(), 1);
    model.evaluate(other, rows, scores.data(), 1, control);
    for (std::size_t i = 0; i < n; ++i) {
        require(K[i * n + i] >= 0.0);
        for (std::size_t j = 0; j < n; ++j) require(same(K[i * n + j], K[j * n + i]));
    }
}

void kernels(const Arena& arena, const std::vector<Node>& roots, unsigned choice) {
    // A document of all trees beside each tree for itself.
    std::vector<Node> all = roots;
    all.insert(all.end(), roots.begin(), roots.end());
    std::vector<std::uint64_t> ends;
    for (std::size_t i = 1; i <= roots.size(); ++i) ends.push_back(i);
    ends.push_back(all.size());
    const Bags bags = make_bags(arena, all, ends, false);
    Arena other;
    const std::vector<Node> moved = transplant(arena, all, other);
    const Bags rows = make_bags(other, moved, ends, false);
    const double decay = choice & 1 ? 0.4 : 1.0;
    switch (choice >> 1 & 3) {
        case 0:
            evaluate(arena, bags, other, rows,
                     [&](const Arena& a, const Bags& b) { return SubtreeColumns(a, b, decay); });
            break;
        case 1: {
            const SubsetOptions options{decay, (choice & 8) != 0, choice >> 4 & 7};
            evaluate(arena, bags, other, rows,
                     [&](const Arena& a, const Bags& b) { return SubsetColumns(a, b, options); });
            break;
        }
        default: {
            const PartialOptions options{decay, 0.5, choice >> 4 & 3, (choice & 8) != 0, choice & 64 ? 0.5 : 1.0};
            evaluate(arena, bags, other, rows,
                     [&](const Arena& a, const Bags& b) { return PartialColumns(a, b, options); });
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const unsigned switches = data[0], choice = data[1];
    const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const std::size_t invalid = first_invalid_byte(text);
    require(invalid <= text.size());
    // What comes before the first fault is valid by itself.
    require(first_invalid_byte(text.substr(0, invalid)) == invalid);
    const BracketOptions options{(switches & 1) != 0, (switches & 2) != 0, (switches & 4) != 0, (switches & 8) != 0,
                                 (switches & 16) != 0};
    // Reading a text that is not valid is a caller's mistake, but not a way to crash.
    Arena arena;
    std::vector<Node> roots;
    try {
        roots = read(arena, text, options);
    } catch (const BracketFault& fault) {
        require(fault.offset < text.size());
        require(!fault.reason.empty());
        if (invalid == text.size()) require(first_invalid_byte(fault.reason) == fault.reason.size());
        return 0;
    }
    if (invalid < text.size()) return 0;
    if (!options.unescape) round_trip(arena, roots);
    // Pairs of nodes are what costs time, and a bug needs few of them.
    if (roots.size() <= 40 && text.size() <= 2000) kernels(arena, roots, choice);
    return 0;
}
