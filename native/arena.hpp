// The arena: every distinct subtree of a collection, stored once.
//
// A node is identified by its label and the identities of its children, so two equal subtrees are one number
// and everything that depends on a subtree alone is computed once. Children always have smaller numbers than
// their parent, which makes "bottom up" a plain loop. Also here: the table of label strings, and productions
// (a label with the labels of the children), which kernels use to find candidates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sapwood {

using Symbol = std::uint32_t;
using Node = std::uint32_t;
using Production = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

namespace detail {

// Keys are hashed with a seed drawn once per process, so that no input can be made to collide on purpose.
// Numbers are given in order of arrival, hence no result depends on the seed.
inline std::uint64_t hash_seed() {
    static const std::uint64_t seed = [] {
        std::random_device source;
        return (std::uint64_t{source()} << 32) ^ source();
    }();
    return seed;
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xd1b54a32d192ed03ull);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint32_t hash_bytes(std::string_view bytes) {
    std::uint64_t state = mix(hash_seed(), bytes.size());
    const char* data = bytes.data();
    std::size_t left = bytes.size();
    while (left >= 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        state = mix(state, word);
        data += 8;
        left -= 8;
    }
    if (left > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, data, left);
        state = mix(state, word);
    }
    return static_cast<std::uint32_t>(state ^ (state >> 32));
}

// Open addressing with linear probing over 32-bit numbers; the keys live with the owner.
class IndexTable {
  public:
    IndexTable() : slots_(64, Slot{kNone, 0}) {}

    // Returns the number whose key has this hash and satisfies `equal`, or kNone.
    template <class Equal>
    std::uint32_t find(std::uint32_t hash, Equal equal) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone) return kNone;
            if (slot.hash == hash && equal(slot.number)) return slot.number;
        }
    }

    std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

    void insert(std::uint32_t hash, std::uint32_t number) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        place(Slot{number, hash});
        ++used_;
    }

  private:
    struct Slot {
        std::uint32_t number, hash;
    };

    void place(Slot slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = slot.hash & mask;
        while (slots_[at].number != kNone) at = (at + 1) & mask;
        slots_[at] = slot;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2, Slot{kNone, 0});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) place(slot);
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

// The same for keys of up to 96 bits, which are kept in the slot itself: finding one touches a single cache line. Labels
// of up to eight bytes and nodes of one or two children, nearly all there are, are found this way.
class ShortKeyTable {
  public:
    struct Key {
        std::uint32_t a, b, c;
        bool operator==(const Key&) const = default;
    };

    ShortKeyTable() : slots_(64, Slot{{0, 0, 0}, kNone}) {}

    std::uint32_t find(const Key& key) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash(key) & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.number == kNone || slot.key == key) return slot.number;
        }
    }

    void insert(const Key& key, std::uint32_t number) {
        // Three quarters full: more probes, but fewer cache misses than in a table of twice the size.
        if (4 * (used_ + 1) > 3 * slots_.size()) grow(2 * slots_.size());
        place({key, number});
        ++used_;
    }

    std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

    void reserve(std::size_t keys) {
        std::size_t size = slots_.size();
        while (3 * size < 4 * keys) size *= 2;
        if (size > slots_.size()) grow(size);
    }

  private:
    struct Slot {
        Key key;
        std::uint32_t number;
    };

    static std::size_t hash(const Key& key) {
        return static_cast<std::size_t>(mix(hash_seed() ^ key.c, (std::uint64_t{key.a} << 32) | key.b));
    }

    void place(const Slot& slot) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash(slot.key) & mask;
        while (slots_[at].number != kNone) at = (at + 1) & mask;
        slots_[at] = slot;
    }

    void grow(std::size_t size) {
        std::vector<Slot> old(size, Slot{{0, 0, 0}, kNone});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number != kNone) place(slot);
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace detail

class SymbolTable {
  public:
    Symbol intern(std::string_view text) {
        if (text.size() <= 8) {
            const auto key = short_key(text);
            if (const std::uint32_t found = short_.find(key); found != kNone) return found;
            const Symbol number = append(text);
            short_.insert(key, number);
            return number;
        }
        const std::uint32_t hash = detail::hash_bytes(text);
        const auto same = [&](std::uint32_t number) { return this->text(number) == text; };
        if (const std::uint32_t found = table_.find(hash, same); found != kNone) return found;
        const Symbol number = append(text);
        table_.insert(hash, number);
        return number;
    }

    Symbol find(std::string_view text) const {
        if (text.size() <= 8) return short_.find(short_key(text));
        return table_.find(detail::hash_bytes(text), [&](std::uint32_t number) { return this->text(number) == text; });
    }

    std::string_view text(Symbol symbol) const {
        const std::size_t begin = symbol == 0 ? 0 : ends_[symbol - 1];
        return {characters_.data() + begin, ends_[symbol] - begin};
    }

    std::size_t size() const { return ends_.size(); }
    std::size_t bytes() const {
        return characters_.capacity() + ends_.capacity() * sizeof(std::size_t) + short_.bytes() + table_.bytes();
    }

  private:
    static detail::ShortKeyTable::Key short_key(std::string_view text) {
        std::uint32_t words[2] = {0, 0};
        std::memcpy(words, text.data(), text.size());
        return {words[0], words[1], static_cast<std::uint32_t>(text.size())};
    }

    Symbol append(std::string_view text) {
        if (size() >= kNone) throw std::length_error("more than 4294967295 distinct labels");
        const auto number = static_cast<Symbol>(size());
        characters_.insert(characters_.end(), text.begin(), text.end());
        ends_.push_back(characters_.size());
        return number;
    }

    std::vector<char> characters_;
    std::vector<std::size_t> ends_;
    detail::ShortKeyTable short_;  // labels of up to eight bytes
    detail::IndexTable table_;     // the others
};

class Arena {
  public:
    SymbolTable symbols;

    Node leaf(Symbol label) {
        if (label >= leaves_.size()) leaves_.resize(symbols.size(), kNone);
        Node& known = leaves_[label];
        if (known == kNone) known = append(label, {});
        return known;
    }

    // The number of the subtree with this label over these children; the same subtree always gives the same number.
    Node node(Symbol label, std::span<const Node> children) {
        if (children.empty()) return leaf(label);
        if (children.size() <= 2) {
            const auto key = short_key(label, children);
            if (const Node found = short_nodes_.find(key); found != kNone) return found;
            const Node number = append(label, children);
            short_nodes_.insert(key, number);
            productions_.back() = production(number);
            return number;
        }
        const std::uint32_t hash = hash_of(label, children);
        if (const Node found = find(hash, label, children); found != kNone) return found;
        const Node number = append(label, children);
        nodes_.insert(hash, number);
        productions_.back() = production(number);
        return number;
    }

    // Makes room for about so many distinct subtrees more.
    void reserve(std::size_t nodes) {
        nodes += size();
        labels_.reserve(nodes);
        begins_.reserve(nodes + 1);
        productions_.reserve(nodes);
        children_.reserve(2 * nodes);
        short_nodes_.reserve(nodes / 2);
    }

    // The same for a subtree that may be absent: kNone then. Label and children must belong to this arena.
    Node find_node(Symbol label, std::span<const Node> children) const {
        if (children.empty()) return label < leaves_.size() ? leaves_[label] : kNone;
        if (children.size() <= 2) return short_nodes_.find(short_key(label, children));
        return find(hash_of(label, children), label, children);
    }

    // The production with this label and these child labels, or kNone.
    Production find_production(Symbol label, std::span<const Symbol> child_labels) const {
        if (child_labels.size() <= 2) return short_productions_.find(short_key(label, child_labels));
        return production_table_.find(hash_of(label, child_labels), [&](Production number) {
            const Node other = samples_[number];
            const auto theirs = children(other);
            if (labels_[other] != label || theirs.size() != child_labels.size()) return false;
            for (std::size_t i = 0; i < theirs.size(); ++i)
                if (labels_[theirs[i]] != child_labels[i]) return false;
            return true;
        });
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

    std::size_t bytes() const {
        return labels_.capacity() * sizeof(Symbol) + begins_.capacity() * sizeof(std::size_t) +
               (children_.capacity() + productions_.capacity() + samples_.capacity() + leaves_.capacity()) * 4 +
               short_nodes_.bytes() + short_productions_.bytes() + nodes_.bytes() + production_table_.bytes() +
               symbols.bytes();
    }

  private:
    Node append(Symbol label, std::span<const Node> children) {
        if (size() >= kNone) throw std::length_error("more than 4294967295 distinct subtrees");
        const auto number = static_cast<Node>(size());
        labels_.push_back(label);
        children_.insert(children_.end(), children.begin(), children.end());
        begins_.push_back(children_.size());
        productions_.push_back(kNone);
        return number;
    }

    // Of a label with one or two children or child labels.
    static detail::ShortKeyTable::Key short_key(Symbol label, std::span<const std::uint32_t> below) {
        return {label, below[0], below.size() == 2 ? below[1] : kNone};
    }

    static std::uint32_t hash_of(Symbol label, std::span<const std::uint32_t> numbers) {
        std::uint64_t state = detail::mix(detail::hash_seed(), label);
        for (const std::uint32_t number : numbers) state = detail::mix(state, number);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }

    Node find(std::uint32_t hash, Symbol label, std::span<const Node> children) const {
        return nodes_.find(hash, [&](Node other) {
            const auto theirs = this->children(other);
            return labels_[other] == label && theirs.size() == children.size() &&
                   std::memcmp(theirs.data(), children.data(), children.size_bytes()) == 0;
        });
    }

    Production production(Node node) {
        child_labels_.clear();
        for (const Node child : children(node)) child_labels_.push_back(labels_[child]);
        if (const Production found = find_production(labels_[node], child_labels_); found != kNone) return found;
        const auto number = static_cast<Production>(samples_.size());
        samples_.push_back(node);
        if (child_labels_.size() <= 2) short_productions_.insert(short_key(labels_[node], child_labels_), number);
        else production_table_.insert(hash_of(labels_[node], child_labels_), number);
        return number;
    }

    std::vector<Symbol> labels_;
    std::vector<std::size_t> begins_{0};
    std::vector<Node> children_;
    std::vector<Production> productions_;
    std::vector<Node> samples_;
    std::vector<Node> leaves_;
    std::vector<Symbol> child_labels_;  // scratch of production()
    detail::ShortKeyTable short_nodes_, short_productions_;  // of one or two children
    detail::IndexTable nodes_, production_table_;            // of more
};

// A map from the numbers of an arena to other numbers that costs by what is put in when that is little.
class NumberMap {
  public:
    // `expected` entries out of `range` possible numbers.
    NumberMap(std::size_t range, std::size_t expected) : dense_(expected * 16 >= range) {
        if (dense_) table_.assign(range, kNone);
        else hashed_.reserve(expected);
    }

    std::uint32_t at(std::uint32_t number) const {
        if (dense_) return table_[number];
        const auto found = hashed_.find(number);
        return found == hashed_.end() ? kNone : found->second;
    }

    void set(std::uint32_t number, std::uint32_t value) {
        if (dense_) table_[number] = value;
        else hashed_[number] = value;
    }

  private:
    bool dense_;
    std::vector<std::uint32_t> table_;
    std::unordered_map<std::uint32_t, std::uint32_t> hashed_;
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
