// Reading bracketed trees, `(S (NP (DT the) (NN dog)) (VP (VBD barked)))`, straight into an arena.
//
// The reader keeps an explicit stack, so depth is limited by memory only, and never guesses: whatever it cannot
// read is thrown as a Fault with the byte offset and the reason. Files, decompression and messages with line
// numbers are the caller's business.
//
// A tree is read in two steps: first the text becomes a list of subtrees, children first, and then these are looked up
// in the arena one by one. What takes time is waiting for memory, and with all subtrees of a tree known beforehand the
// arena can ask for all of it at once.
#pragma once

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "trees/arena.hpp"

namespace sapwood {

struct BracketOptions {
    bool drop_traces = false;         // -NONE-, the empty bracket it leaves in some files, whatever holds nothing else
    bool drop_function_tags = false;  // NP-SBJ=2 becomes NP
    bool collapse_unary = false;      // X over a single X becomes one X
    bool unescape = false;            // the words -LRB- and -RRB- become ( and ), and so on
    bool bare_tokens = false;         // a token outside brackets is a tree of one leaf
};

struct BracketFault {
    std::size_t offset;
    std::string reason;
};

// Offset of the first byte that is NUL or not valid UTF-8; the length of the text if there is none.
inline std::size_t first_invalid_byte(std::string_view text) {
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    const std::size_t size = text.size();
    std::size_t at = 0;
    while (at < size) {
        while (at + 8 <= size) {
            std::uint64_t word;
            std::memcpy(&word, data + at, 8);
            const std::uint64_t high = word & 0x8080808080808080ull;
            const std::uint64_t zero = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
            if (high | zero) break;
            at += 8;
        }
        if (at >= size) break;
        const unsigned char byte = data[at];
        if (byte == 0) return at;
        if (byte < 0x80) {
            ++at;
            continue;
        }
        std::size_t length;
        std::uint32_t code;
        if (byte >= 0xc2 && byte <= 0xdf)
            length = 2, code = byte & 0x1fu;
        else if ((byte & 0xf0) == 0xe0)
            length = 3, code = byte & 0x0fu;
        else if (byte >= 0xf0 && byte <= 0xf4)
            length = 4, code = byte & 0x07u;
        else
            return at;
        if (at + length > size) return at;
        for (std::size_t i = 1; i < length; ++i) {
            if ((data[at + i] & 0xc0) != 0x80) return at;
            code = (code << 6) | (data[at + i] & 0x3fu);
        }
        const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
        if (overlong || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return at;
        at += length;
    }
    return size;
}

class BracketReader {
  public:
    // The text must outlive the reader and hold valid UTF-8 without NUL (see first_invalid_byte).
    BracketReader(std::string_view text, const BracketOptions& options) : options_(options) { begin(text); }

    // Goes on with another text.
    void begin(std::string_view text) {
        text_ = text;
        at_ = text_.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
    }

    // Where the tree last returned began.
    std::size_t start() const { return start_; }

    // Reads the next tree; false at the end of the text.
    bool next(Arena& arena, Node& root) {
        if (recent_arena_ != &arena) {
            recent_.fill({});
            recent_arena_ = &arena;
        }
        open_.clear();
        pending_.clear();
        found_.clear();
        for (;;) {
            skip_space();
            if (at_ == text_.size()) {
                if (open_.empty()) return false;
                const std::string count = std::to_string(open_.size());
                throw BracketFault{open_.front().offset,
                                   "this bracket is never closed (" + count +
                                       (open_.size() == 1 ? " bracket is" : " brackets are") +
                                       " still open at the end of the text); add the missing ')'"};
            }
            const char character = text_[at_];
            if (character == '(') {
                if (open_.empty()) start_ = at_;
                open(arena);
            } else if (character == ')') {
                if (open_.empty())
                    throw BracketFault{at_,
                                       "unexpected ')': no bracket is open here; remove it or add the missing '('"};
                ++at_;
                close(arena);
                if (open_.empty()) break;
            } else {
                const std::size_t begin = at_;
                const Token word = token();
                if (open_.empty()) {
                    if (!options_.bare_tokens)
                        throw BracketFault{
                            begin, "expected '(' but found the text '" + shorten(word.text) + "' outside any bracket"};
                    start_ = begin;
                    add_leaf(arena, word);
                    break;
                }
                add_leaf(arena, word);
                open_.back().had_child = true;
            }
        }
        root = build(arena);
        return true;
    }

  private:
    struct Open {
        Token label;        // empty: the nameless outer bracket
        std::size_t first;  // index in pending_ of the first child
        std::size_t found;  // size of found_ before it
        std::size_t offset;
        bool had_child;  // whether anything stood in it, even if dropped
    };
    struct Found {  // a subtree: its children come before it, except for the word of a tag
        Symbol label;
        Symbol word;  // the only child, a leaf; kNone: the children are listed
        std::uint32_t hash, children;
    };
    struct Recent {  // a label of this head and size, and its number
        std::uint64_t head = 0;
        Symbol symbol = 0;
        std::uint32_t size = 0;
    };
    struct Pending {  // a subtree that waits for its parent
        Symbol label;
        std::uint32_t hash;
        bool leaf;
    };

    static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    static constexpr std::array<bool, 256> kEndsToken = [] {
        std::array<bool, 256> ends{};
        for (const char c : {'(', ')', ' ', '\t', '\n', '\v', '\f', '\r'}) ends[static_cast<unsigned char>(c)] = true;
        return ends;
    }();

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    // The high bit of every byte that ends a token: brackets, the space, tab to carriage return. Eight bytes at a time,
    // without a branch that depends on the length of the token, which nothing foresees.
    static std::uint64_t ends_among(std::uint64_t bytes) {
        constexpr std::uint64_t kOnes = 0x0101010101010101ull, kLow = 0x7f * kOnes;
        const std::uint64_t low = bytes & kLow;
        const std::uint64_t no_space = (low ^ (0x20 * kOnes)) + kLow;
        const std::uint64_t no_bracket = ((low ^ (0x28 * kOnes)) & (0x7e * kOnes)) + kLow;
        const std::uint64_t from_tab = low + (0x80 - '\t') * kOnes, beyond = low + (0x7f - '\r') * kOnes;
        return (~(no_space & no_bracket) | (from_tab & ~beyond)) & ~bytes & (0x80 * kOnes);
    }

    Token token() {
        const std::size_t begin = at_;
        const char* data = text_.data() + begin;
        if constexpr (std::endian::native == std::endian::little) {
            if (begin + 8 <= text_.size()) {
                std::uint64_t head;
                std::memcpy(&head, data, 8);
                if (const std::uint64_t ends = ends_among(head)) {
                    const auto size = static_cast<std::size_t>(std::countr_zero(ends)) / 8;
                    at_ += size;
                    return {{data, size}, head & ((std::uint64_t{1} << (8 * size)) - 1)};
                }
                at_ += 8;
                while (at_ < text_.size() && !kEndsToken[static_cast<unsigned char>(text_[at_])]) ++at_;
                return {text_.substr(begin, at_ - begin), head};
            }
        }
        while (at_ < text_.size() && !kEndsToken[static_cast<unsigned char>(text_[at_])]) ++at_;
        return Token(text_.substr(begin, at_ - begin));
    }

    static std::string shorten(std::string_view word) {
        if (word.size() <= 40) return std::string(word);
        std::size_t cut = 40;
        while (cut > 0 && (static_cast<unsigned char>(word[cut]) & 0xc0) == 0x80) --cut;
        return std::string(word.substr(0, cut)) + "...";
    }

    Token unescaped(const Token& token) const {
        const std::string_view word = token.text;
        if (!options_.unescape || word.size() != 5 || word.front() != '-') return token;
        if (word == "-LRB-") return Token("(");
        if (word == "-RRB-") return Token(")");
        if (word == "-LSB-") return Token("[");
        if (word == "-RSB-") return Token("]");
        if (word == "-LCB-") return Token("{");
        if (word == "-RCB-") return Token("}");
        return token;
    }

    // A label without function tags and indices; labels such as -NONE- and -LRB- stay whole.
    Token category(const Token& token) const {
        const std::string_view label = token.text;
        if (!options_.drop_function_tags || label.front() == '-') return token;
        for (std::size_t i = 1; i < label.size(); ++i)
            if (label[i] == '-' || label[i] == '=' || label[i] == '|') return Token(label.substr(0, i));
        return token;
    }

    // Opens a bracket, or adds it at once if it is a word with its tag.
    void open(Arena& arena) {
        const std::size_t offset = at_++;
        skip_space();
        Token label({}, 0);
        if (at_ < text_.size() && text_[at_] == '(') {
            if (!open_.empty())
                throw BracketFault{offset, "a label is missing: expected a label after '(' but found another '('"};
        } else if (at_ < text_.size() && text_[at_] == ')') {
            if (options_.drop_traces && !open_.empty()) {
                open_.back().had_child = true;
                ++at_;
                return;
            }
            throw BracketFault{offset, "an empty bracket '()': expected a label after '('"};
        } else {
            label = token();  // empty at the end of the text, which the caller reports
        }
        if (!open_.empty()) {
            open_.back().had_child = true;
            if (add_tagged(arena, label)) return;
        }
        open_.push_back({label, pending_.size(), found_.size(), offset, false});
    }

    // More than half of all brackets of a treebank hold a tag and a word, in one line. False, with nothing done, where
    // this one does not.
    bool add_tagged(Arena& arena, const Token& tag) {
        const std::size_t before = at_;
        if (at_ + 1 >= text_.size() || text_[at_] != ' ' || kEndsToken[static_cast<unsigned char>(text_[at_ + 1])])
            return false;
        ++at_;
        const Token word = token();
        if (at_ == text_.size() || text_[at_] != ')') {
            at_ = before;
            return false;
        }
        ++at_;
        if (options_.drop_traces && tag.text == "-NONE-") return true;
        const Symbol leaf = arena.symbols.intern_token(unescaped(word));
        const Symbol label = intern_label(arena, category(tag));
        Arena::Hash hash(label);
        hash.add(Arena::Hash(leaf).value());
        arena.prefetch(hash.value(), 1);
        found_.push_back({label, leaf, hash.value(), 1});
        pending_.push_back({label, hash.value(), false});
        return true;
    }

    // Labels are few, and those of up to eight bytes are told by their heads: most are found here.
    Symbol intern_label(Arena& arena, const Token& label) {
        if (label.text.size() > 8) return arena.symbols.intern_token(label);
        Recent& recent = recent_[(label.head * 0x9e3779b97f4a7c15ull) >> 56];
        if (recent.head != label.head || recent.size != label.text.size())
            recent = {label.head, arena.symbols.intern_token(label), static_cast<std::uint32_t>(label.text.size())};
        return recent.symbol;
    }

    void add_leaf(Arena& arena, const Token& word) {
        const Symbol label = arena.symbols.intern_token(unescaped(word));
        const std::uint32_t hash = Arena::Hash(label).value();
        found_.push_back({label, kNone, hash, 0});
        pending_.push_back({label, hash, true});
    }

    // Closes the innermost bracket.
    void close(Arena& arena) {
        const Open& frame = open_.back();
        const std::size_t count = pending_.size() - frame.first;
        bool dropped = count == 0;
        if (frame.label.text.empty()) {
            if (count > 1)
                throw BracketFault{frame.offset,
                                   "a label is missing: an outer bracket without a label must hold "
                                   "exactly one tree, this one holds " +
                                       std::to_string(count)};
        } else if (options_.drop_traces && frame.label.text == "-NONE-") {
            dropped = true;  // even with nothing in it; only a word called -NONE-, without a bracket of its own, stays
        } else if (!frame.had_child) {
            add_leaf(arena, frame.label);
            dropped = false;
        } else if (!dropped) {
            const Symbol label = intern_label(arena, category(frame.label));
            const Pending& only = pending_.back();
            if (!(options_.collapse_unary && count == 1 && only.label == label && !only.leaf)) {
                Arena::Hash hash(label);
                for (std::size_t child = frame.first; child < pending_.size(); ++child) hash.add(pending_[child].hash);
                arena.prefetch(hash.value(), count);
                if (count >= kNone) throw BracketFault{frame.offset, "this node has more than 4294967294 children"};
                found_.push_back({label, kNone, hash.value(), static_cast<std::uint32_t>(count)});
                pending_.resize(frame.first);
                pending_.push_back({label, hash.value(), false});
            }
        }
        if (dropped) {
            pending_.resize(frame.first);
            found_.resize(frame.found);
            if (open_.size() == 1)
                throw BracketFault{frame.offset,
                                   "nothing is left of this tree once its traces are dropped; remove the "
                                   "tree or read it with drop_traces=False"};
        }
        open_.pop_back();
    }

    // Looks up what has been found, and returns the last of it, which is the root.
    Node build(Arena& arena) {
        nodes_.clear();
        for (const Found& found : found_) {
            if (found.word != kNone) {
                const Node leaf = arena.leaf(found.word);
                nodes_.push_back(arena.node(found.label, {&leaf, 1}, found.hash));
                continue;
            }
            if (found.children == 0) {
                nodes_.push_back(arena.leaf(found.label));
                continue;
            }
            const std::size_t first = nodes_.size() - found.children;
            const Node node = arena.node(found.label, std::span<const Node>(nodes_).subspan(first), found.hash);
            nodes_.resize(first);
            nodes_.push_back(node);
        }
        return nodes_.back();
    }

    std::string_view text_;
    BracketOptions options_;
    std::size_t at_ = 0, start_ = 0;
    std::vector<Open> open_;
    std::vector<Pending> pending_;
    std::vector<Found> found_;
    std::vector<Node> nodes_;  // scratch of build()
    std::array<Recent, 256> recent_;
    const Arena* recent_arena_ = nullptr;
};

// How far the whole trees of a text reach, for callers that see a long text in pieces.
struct WholeTrees {
    std::size_t end;       // just after the last bracket that closes an outermost one; `from` if there is none
    std::ptrdiff_t depth;  // brackets open at the end of the text; -1 where one closes that was never opened
};

// Counts brackets from an offset on, where `depth` are open already.
inline WholeTrees whole_trees(std::string_view text, std::size_t from, std::ptrdiff_t depth) {
    std::size_t end = from;
    for (std::size_t at = from; at < text.size(); ++at) {
        if (text[at] == '(') {
            ++depth;
        } else if (text[at] == ')' && --depth <= 0) {
            end = at + 1;
            if (depth < 0) break;
        }
    }
    return {end, depth};
}

// Writes a tree on one line. Every label must be writable (see is_writable).
inline bool is_writable(std::string_view label) {
    if (label.empty()) return false;
    for (const char c : label)
        if (c == '(' || c == ')' || c == ' ' || (c >= '\t' && c <= '\r') || c == '\0') return false;
    return true;
}

inline void write_brackets(const Arena& arena, Node root, std::string& out) {
    struct Frame {
        Node node;
        std::size_t next;
    };
    const auto text = [&](Node node) { return arena.symbols.text(arena.label(node)); };
    std::vector<Frame> stack;
    if (arena.is_leaf(root)) {
        out.append("(").append(text(root)).append(")");
        return;
    }
    out.append("(").append(text(root));
    stack.push_back({root, 0});
    while (!stack.empty()) {
        Frame& frame = stack.back();
        const auto kids = arena.children(frame.node);
        if (frame.next == kids.size()) {
            out.push_back(')');
            stack.pop_back();
            continue;
        }
        const Node child = kids[frame.next++];
        out.push_back(' ');
        if (arena.is_leaf(child)) {
            out.append(text(child));
        } else {
            out.append("(").append(text(child));
            stack.push_back({child, 0});
        }
    }
}

}  // namespace sapwood
