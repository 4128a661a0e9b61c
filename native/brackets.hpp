// Reading bracketed trees, `(S (NP (DT the) (NN dog)) (VP (VBD barked)))`, straight into an arena.
//
// The reader keeps an explicit stack, so depth is limited by memory only, and never guesses: whatever it cannot
// read is thrown as a Fault with the byte offset and the reason. Files, decompression and messages with line
// numbers are the caller's business.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arena.hpp"

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
        if (byte >= 0xc2 && byte <= 0xdf) length = 2, code = byte & 0x1fu;
        else if ((byte & 0xf0) == 0xe0) length = 3, code = byte & 0x0fu;
        else if (byte >= 0xf0 && byte <= 0xf4) length = 4, code = byte & 0x07u;
        else return at;
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
    BracketReader(std::string_view text, const BracketOptions& options) : text_(text), options_(options) {
        if (text_.substr(0, 3) == "\xef\xbb\xbf") at_ = 3;
    }

    // Where the tree last returned began.
    std::size_t start() const { return start_; }

    // Reads the next tree; false at the end of the text.
    bool next(Arena& arena, Node& root) {
        open_.clear();
        pending_.clear();
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
                    throw BracketFault{at_, "unexpected ')': no bracket is open here; remove it or add the missing '('"};
                ++at_;
                if (close(arena, root)) return true;
            } else {
                const std::size_t begin = at_;
                const std::string_view word = token();
                if (open_.empty()) {
                    if (!options_.bare_tokens)
                        throw BracketFault{begin, "expected '(' but found the text '" + shorten(word) +
                                                      "' outside any bracket"};
                    start_ = begin;
                    root = arena.leaf(arena.symbols.intern(unescaped(word)));
                    return true;
                }
                pending_.push_back(arena.leaf(arena.symbols.intern(unescaped(word))));
                open_.back().had_child = true;
            }
        }
    }

  private:
    struct Open {
        std::string_view label;  // empty: the nameless outer bracket
        std::size_t first;       // index in pending_ of the first child
        std::size_t offset;
        bool had_child;  // whether anything stood in it, even if dropped
    };

    static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    std::string_view token() {
        const std::size_t begin = at_;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '(' || c == ')' || is_space(c)) break;
            ++at_;
        }
        return text_.substr(begin, at_ - begin);
    }

    static std::string shorten(std::string_view word) {
        if (word.size() <= 40) return std::string(word);
        std::size_t cut = 40;
        while (cut > 0 && (static_cast<unsigned char>(word[cut]) & 0xc0) == 0x80) --cut;
        return std::string(word.substr(0, cut)) + "...";
    }

    std::string_view unescaped(std::string_view word) const {
        if (!options_.unescape || word.size() != 5 || word.front() != '-') return word;
        if (word == "-LRB-") return "(";
        if (word == "-RRB-") return ")";
        if (word == "-LSB-") return "[";
        if (word == "-RSB-") return "]";
        if (word == "-LCB-") return "{";
        if (word == "-RCB-") return "}";
        return word;
    }

    // A label without function tags and indices; labels such as -NONE- and -LRB- stay whole.
    std::string_view category(std::string_view label) const {
        if (!options_.drop_function_tags || label.front() == '-') return label;
        for (std::size_t i = 1; i < label.size(); ++i)
            if (label[i] == '-' || label[i] == '=' || label[i] == '|') return label.substr(0, i);
        return label;
    }

    void open(Arena&) {
        const std::size_t offset = at_++;
        skip_space();
        std::string_view label;
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
        if (!open_.empty()) open_.back().had_child = true;
        open_.push_back({label, pending_.size(), offset, false});
    }

    // Closes the innermost bracket; true, with the root, if it was the outermost one.
    bool close(Arena& arena, Node& root) {
        const Open frame = open_.back();
        open_.pop_back();
        const std::size_t count = pending_.size() - frame.first;
        const bool outermost = open_.empty();
        Node node = kNone;
        if (frame.label.empty()) {
            if (count > 1)
                throw BracketFault{frame.offset, "a label is missing: an outer bracket without a label must hold "
                                                 "exactly one tree, this one holds " + std::to_string(count)};
            if (count == 1) node = pending_.back();
        } else if (!frame.had_child) {
            node = arena.leaf(arena.symbols.intern(unescaped(frame.label)));
        } else if (count > 0 && !(options_.drop_traces && frame.label == "-NONE-")) {
            const Symbol label = arena.symbols.intern(category(frame.label));
            const Node only = pending_.back();
            if (options_.collapse_unary && count == 1 && arena.label(only) == label && !arena.is_leaf(only)) node = only;
            else node = arena.node(label, std::span<const Node>(pending_).subspan(frame.first));
        }
        pending_.resize(frame.first);
        if (outermost) {
            if (node == kNone)
                throw BracketFault{frame.offset, "nothing is left of this tree once its traces are dropped; remove the "
                                                 "tree or read it with drop_traces=False"};
            root = node;
            return true;
        }
        if (node != kNone) pending_.push_back(node);
        return false;
    }

    std::string_view text_;
    BracketOptions options_;
    std::size_t at_ = 0, start_ = 0;
    std::vector<Open> open_;
    std::vector<Node> pending_;
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
