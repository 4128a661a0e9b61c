// The bracket reader: what each option does, where each fault is reported, and UTF-8 against a slow twin.
#include "test/check.hpp"
#include "test/plain.hpp"
#include "trees/brackets.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

constexpr BracketOptions kTraces{.drop_traces = true};
constexpr BracketOptions kTags{.drop_function_tags = true};
constexpr BracketOptions kUnary{.collapse_unary = true};
constexpr BracketOptions kUnescape{.unescape = true};
constexpr BracketOptions kBare{.bare_tokens = true};

// All trees of a text, written again and joined by a bar.
std::string read(std::string_view text, const BracketOptions& options = {}) {
    Arena arena;
    BracketReader reader(text, options);
    std::string out;
    for (Node root; reader.next(arena, root);) {
        if (!out.empty()) out += " | ";
        write_brackets(arena, root, out);
    }
    return out;
}

void check_fault(std::string_view text, std::size_t offset, std::string_view part, const BracketOptions& options,
                 int line) {
    try {
        const std::string found = read(text, options);
        std::printf("line %d: no fault but %s\n", line, found.c_str());
        CHECK(!"a fault was expected");
    } catch (const BracketFault& fault) {
        const bool right = fault.offset == offset && fault.reason.find(part) != std::string::npos;
        if (!right) std::printf("line %d: fault at %zu: %s\n", line, fault.offset, fault.reason.c_str());
        CHECK(right);
    }
}
#define CHECK_FAULT(text, offset, part, ...) check_fault(text, offset, part, BracketOptions{__VA_ARGS__}, __LINE__)

TEST(plain_trees) {
    CHECK(read("") == "");
    CHECK(read(" \t\r\n\v\f") == "");
    CHECK(read("(S (NP (DT the) (NN dog)) (VP (VBD barked)))") == "(S (NP (DT the) (NN dog)) (VP (VBD barked)))");
    CHECK(read("(S(NP a)(VP b))") == "(S (NP a) (VP b))");
    CHECK(read("(  S\n(NP\ta)\r\n)") == "(S (NP a))");
    CHECK(read("(A b)(C d)\n(E f)") == "(A b) | (C d) | (E f)");
    CHECK(read("(NP)") == "(NP)");
    CHECK(read("(NP )") == "(NP)");
    CHECK(read("(S (NP) NP)") == "(S NP NP)");
    CHECK(read("(A b c (D e) f)") == "(A b c (D e) f)");
    CHECK(read("\xef\xbb\xbf(A b)") == "(A b)");
    CHECK(read("\xef\xbb\xbf") == "");
    CHECK(read("(N caf\xc3\xa9\xc2\xa0x)") == "(N caf\xc3\xa9\xc2\xa0x)");
}

TEST(outer_brackets) {
    CHECK(read("( (S (NP a)))") == "(S (NP a))");
    CHECK(read("((S (NP a)))") == "(S (NP a))");
    CHECK(read("((S))") == "(S)");
    CHECK(read("( (S (NP a)) )\n( (S b))") == "(S (NP a)) | (S b)");
    // A leaf and its bracketed form are one subtree.
    Arena arena;
    BracketReader reader("(NP) (X NP) (X (NP))", {});
    Node leaf, plain, bracketed;
    CHECK(reader.next(arena, leaf) && reader.next(arena, plain) && reader.next(arena, bracketed));
    CHECK(plain == bracketed && arena.children(plain)[0] == leaf && arena.is_leaf(leaf));
}

TEST(starts_are_told) {
    Arena arena;
    BracketReader reader("  (A b)\n ( (C d)) e", kBare);
    Node root;
    CHECK(reader.next(arena, root) && reader.start() == 2);
    CHECK(reader.next(arena, root) && reader.start() == 9);
    CHECK(reader.next(arena, root) && reader.start() == 18);
    CHECK(!reader.next(arena, root));
    CHECK(!reader.next(arena, root));
}

TEST(traces_are_dropped) {
    CHECK(read("(S (NP (-NONE- *)) (VP (V go)))", kTraces) == "(S (VP (V go)))");
    CHECK(read("(S (NP (X (-NONE- *T*-1))) (VP (V go)))", kTraces) == "(S (VP (V go)))");
    CHECK(read("(S (NP (-NONE- *)) (VP (V go)))") == "(S (NP (-NONE- *)) (VP (V go)))");
    CHECK(read("( (S (NP (-NONE- *)) (VP go)))", kTraces) == "(S (VP go))");
    // Even those that hold nothing; but a word that looks like a trace is a word.
    CHECK(read("(S (-NONE-) b)", kTraces) == "(S b)");
    CHECK(read("(S -NONE- b)", kTraces) == "(S -NONE- b)");
    CHECK_FAULT("(A b) (S (NP (-NONE- *)))", 6, "nothing is left", .drop_traces = true);
    CHECK_FAULT("( (S (-NONE- *)))", 0, "nothing is left", .drop_traces = true);
    CHECK_FAULT("(-NONE- *)", 0, "nothing is left", .drop_traces = true);
}

TEST(function_tags_are_dropped) {
    CHECK(read("(NP-SBJ=2 (NN a-b))", kTags) == "(NP (NN a-b))");
    CHECK(read("(NP=2 (PRT|ADVP up))", kTags) == "(NP (PRT up))");
    CHECK(read("(-LRB- -LRB-)", kTags) == "(-LRB- -LRB-)");
    CHECK(read("(=X a)", kTags) == "(=X a)");
    CHECK(read("(X- a)", kTags) == "(X a)");
    // A bracketed leaf is a word, not a constituent.
    CHECK(read("(X (a-b) c)", kTags) == "(X a-b c)");
}

TEST(unary_chains_are_collapsed) {
    CHECK(read("(X (X (X a)))", kUnary) == "(X a)");
    CHECK(read("(X (X a) b)", kUnary) == "(X (X a) b)");
    CHECK(read("(X (Y (X a)))", kUnary) == "(X (Y (X a)))");
    CHECK(read("(X X)", kUnary) == "(X X)");
    CHECK(read("(X-1 (X-2 a))", {.drop_function_tags = true, .collapse_unary = true}) == "(X a)");
    CHECK(read("(X (-NONE- *) (X a))", {.drop_traces = true, .collapse_unary = true}) == "(X a)");
}

TEST(brackets_are_unescaped) {
    Arena arena;
    BracketReader reader("(-LRB- -LRB-) (X -RRB- -LSB- -RSB- -LCB- -RCB- -XXX- -LRB)", kUnescape);
    Node root;
    CHECK(reader.next(arena, root));
    CHECK(arena.symbols.text(arena.label(root)) == "-LRB-");
    CHECK(arena.symbols.text(arena.label(arena.children(root)[0])) == "(");
    CHECK(reader.next(arena, root));
    std::string words;
    for (const Node child : arena.children(root)) words += std::string(arena.symbols.text(arena.label(child))) + " ";
    CHECK(words == ") [ ] { } -XXX- -LRB ");
}

// Tokens are read eight bytes at a time, except near the end of the text.
TEST(tokens_may_have_any_length) {
    for (std::size_t length = 1; length <= 20; ++length)
        for (const std::string& ending :
             {std::string(")"), std::string(" )"), std::string("\t(X y))"), std::string("\n) ")}) {
            // Characters near those that end a token, and some that are no ASCII.
            std::string word, label;
            for (std::size_t k = 0; k < length; ++k) {
                word += "!'*\x7f\x1f\x0e\x08z"[k % 8];
                label += k % 3 == 0 ? "\xc3\xa9" : "$";
            }
            const std::string text = "(" + label + " " + word + ending;
            Arena arena;
            BracketReader reader(text, {});
            Node root = kNone;
            CHECK(reader.next(arena, root));
            CHECK(arena.symbols.text(arena.label(root)) == label);
            CHECK(arena.symbols.text(arena.label(arena.children(root)[0])) == word);
            CHECK(arena.children(root).size() == (ending.find('X') == std::string::npos ? 1u : 2u));
            CHECK(!reader.next(arena, root));
        }
}

TEST(trees_may_go_to_different_arenas) {
    BracketReader reader("(A (B b)) (C (A a) (B b))", {});
    Arena first, second;
    Node root;
    std::string out;
    CHECK(reader.next(first, root));
    CHECK(reader.next(second, root));
    write_brackets(second, root, out);
    CHECK(out == "(C (A a) (B b))");
}

TEST(bare_tokens_are_trees) {
    CHECK(read("a (B c) d", kBare) == "(a) | (B c) | (d)");
    CHECK_FAULT("a (B c) d", 0, "outside any bracket", );
}

TEST(faults_say_where) {
    CHECK_FAULT("(", 0, "never closed (1 bracket is", );
    CHECK_FAULT("(A b) (S (NP a) (VP", 6, "never closed (2 brackets are", );
    CHECK_FAULT("((S (NP a))", 0, "never closed (1 bracket is", );
    CHECK_FAULT("(A b))", 5, "unexpected ')'", );
    CHECK_FAULT(" )", 1, "unexpected ')'", );
    CHECK_FAULT("(A b) c", 6, "'c' outside any bracket", );
    CHECK_FAULT("()", 0, "an empty bracket", );
    CHECK_FAULT("(A ( ))", 3, "an empty bracket", );
    CHECK_FAULT("(A ((B c)))", 3, "a label is missing", );
    CHECK_FAULT("((A b) (C d))", 0, "holds 2", );
    CHECK_FAULT("(A b)\n((A b) c)", 6, "holds 2", );
    // Long texts are cut, never inside a character.
    std::string word = "x";
    for (int i = 0; i < 40; ++i) word += "\xc3\xa9";
    try {
        read(word);
        CHECK(!"a fault was expected");
    } catch (const BracketFault& fault) {
        CHECK(first_invalid_byte(fault.reason) == fault.reason.size());
        CHECK(fault.reason.find("...") != std::string::npos);
    }
}

TEST(writing_and_reading_agree) {
    RandomTrees random(11);
    for (int i = 0; i < 500; ++i) {
        const Plain tree = random.tree();
        Arena arena;
        std::string text;
        write_brackets(arena, intern(tree, arena), text);
        BracketReader reader(text, {});
        Node root;
        CHECK(reader.next(arena, root));
        CHECK(restore(arena, root) == tree);
        CHECK(!reader.next(arena, root));
    }
    CHECK(is_writable("NP-SBJ"));
    for (const std::string_view label : {std::string_view(""), std::string_view("a b"), std::string_view("("),
                                         std::string_view("x)"), std::string_view("\t"), std::string_view("a\0b", 3)})
        CHECK(!is_writable(label));
}

TEST(depth_and_width_have_no_limit) {
    constexpr std::size_t kSize = 100000;
    std::string deep, wide = "(X";
    for (std::size_t i = 0; i < kSize; ++i) {
        deep += "(X ";
        wide.append(" ").append(std::to_string(i));
    }
    deep += "w" + std::string(kSize, ')');
    wide += ")";
    for (const std::string& text : {deep, wide}) CHECK(read(text) == text);
    CHECK(read(deep, kUnary) == "(X w)");
    CHECK_FAULT(std::string(kSize, '('), 1, "a label is missing", );
    deep.pop_back();
    CHECK_FAULT(deep, 0, "(1 bracket is", );
}

// The definition: a text is valid if every character is the one and only encoding of its code point.
std::size_t slow_first_invalid_byte(std::string_view text) {
    const auto encode = [](std::uint32_t code) {
        std::string out;
        if (code < 0x80)
            out = {static_cast<char>(code)};
        else if (code < 0x800)
            out = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
        else if (code < 0x10000)
            out = {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
                   static_cast<char>(0x80 | (code & 63))};
        else
            out = {static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
                   static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
        return out;
    };
    std::size_t at = 0;
    while (at < text.size()) {
        std::size_t matched = 0;
        for (std::size_t length = 1; length <= 4 && at + length <= text.size() && matched == 0; ++length) {
            std::uint32_t code = static_cast<unsigned char>(text[at]) & (length == 1 ? 0x7fu : 0x7fu >> length);
            for (std::size_t i = 1; i < length; ++i)
                code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 63u);
            const bool allowed = code != 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
            if (allowed && encode(code) == text.substr(at, length)) matched = length;
        }
        if (matched == 0) return at;
        at += matched;
    }
    return text.size();
}

TEST(short_texts_are_judged_as_the_definition_does) {
    std::string text;
    for (int a = 0; a < 256; ++a) {
        text.assign(1, static_cast<char>(a));
        CHECK(first_invalid_byte(text) == slow_first_invalid_byte(text));
        for (int b = 0; b < 256; ++b) {
            text = {static_cast<char>(a), static_cast<char>(b)};
            CHECK(first_invalid_byte(text) == slow_first_invalid_byte(text));
        }
    }
    // Where anything changes: the edges of every range in the definition.
    const unsigned char edges[] = {0x00, 0x01, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                                   0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff};
    for (const auto a : edges)
        for (const auto b : edges)
            for (const auto c : edges)
                for (const auto d : edges) {
                    text = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c), static_cast<char>(d)};
                    const std::size_t expected = slow_first_invalid_byte(text);
                    CHECK(first_invalid_byte(text) == expected);
                    text.resize(3);
                    CHECK(first_invalid_byte(text) == std::min<std::size_t>(slow_first_invalid_byte(text), 3));
                }
}

TEST(long_texts_are_judged_as_the_definition_does) {
    RandomTrees random(12);
    const std::string pieces[] = {
        "a", "bcdefgh", "(NP ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\xb3", "\xed\x9f\xbf", "\xee\x80\x80"};
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (std::size_t k = random.below(12); k > 0; --k) text += pieces[random.below(std::size(pieces))];
        CHECK(first_invalid_byte(text) == text.size());
        if (text.empty()) continue;
        // Damage one byte, or cut the text.
        if (random.below(4) == 0)
            text.resize(random.below(text.size()));
        else
            text[random.below(text.size())] = static_cast<char>(random.below(256));
        CHECK(first_invalid_byte(text) == slow_first_invalid_byte(text));
    }
}

TEST(noise_never_gets_through) {
    // Whatever the bytes: trees that write and read back, or a fault inside the text.
    RandomTrees random(13);
    const std::string pieces[] = {"(", ")",   " ",      "(NP ", "(-NONE- *)", "-LRB-",
                                  "X", "X-1", "(X (X ", "))",   "\n",         "( ("};
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (std::size_t k = random.below(14); k > 0; --k) text += pieces[random.below(std::size(pieces))];
        const BracketOptions options{random.below(2) == 0, random.below(2) == 0, random.below(2) == 0, false,
                                     random.below(2) == 0};
        try {
            const std::string once = read(text, options);
            std::string again = once;
            // No label of this test holds a bar.
            std::replace(again.begin(), again.end(), '|', ' ');
            CHECK(read(again) == once);
        } catch (const BracketFault& fault) {
            CHECK(fault.offset < text.size());
        }
    }
}

}  // namespace
