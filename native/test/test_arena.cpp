// The arena: equal subtrees are one number, numbers are found again, and size is limited by memory only.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/check.hpp"
#include "test/plain.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

TEST(symbols_are_interned) {
    SymbolTable table;
    std::unordered_map<std::string, Symbol> expected;
    RandomTrees random(1);
    CHECK(table.size() == 0);
    CHECK(table.find("") == kNone);
    for (int i = 0; i < 20000; ++i) {
        // Lengths around the eight bytes that are hashed at a time; NUL, high bytes and the empty label too.
        std::string text(random.below(20), '\0');
        for (char& c : text) c = static_cast<char>(random.below(3) == 0 ? random.below(256) : 'a' + random.below(2));
        const auto known = expected.find(text);
        if (known == expected.end()) {
            CHECK(table.find(text) == kNone);
            expected.emplace(text, static_cast<Symbol>(expected.size()));
        }
        CHECK(table.intern(text) == expected[text]);
    }
    CHECK(table.size() == expected.size());
    for (const auto& [text, symbol] : expected) {
        CHECK(table.find(text) == symbol);
        CHECK(table.text(symbol) == text);
    }
}

TEST(labels_of_other_tables_are_found) {
    SymbolTable own, others;
    // Of every length around eight bytes, alike at the front, and with bytes of zero, which are no end.
    std::vector<std::string> texts{""};
    for (std::size_t size = 1; size < 20; ++size)
        for (const char last : {'a', 'b', '\0'}) texts.push_back(std::string(size - 1, 'x') + last);
    for (std::size_t k = 0; k < texts.size(); ++k) {
        others.intern(texts[k]);
        if (k % 3 != 0) own.intern(texts[texts.size() - 1 - k]);
    }
    std::size_t asked = 0, found = 0;
    own.find_all(others, [&](Symbol symbol, Symbol number) {
        CHECK(symbol == asked++);
        CHECK(number == own.find(others.text(symbol)));
        CHECK(number == kNone || own.text(number) == others.text(symbol));
        found += number != kNone;
    });
    CHECK(asked == others.size() && found == own.size());
    own.find_all(SymbolTable(), [&](Symbol, Symbol) { CHECK(false); });
}

// What one arena calls the labels and productions of another, for a few nodes and for all.
TEST(arena_maps_translate) {
    RandomTrees random(5);
    Arena from, to;
    std::vector<Node> roots;
    for (int i = 0; i < 60; ++i) roots.push_back(intern(random.tree(), from));
    for (int i = 0; i < 20; ++i)
        intern(i % 2 == 0 ? random.tree() : restore(from, roots[static_cast<std::size_t>(i)]), to);
    intern(Plain{"A", {Plain{"word", {}}}}, from);
    std::vector<Node> all(from.size());
    std::iota(all.begin(), all.end(), Node{0});
    for (const std::size_t count : {std::size_t{3}, all.size() / 2, all.size()}) {
        const auto nodes = std::span<const Node>(all).last(count);
        const LabelMap labels(from, to, all);
        const ProductionMap productions(from, to, labels, nodes);
        for (const Node node : nodes) {
            const Symbol label = to.symbols.find(from.symbols.text(from.label(node)));
            CHECK(labels(from.label(node)) == label);
            if (from.is_leaf(node)) continue;
            std::vector<Symbol> kids;
            for (const Node child : from.children(node))
                kids.push_back(to.symbols.find(from.symbols.text(from.label(child))));
            const bool known = label != kNone && std::find(kids.begin(), kids.end(), kNone) == kids.end();
            CHECK(productions(from.production_of(node)) == (known ? to.find_production(label, kids) : kNone));
        }
    }
}

TEST(equal_subtrees_are_one) {
    RandomTrees random(2);
    Arena arena;
    std::vector<std::pair<Plain, Node>> known;
    for (int i = 0; i < 300; ++i) {
        const Plain tree = random.tree();
        const Node node = intern(tree, arena);
        CHECK(restore(arena, node) == tree);
        CHECK(intern(tree, arena) == node);
        for (const auto& [other, number] : known) CHECK((other == tree) == (number == node));
        known.emplace_back(tree, node);
    }
    for (Node node = 0; node < arena.size(); ++node) {
        for (const Node child : arena.children(node)) CHECK(child < node);
        CHECK(arena.find_node(arena.label(node), arena.children(node)) == node);
        CHECK(arena.is_leaf(node) == (arena.production_of(node) == kNone));
    }
}

TEST(productions_are_labels_only) {
    RandomTrees random(3);
    Arena arena;
    for (int i = 0; i < 200; ++i) intern(random.tree(), arena);
    std::vector<Plain> trees;
    for (Node node = 0; node < arena.size(); ++node) trees.push_back(restore(arena, node));
    for (Node a = 0; a < arena.size(); a += 3)
        for (Node b = 0; b < arena.size(); b += 2) {
            if (arena.is_leaf(a) || arena.is_leaf(b)) continue;
            CHECK(same_production(trees[a], trees[b]) == (arena.production_of(a) == arena.production_of(b)));
        }
    for (Production p = 0; p < arena.production_count(); ++p) {
        const Node sample = arena.sample(p);
        std::vector<Symbol> labels;
        for (const Node child : arena.children(sample)) labels.push_back(arena.label(child));
        CHECK(arena.find_production(arena.label(sample), labels) == p);
        labels.push_back(labels.front());
        labels.insert(labels.end(), 7, labels.front());
        CHECK(arena.find_production(arena.label(sample), labels) == kNone);
    }
}

// Whether an only child is a leaf is no part of a production, whichever comes first.
TEST(only_children_share_productions) {
    for (const bool leaf_first : {true, false}) {
        Arena arena;
        const Plain leaf{"A", {Plain{"b", {}}}}, internal{"A", {Plain{"b", {Plain{"c", {}}}}}};
        const Node first = intern(leaf_first ? leaf : internal, arena),
                   second = intern(leaf_first ? internal : leaf, arena);
        CHECK(first != second);
        CHECK(arena.production_of(first) == arena.production_of(second));
        const Symbol label = arena.symbols.find("b");
        CHECK(arena.find_production(arena.symbols.find("A"), {&label, 1}) == arena.production_of(first));
        CHECK(arena.find_production(label, {&label, 1}) == kNone);
        CHECK(arena.production_count() == 2);
    }
}

TEST(absent_subtrees_are_not_found) {
    Arena arena;
    const Symbol a = arena.symbols.intern("a"), b = arena.symbols.intern("b");
    CHECK(arena.find_node(a, {}) == kNone);
    const Node leaf = arena.leaf(a);
    CHECK(arena.find_node(a, {}) == leaf);
    CHECK(arena.find_node(b, {}) == kNone);
    const Node kids[] = {leaf, leaf};
    CHECK(arena.find_node(b, kids) == kNone);
    const Node pair = arena.node(b, kids);
    CHECK(arena.find_node(b, kids) == pair);
    CHECK(arena.find_node(a, kids) == kNone);
    CHECK(arena.find_node(b, std::span(kids).first(1)) == kNone);
    CHECK(arena.size() == 2);
}

// An arena without tables, whose arrays are those of another one: it finds what that one finds, and can be copied.
TEST(placed_arenas_find_the_same) {
    RandomTrees random(6);
    Arena arena;
    for (int i = 0; i < 200; ++i) intern(random.tree(), arena);
    intern(Plain{"a label of many bytes", {Plain{"another one of those", {}}}}, arena);
    Arena sorted = arena;
    sorted.sort();
    Listing listing;
    sorted.parts(listing);
    Arena placed;
    Placing placing(listing.arrays, listing.numbers);
    placed.parts(placing);
    CHECK(placing.done() && placed.is_consistent() && placed.is_placed() && !arena.is_placed());
    const Arena copied = placed.with_tables();
    CHECK(!copied.is_placed());
    for (const Arena* other : {static_cast<const Arena*>(&placed), &copied}) {
        CHECK(other->size() == arena.size() && other->production_count() == arena.production_count());
        for (Symbol symbol = 0; symbol < arena.symbols.size(); ++symbol)
            CHECK(other->symbols.find(arena.symbols.text(symbol)) == symbol);
        CHECK(other->symbols.find("nothing like that") == kNone && other->symbols.find("") == kNone);
        for (Node node = 0; node < arena.size(); ++node) {
            const Symbol label = arena.label(node);
            const auto kids = arena.children(node);
            CHECK(other->label(node) == label && std::ranges::equal(other->children(node), kids));
            CHECK(other->production_of(node) == arena.production_of(node));
            CHECK(other->find_node(label, kids) == node);
            std::vector<Node> more(kids.begin(), kids.end());
            more.push_back(node);
            CHECK(other->find_node(label, more) == arena.find_node(label, more));
            std::vector<Symbol> labels;
            for (const Node kid : more) labels.push_back(arena.label(kid));
            CHECK(other->find_production(label, labels) == arena.find_production(label, labels));
            labels.pop_back();
            if (!kids.empty()) CHECK(other->find_production(label, labels) == arena.production_of(node));
        }
    }
    // Parts that are missing, left over, or of a size that does not fit.
    Listing wrong = listing;
    wrong.arrays.pop_back();
    Placing fewer(wrong.arrays, wrong.numbers);
    Arena none;
    CHECK_THROWS(none.parts(fewer), std::invalid_argument);
    wrong = listing;
    wrong.arrays[1] = wrong.arrays[1].first(wrong.arrays[1].size() - 1);
    Placing odd(wrong.arrays, wrong.numbers);
    CHECK_THROWS(none.parts(odd), std::invalid_argument);
    CHECK_THROWS(placed.leaf(placed.symbols.intern("new")), std::logic_error);
}

TEST(transplanting_keeps_trees) {
    RandomTrees random(4);
    Arena from, to;
    std::vector<Plain> trees;
    std::vector<Node> roots;
    for (int i = 0; i < 100; ++i) {
        trees.push_back(random.tree());
        roots.push_back(intern(trees.back(), from));
        if (i % 3 == 0) intern(random.tree(), to);
    }
    const std::vector<Node> some(roots.begin() + 20, roots.begin() + 60);
    const std::vector<Node> moved = transplant(from, some, to);
    CHECK(moved.size() == some.size());
    for (std::size_t i = 0; i < moved.size(); ++i) CHECK(restore(to, moved[i]) == trees[20 + i]);
    // Nothing new the second time, and only what the roots reach.
    const std::size_t size = to.size();
    CHECK(transplant(from, some, to) == moved);
    CHECK(to.size() == size);
    Arena alone;
    transplant(from, some, alone);
    CHECK(alone.size() == reachable(from, some).size());
    CHECK(transplant(from, {}, alone).empty());
}

TEST(bags_count_occurrences) {
    RandomTrees random(5);
    Arena arena;
    const std::vector<Bag> elements = random.bags(60);
    const Bags bags = intern(elements, arena);
    CHECK(bags.size() == elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        std::vector<const Plain*> nodes;
        for (const Plain& tree : elements[i]) collect(tree, nodes);
        std::unordered_map<Node, double> expected;
        for (const Plain* node : nodes) expected[intern(*node, arena)] += 1.0;
        const auto numbers = bags.numbers_of(i);
        const auto counts = bags.counts_of(i);
        CHECK(numbers.size() == expected.size());
        std::unordered_map<Node, bool> met;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            for (const Node child : arena.children(numbers[k])) CHECK(met[child]);
            CHECK(!met[numbers[k]]);
            met[numbers[k]] = true;
            CHECK(counts[k] == expected[numbers[k]]);
        }
    }
}

TEST(shared_structure_is_not_expanded) {
    // Each level holds the one below twice: 2^60 leaves in 61 nodes.
    Arena arena;
    const Symbol label = arena.symbols.intern("x");
    Node node = arena.leaf(label);
    for (int i = 0; i < 60; ++i) {
        const Node kids[] = {node, node};
        node = arena.node(label, kids);
    }
    CHECK(arena.size() == 61);
    const Bags bags = make_bags(arena, std::span(&node, 1), {}, true);
    CHECK(bags.counts.front() == std::ldexp(1.0, 60));
    CHECK(bags.counts.back() == 1.0);
}

TEST(depth_and_width_have_no_limit) {
    constexpr std::size_t kSize = 100000;
    Arena arena;
    Node deep = arena.leaf(arena.symbols.intern("w"));
    const Symbol x = arena.symbols.intern("X");
    for (std::size_t i = 0; i < kSize; ++i) deep = arena.node(x, std::span<const Node>(&deep, 1));
    std::vector<Node> kids;
    for (std::size_t i = 0; i < kSize; ++i) kids.push_back(arena.leaf(arena.symbols.intern(std::to_string(i) + "w")));
    const Node wide = arena.node(x, kids);
    CHECK(arena.children(wide).size() == kSize);
    CHECK(arena.node(x, kids) == wide);
    CHECK(arena.size() == 2 * kSize + 2);
    const Node roots[] = {deep, wide};
    const Bags bags = make_bags(arena, roots, {}, true);
    CHECK(bags.numbers_of(0).size() == kSize + 1);
    CHECK(bags.numbers_of(1).size() == kSize + 1);
    Arena other;
    const std::vector<Node> moved = transplant(arena, roots, other);
    CHECK(other.size() == arena.size());
    CHECK(other.children(moved[1]).size() == kSize);
}

TEST(maps_hold_what_was_put_in) {
    for (const std::size_t expected : {0, 3, 1000}) {
        NumberMap map(10000, expected);
        CHECK(map.dense() == (expected == 1000));
        CHECK(map.at(0) == kNone && map.at(9999) == kNone);
        for (std::uint32_t round = 1; round < 3; ++round) {
            for (std::uint32_t k = 0; k < 500; ++k) map.set(k * 19, k + round);
            for (std::uint32_t k = 0; k < 500; ++k) CHECK(map.at(k * 19) == k + round && map.at(k * 19 + 1) == kNone);
        }
    }
}

}  // namespace
