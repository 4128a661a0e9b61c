// The arena: every distinct subtree of a collection, stored once.
//
// A node is identified by its label and the identities of its children, so two equal subtrees are one number
// and everything that depends on a subtree alone is computed once. Children always have smaller numbers than
// their parent, which makes "bottom up" a plain loop. Also here: the table of label strings, and productions
// (a label with the labels of the children), which kernels use to find candidates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/array.hpp"
#include "core/hash_tables.hpp"

namespace sapwood {

using Symbol = std::uint32_t;
using Node = std::uint32_t;
using Production = std::uint32_t;

// A piece of text with its first eight bytes as a number, the rest of it zero where there are fewer: all that the
// look-up of a short label needs.
struct Token {
    std::string_view text;
    std::uint64_t head;

    Token(std::string_view text, std::uint64_t head) : text(text), head(head) {}
    explicit Token(std::string_view text) : text(text), head(0) {
        const char* data = text.data();
        const std::size_t size = text.size();
        if (size >= 8) {
            std::memcpy(&head, data, 8);
        } else {
            for (std::size_t k = 0; k < size; ++k) reinterpret_cast<char*>(&head)[k] = data[k];
        }
    }
};

class SymbolTable {
  public:
    Symbol intern(std::string_view text) { return intern_token(Token(text)); }
    Symbol intern_token(const Token& token) {
        if (token.text.size() <= 8) {
            std::uint32_t& number = short_.claim(short_key(token));
            if (number == kNone) number = append(token.text);
            return number;
        }
        const std::uint32_t hash = detail::hash_bytes(token.text);
        if (const Symbol found = find_long(token.text, hash); found != kNone) return found;
        const Symbol number = append(token.text);
        table_.insert(hash, number);
        return number;
    }

    Symbol find(std::string_view text) const {
        if (!order_.empty()) {
            const auto found = std::lower_bound(order_.begin(), order_.end(), text,
                                                [&](Symbol a, std::string_view b) { return this->text(a) < b; });
            return found != order_.end() && this->text(*found) == text ? *found : kNone;
        }
        if (text.size() <= 8) return short_.find(short_key(Token(text)));
        return find_long(text, detail::hash_bytes(text));
    }

    // The numbers that the labels of another table have in this one; kNone for those it does not have. Looked up by the
    // block: the memory of all is asked for before the first is needed.
    template <class Put>
    void find_all(const SymbolTable& others, Put put) const {
        constexpr std::size_t kBlock = 16;
        std::array<detail::ShortKeyTable::Key, kBlock> keys;
        std::array<std::size_t, kBlock> hashes;
        for (std::size_t begin = 0, size; begin < others.size(); begin += size) {
            size = std::min(kBlock, others.size() - begin);
            for (std::size_t k = 0; k < size; ++k) {
                const Token token = others.token(static_cast<Symbol>(begin + k));
                keys[k] = short_key(token);
                if (is_short(keys[k]))
                    short_.prefetch(hashes[k] = short_.hash(keys[k]));
                else
                    table_.prefetch(hashes[k] = detail::hash_bytes(token.text));
            }
            for (std::size_t k = 0; k < size; ++k) {
                const auto symbol = static_cast<Symbol>(begin + k);
                put(symbol, is_short(keys[k]) ? short_.find(hashes[k], keys[k])
                                              : find_long(others.text(symbol), static_cast<std::uint32_t>(hashes[k])));
            }
        }
    }

    // Makes room for about so many labels in all.
    void reserve(std::size_t labels) {
        characters_.reserve(8 * labels);
        ends_.reserve(labels);
        short_.reserve(labels / 4 * 3);
        table_.reserve(labels / 4);
    }

    std::string_view text(Symbol symbol) const {
        const std::size_t begin = symbol == 0 ? 0 : ends_[symbol - 1];
        return {characters_.data() + begin, ends_[symbol] - begin};
    }

    // What a table that is only looked at consists of; see `Arena::parts`.
    template <class Visit>
    void parts(Visit& visit) {
        visit(characters_);
        visit(ends_);
        visit(order_);
    }
    void sort() {
        order_.resize(size());
        std::iota(order_.begin(), order_.end(), Symbol{0});
        std::sort(order_.begin(), order_.end(), [&](Symbol a, Symbol b) { return text(a) < text(b); });
    }

    std::size_t size() const { return ends_.size(); }
    std::size_t bytes() const {
        return characters_.capacity() + ends_.capacity() * sizeof(std::size_t) + short_.bytes() + table_.bytes();
    }

  private:
    static detail::ShortKeyTable::Key short_key(const Token& token) {
        return {static_cast<std::uint32_t>(token.head), static_cast<std::uint32_t>(token.head >> 32),
                static_cast<std::uint32_t>(std::min<std::size_t>(token.text.size(), kLong))};
    }
    static constexpr std::size_t kLong = 9;  // whatever has more than eight bytes
    static bool is_short(const detail::ShortKeyTable::Key& key) { return key.c < kLong; }

    Symbol find_long(std::string_view text, std::uint32_t hash) const {
        return table_.find(hash, [&](std::uint32_t number) { return this->text(number) == text; });
    }

    Token token(Symbol symbol) const {
        const std::string_view text = this->text(symbol);
        if constexpr (std::endian::native == std::endian::little) {
            // What follows is read along and masked, where something does.
            if (text.size() < 8 && ends_[symbol] + 8 <= characters_.size()) {
                std::uint64_t head;
                std::memcpy(&head, text.data(), 8);
                return {text, head & ((std::uint64_t{1} << (8 * text.size())) - 1)};
            }
        }
        return Token(text);
    }

    Symbol append(std::string_view text) {
        if (size() >= kNone) throw std::length_error("more than 4294967295 distinct labels");
        const auto number = static_cast<Symbol>(size());
        characters_.insert(characters_.end(), text.begin(), text.end());
        ends_.push_back(characters_.size());
        return number;
    }

    Array<char> characters_;
    Array<std::size_t> ends_;
    Array<Symbol> order_;          // by their texts, instead of tables
    detail::ShortKeyTable short_;  // labels of up to eight bytes
    detail::IndexTable table_;     // the others
};

class Arena {
  public:
    SymbolTable symbols;

    Node leaf(Symbol label) {
        if (label >= leaves_.size()) leaves_.resize(symbols.size(), kNone);
        Node& known = leaves_[label];
        if (known == kNone) known = append(label, {}, Hash(label).value());
        return known;
    }

    // The number of the subtree with this label over these children; the same subtree always gives the same number.
    Node node(Symbol label, std::span<const Node> children) {
        return children.empty() ? leaf(label) : node(label, children, hash_of(label, children));
    }

    // The same where the hash is known, for at least one child.
    Node node(Symbol label, std::span<const Node> children, std::uint32_t hash) {
        if (children.size() <= 2) {
            Node& number = short_nodes_.claim(hash, short_key(label, children), KnownHash{*this});
            if (number == kNone) {
                number = append(label, children, hash);
                productions_.back() = production(number);
            }
            return number;
        }
        if (const Node found = find(hash, label, children); found != kNone) return found;
        const Node number = append(label, children, hash);
        nodes_.insert(hash, number);
        productions_.back() = production(number);
        return number;
    }

    // Hashes depend on labels alone, not on the numbers of subtrees: a caller with many subtrees to look up can ask for
    // the memory where they will be found before it needs any of them.
    class Hash {
      public:
        explicit Hash(Symbol label) : state_(detail::mix(detail::hash_seed(), label)) {}
        void add(std::uint32_t child) { state_ = detail::mix(state_, child); }
        std::uint32_t value() const { return static_cast<std::uint32_t>(state_ ^ (state_ >> 32)); }

      private:
        std::uint64_t state_;
    };
    void prefetch(std::uint32_t hash, std::size_t children) const {
        if (children <= 2)
            short_nodes_.prefetch(hash);
        else
            nodes_.prefetch(hash);
    }

    // Makes room for about so many distinct subtrees more.
    void reserve(std::size_t nodes) {
        // A few more are left to the vectors, which grow by doubling: reserving time and again would copy each time.
        if (nodes < size()) return;
        nodes += size();
        labels_.reserve(nodes);
        begins_.reserve(nodes + 1);
        productions_.reserve(nodes);
        hashes_.reserve(nodes);
        children_.reserve(2 * nodes);
        short_nodes_.reserve(nodes / 3 * 2, KnownHash{*this});
        // What a treebank has of everything else.
        nodes_.reserve(nodes / 6);
        symbols.reserve(nodes / 6);
        leaves_.reserve(nodes / 6);
    }

    // The same for a subtree that may be absent: kNone then. Label and children must belong to this arena.
    Node find_node(Symbol label, std::span<const Node> children) const {
        if (is_sorted() && !children.empty()) return find_sorted(label, children);
        return find_node(label, children, children.empty() ? 0 : hash_of(label, children));
    }
    // The same where the hash is known; that of a leaf is not looked at.
    Node find_node(Symbol label, std::span<const Node> children, std::uint32_t hash) const {
        if (children.empty()) return label < leaves_.size() ? leaves_[label] : kNone;
        if (children.size() <= 2) return short_nodes_.find(hash, short_key(label, children));
        return find(hash, label, children);
    }

    // The production with this label and these child labels, or kNone.
    Production find_production(Symbol label, std::span<const Symbol> child_labels) const {
        if (is_sorted()) return find_sorted_production(label, child_labels);
        Sought sought{label, child_labels};
        seek(sought);
        reach(sought);
        return found(sought);
    }

    // The same in three steps, each of which asks for the memory that the next one needs: a caller with many to find
    // makes each step for all of them.
    struct Sought {
        Symbol label;
        std::span<const Symbol> child_labels;  // at least one
        std::size_t hash = 0;
        Node over_leaf = kNone;
    };
    void seek(Sought& sought) const {
        const auto below = sought.child_labels;
        if (below.size() > 2) {
            const std::uint32_t hash = hash_of_labels(sought.label, below);
            sought.hash = hash;
            production_table_.prefetch(hash);
        } else if (below.size() == 2) {
            sought.hash = short_productions_.hash(short_key(sought.label, below));
            short_productions_.prefetch(sought.hash);
        } else if (below[0] < leaves_.size()) {
            // A production over a single leaf is found by the only subtree it can be of.
            Hash hash(sought.label);
            hash.add(Hash(below[0]).value());
            sought.hash = hash.value();
            short_nodes_.prefetch(hash.value());
            __builtin_prefetch(leaves_.data() + below[0]);
        }
    }
    void reach(Sought& sought) const {
        if (sought.child_labels.size() != 1) return;
        const Symbol below = sought.child_labels[0];
        const Node leaf = below < leaves_.size() ? leaves_[below] : kNone;
        if (leaf == kNone) return;
        sought.over_leaf = short_nodes_.find(sought.hash, {sought.label, leaf, kNone});
        if (sought.over_leaf != kNone) __builtin_prefetch(productions_.data() + sought.over_leaf);
    }
    Production found(const Sought& sought) const {
        const auto below = sought.child_labels;
        if (below.size() == 2) return short_productions_.find(sought.hash, short_key(sought.label, below));
        if (below.size() == 1) {
            if (sought.over_leaf != kNone) return productions_[sought.over_leaf];
            return is_only_child(below[0]) ? short_productions_.find(short_key(sought.label, below)) : kNone;
        }
        return production_table_.find(static_cast<std::uint32_t>(sought.hash), [&](Production number) {
            const std::size_t begin = long_begins_[number];
            return long_begins_[number + 1] - begin == below.size() && labels_[samples_[number]] == sought.label &&
                   std::memcmp(long_labels_.data() + begin, below.data(), below.size_bytes()) == 0;
        });
    }

    // What an arena that is only looked at consists of: for parts that lie in memory of others there are no tables, and
    // subtrees are found in the order of their labels and children. So they do not depend on the seed of hashes.
    // Of the functions that look something up, only find_node and find_production for one thing at a time work then.
    template <class Visit>
    void parts(Visit& visit) {
        symbols.parts(visit);
        visit(labels_);
        visit(begins_);
        visit(children_);
        visit(productions_);
        visit(samples_);
        visit(leaves_);
        visit(node_order_);
        visit(production_order_);
    }
    // Before parts() of an arena with tables; nothing may be added any more.
    void sort() {
        symbols.sort();
        node_order_.clear();
        for (Node node = 0; node < size(); ++node)
            if (!is_leaf(node)) node_order_.push_back(node);
        std::sort(node_order_.begin(), node_order_.end(),
                  [&](Node a, Node b) { return compare_node(a, labels_[b], children(b)) < 0; });
        production_order_.resize(samples_.size());
        std::iota(production_order_.begin(), production_order_.end(), Production{0});
        std::sort(production_order_.begin(), production_order_.end(), [&](Production a, Production b) {
            const Node other = samples_[b];
            return compare_production(a, labels_[other], children(other), [&](Node kid) { return labels_[kid]; }) < 0;
        });
    }
    bool is_sorted() const { return !node_order_.empty(); }
    // Whether there are no tables.
    bool is_placed() const { return hashes_.size() != labels_.size(); }
    // Whether the lengths of placed parts fit each other.
    bool is_consistent() const {
        return begins_.size() == size() + 1 && begins_[0] == 0 && begins_.back() == children_.size() &&
               productions_.size() == size() && production_order_.size() == samples_.size() &&
               leaves_.size() <= symbols.size() && node_order_.size() <= size();
    }
    // The same with tables; all numbers stay.
    Arena with_tables() const {
        Arena made;
        made.reserve(size());
        for (Symbol symbol = 0; symbol < symbols.size(); ++symbol) made.symbols.intern(symbols.text(symbol));
        for (Node node = 0; node < size(); ++node) made.node(labels_[node], children(node));
        return made;
    }

    std::size_t size() const { return labels_.size(); }
    std::size_t production_count() const { return samples_.size(); }
    std::size_t edge_count() const { return children_.size(); }
    Symbol label(Node node) const { return labels_[node]; }
    bool is_leaf(Node node) const { return begins_[node] == begins_[node + 1]; }
    // kNone for a leaf.
    Production production_of(Node node) const { return productions_[node]; }
    // Some node that has this production.
    Node sample(Production production) const { return samples_[production]; }

    std::span<const Symbol> labels() const { return labels_; }
    std::span<const Production> productions() const { return productions_; }

    std::span<const Node> children(Node node) const {
        return {children_.data() + begins_[node], begins_[node + 1] - begins_[node]};
    }

    // The children of all nodes before this one, end to end.
    std::span<const Node> children_before(Node node) const { return {children_.data(), begins_[node]}; }

    std::size_t bytes() const {
        const std::size_t numbers = labels_.capacity() + children_.capacity() + productions_.capacity() +
                                    hashes_.capacity() + samples_.capacity() + leaves_.capacity() +
                                    long_labels_.capacity();
        return numbers * 4 + (begins_.capacity() + long_begins_.capacity()) * sizeof(std::size_t) +
               short_nodes_.bytes() + short_productions_.bytes() + nodes_.bytes() + production_table_.bytes() +
               symbols.bytes();
    }

  private:
    struct KnownHash {
        const Arena& arena;
        std::uint32_t operator()(const detail::ShortKeyTable::Key&, Node number) const { return arena.hashes_[number]; }
    };

    Node append(Symbol label, std::span<const Node> children, std::uint32_t hash) {
        if (size() >= kNone) throw std::length_error("more than 4294967295 distinct subtrees");
        const auto number = static_cast<Node>(size());
        labels_.push_back(label);
        children_.insert(children_.end(), children.begin(), children.end());
        begins_.push_back(children_.size());
        productions_.push_back(kNone);
        hashes_.push_back(hash);
        return number;
    }

    // Below 0 if a comes before b, 0 if they are the same: by length, and then one after the other.
    template <class Left, class Right>
    static int compare(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, Left left, Right right) {
        if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
        for (std::size_t k = 0; k < a.size(); ++k)
            if (left(a[k]) != right(b[k])) return left(a[k]) < right(b[k]) ? -1 : 1;
        return 0;
    }
    int compare_node(Node node, Symbol label, std::span<const Node> kids) const {
        if (labels_[node] != label) return labels_[node] < label ? -1 : 1;
        return compare(children(node), kids, std::identity(), std::identity());
    }
    template <class LabelOf>
    int compare_production(Production production, Symbol label, std::span<const std::uint32_t> below,
                           LabelOf label_of) const {
        const Node node = samples_[production];
        if (labels_[node] != label) return labels_[node] < label ? -1 : 1;
        return compare(children(node), below, [this](Node child) { return labels_[child]; }, label_of);
    }

    Node find_sorted(Symbol label, std::span<const Node> kids) const {
        const auto found = std::partition_point(node_order_.begin(), node_order_.end(),
                                                [&](Node node) { return compare_node(node, label, kids) < 0; });
        return found != node_order_.end() && compare_node(*found, label, kids) == 0 ? *found : kNone;
    }
    Production find_sorted_production(Symbol label, std::span<const Symbol> below) const {
        const auto compared = [&](Production one) { return compare_production(one, label, below, std::identity()); };
        const auto found = std::partition_point(production_order_.begin(), production_order_.end(),
                                                [&](Production one) { return compared(one) < 0; });
        return found != production_order_.end() && compared(*found) == 0 ? *found : kNone;
    }

    bool is_only_child(Symbol label) const { return label < only_child_.size() && only_child_[label]; }

    // Of a label with one or two children or child labels.
    static detail::ShortKeyTable::Key short_key(Symbol label, std::span<const std::uint32_t> below) {
        return {label, below[0], below.size() == 2 ? below[1] : kNone};
    }

    std::uint32_t hash_of(Symbol label, std::span<const Node> children) const {
        Hash hash(label);
        for (const Node child : children) hash.add(hashes_[child]);
        return hash.value();
    }
    static std::uint32_t hash_of_labels(Symbol label, std::span<const Symbol> child_labels) {
        Hash hash(label);
        for (const Symbol child : child_labels) hash.add(child);
        return hash.value();
    }

    Node find(std::uint32_t hash, Symbol label, std::span<const Node> children) const {
        return nodes_.find(hash, [&](Node other) {
            const auto theirs = this->children(other);
            return labels_[other] == label && theirs.size() == children.size() &&
                   std::memcmp(theirs.data(), children.data(), children.size_bytes()) == 0;
        });
    }

    // Of a new subtree.
    Production production(Node node) {
        const Symbol label = labels_[node];
        const auto kids = children(node);
        const bool lexical = kids.size() == 1 && is_leaf(kids[0]);
        if (lexical) {
            // No other subtree has it, unless the label of the leaf is also that of an internal only child. Most
            // productions are of this kind, and need no entry of their own: find_production goes by the subtree.
            const Symbol word = labels_[kids[0]];
            if (is_only_child(word))
                if (const Production found = short_productions_.find({label, word, kNone}); found != kNone)
                    return found;
        } else {
            child_labels_.clear();
            for (const Node child : kids) child_labels_.push_back(labels_[child]);
            if (kids.size() == 1) {
                if (child_labels_[0] >= only_child_.size()) only_child_.resize(symbols.size(), false);
                only_child_[child_labels_[0]] = true;
            }
            if (const Production found = find_production(label, child_labels_); found != kNone) return found;
        }
        const auto number = static_cast<Production>(samples_.size());
        samples_.push_back(node);
        if (kids.size() > 2) {
            long_labels_.insert(long_labels_.end(), child_labels_.begin(), child_labels_.end());
            production_table_.insert(hash_of_labels(label, child_labels_), number);
        } else if (!lexical) {
            short_productions_.insert(short_key(label, child_labels_), number);
        }
        long_begins_.push_back(long_labels_.size());
        return number;
    }

    Array<Symbol> labels_;
    Array<std::size_t> begins_ = Array<std::size_t>(1, std::size_t{0});
    Array<Node> children_;
    Array<Production> productions_;
    Array<Node> samples_;
    Array<Node> leaves_;
    Array<Node> node_order_;  // internal nodes by label and children, and productions by labels, instead of tables
    Array<Production> production_order_;
    std::vector<std::uint32_t> hashes_;
    std::vector<bool> only_child_;  // per label: whether some internal only child has it
    // The child labels of productions with more than two; the others are empty here.
    std::vector<Symbol> long_labels_;
    std::vector<std::size_t> long_begins_{0};
    std::vector<Symbol> child_labels_;                       // scratch of production()
    detail::ShortKeyTable short_nodes_, short_productions_;  // of one or two children
    detail::IndexTable nodes_, production_table_;            // of more
};

// A map from the numbers of an arena to other numbers that costs by what is put in when that is little. What was not
// put in is kNone.
class NumberMap {
  public:
    // `expected` entries out of `range` possible numbers.
    NumberMap(std::size_t range, std::size_t expected) : dense_(expected * 16 >= range) {
        if (dense_)
            table_.assign(range, kNone);
        else
            slots_.resize(std::bit_ceil(2 * expected + 2));
    }

    // Whether there is a place for every number, so that going through all of them costs no more than the map itself.
    bool dense() const { return dense_; }

    std::uint32_t at(std::uint32_t number) const { return dense_ ? table_[number] : slots_[seek(number)].value; }

    void set(std::uint32_t number, std::uint32_t value) {
        if (dense_) {
            table_[number] = value;
            return;
        }
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[seek(number)];
        used_ += slot.number == kNone;
        slot = {number, value};
    }

  private:
    struct Slot {
        std::uint32_t number = kNone, value = kNone;
    };

    // The slot of a number, or the free one where it belongs.
    std::size_t seek(std::uint32_t number) const {
        const std::size_t mask = slots_.size() - 1;
        auto at = static_cast<std::size_t>(detail::mix(detail::hash_seed(), number)) & mask;
        while (slots_[at].number != kNone && slots_[at].number != number) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) slots_[seek(slot.number)] = slot;
    }

    bool dense_;
    std::vector<std::uint32_t> table_;
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

// The nodes reachable from `roots`, ascending, each once.
inline std::vector<Node> reachable(const Arena& arena, std::span<const Node> roots) {
    // A tree of a treebank has some seventy nodes; a few trees must not cost a walk over a large store.
    NumberMap seen(arena.size(), roots.size() * 64);
    std::vector<Node> stack, result;
    const auto visit = [&](Node node) {
        if (seen.at(node) != kNone) return;
        seen.set(node, 0);
        result.push_back(node);
        stack.push_back(node);
    };
    for (const Node root : roots) {
        visit(root);
        while (!stack.empty()) {
            const Node node = stack.back();
            stack.pop_back();
            for (const Node child : arena.children(node)) visit(child);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

// Adds the trees under `roots` of one arena to another and returns their numbers there.
inline std::vector<Node> transplant(const Arena& from, std::span<const Node> roots, Arena& to) {
    const std::vector<Node> nodes = reachable(from, roots);
    NumberMap symbol_map(from.symbols.size(), nodes.size()), node_map(from.size(), nodes.size());
    std::vector<Node> kids;
    for (const Node node : nodes) {
        const Symbol own = from.label(node);
        if (symbol_map.at(own) == kNone) symbol_map.set(own, to.symbols.intern(from.symbols.text(own)));
        kids.clear();
        for (const Node child : from.children(node)) kids.push_back(node_map.at(child));
        node_map.set(node, to.node(symbol_map.at(own), kids));
    }
    std::vector<Node> result;
    result.reserve(roots.size());
    for (const Node root : roots) result.push_back(node_map.at(root));
    return result;
}

}  // namespace sapwood
