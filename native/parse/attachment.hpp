// First-pass attachment: incremental trees of a sentence and all ways to attach its next word.
//
// An incremental tree T spans the first words of a sentence. The next word hangs from T by a *connection path*: `down`,
// the labels from just below the anchor to the word's tag, and `up`, labels to put above the root of T first if the
// anchor is not in T yet. Anchors lie on the right frontier of T, its *spine*. All trees of a forest differ from T in a
// part of the spine only, so they share the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "trees/arena.hpp"

namespace sapwood {

// Where incremental trees are rooted: at the lowest node over the words so far, or at the root of the whole tree.
enum class IncrementalRoot { kLowest, kTop };

// A path between labels of some symbol table; `up` goes from the root of T upwards, `down` from the anchor downwards.
struct PathView {
    std::span<const Symbol> up;
    Symbol anchor;
    std::span<const Symbol> down;
};

// Distinct connection paths with their counts. Labels have numbers of its own, so that paths outlive any arena.
class ConnectionPaths {
  public:
    SymbolTable symbols;

    std::size_t size() const { return anchor_.size(); }
    PathView path(std::uint32_t number) const {
        const std::span<const Symbol> all(labels_);
        const std::size_t begin = number == 0 ? 0 : down_end_[number - 1];
        return {all.subspan(begin, up_end_[number] - begin), anchor_[number],
                all.subspan(up_end_[number], down_end_[number] - up_end_[number])};
    }
    double count(std::uint32_t number) const { return count_[number]; }

    // The number of a path, which is added if it is new.
    std::uint32_t add(const PathView& path, double count) {
        const std::uint32_t key = hash(path);
        std::uint32_t number = find(key, path);
        if (number == kNone) {
            number = static_cast<std::uint32_t>(size());
            labels_.insert(labels_.end(), path.up.begin(), path.up.end());
            up_end_.push_back(labels_.size());
            labels_.insert(labels_.end(), path.down.begin(), path.down.end());
            down_end_.push_back(labels_.size());
            anchor_.push_back(path.anchor);
            count_.push_back(0.0);
            table_.insert(key, number);
        }
        count_[number] += count;
        return number;
    }
    std::uint32_t find(const PathView& path) const { return find(hash(path), path); }

  private:
    static std::uint32_t hash(const PathView& path) {
        std::uint64_t state = detail::mix(path.anchor, path.up.size());
        for (const Symbol label : path.up) state = detail::mix(state, label);
        for (const Symbol label : path.down) state = detail::mix(state, label);
        return static_cast<std::uint32_t>(state ^ (state >> 32));
    }
    std::uint32_t find(std::uint32_t key, const PathView& path) const {
        return table_.find(key, [&](std::uint32_t number) {
            const PathView other = this->path(number);
            return other.anchor == path.anchor && std::ranges::equal(other.up, path.up) &&
                   std::ranges::equal(other.down, path.down);
        });
    }

    std::vector<Symbol> labels_, anchor_;
    std::vector<std::size_t> up_end_, down_end_;
    std::vector<double> count_;
    detail::IndexTable table_;
};

// How the words of one sentence are attached in its full tree, one after the other.
class GoldSteps {
  public:
    struct Step {
        bool upward;        // the anchor has to be put above the root first
        std::size_t depth;  // of the anchor on the spine otherwise
        PathView path;      // in symbols of the arena; valid until the next step
    };

    // The leaves of the tree are the words, or rather their tags.
    GoldSteps(const Arena& arena, Node tree, IncrementalRoot where) {
        struct Open {
            Node node;
            std::uint32_t parent;
        };
        std::vector<Open> stack{{tree, kNone}};
        // Pre-order, so the first leaf under a node is the next leaf when the node is met.
        while (!stack.empty()) {
            const Open open = stack.back();
            stack.pop_back();
            const auto number = static_cast<std::uint32_t>(nodes_.size());
            const std::uint32_t depth = open.parent == kNone ? 0 : nodes_[open.parent].depth + 1;
            nodes_.push_back({arena.label(open.node), open.parent, static_cast<std::uint32_t>(leaves_.size()), depth});
            const auto children = arena.children(open.node);
            if (children.empty()) leaves_.push_back(number);
            for (auto child = children.rbegin(); child != children.rend(); ++child) stack.push_back({*child, number});
        }
        top_ = where == IncrementalRoot::kTop ? 0 : leaves_[0];
    }

    std::size_t words() const { return leaves_.size(); }
    Symbol tag(std::size_t word) const { return nodes_[leaves_[word]].label; }
    // The labels over the first word within the first incremental tree, from its root downwards.
    std::span<const Symbol> first_spine() {
        down_.clear();
        if (top_ == leaves_[0]) return down_;
        for (std::uint32_t node = nodes_[leaves_[0]].parent; node != kNone; node = nodes_[node].parent)
            down_.push_back(nodes_[node].label);
        std::reverse(down_.begin(), down_.end());
        return down_;
    }

    // How word k > 0 is attached to the tree over the words before it. Ask in order: the root may move up each time.
    Step attach(std::size_t k) {
        down_.clear();
        up_.clear();
        std::uint32_t anchor = leaves_[k];
        while (nodes_[anchor].first_leaf >= k) {
            down_.push_back(nodes_[anchor].label);
            anchor = nodes_[anchor].parent;
        }
        std::reverse(down_.begin(), down_.end());
        // Both the root and the anchor stand over the word before, so one is above the other.
        if (nodes_[anchor].depth >= nodes_[top_].depth)
            return {false, nodes_[anchor].depth - nodes_[top_].depth, {up_, nodes_[anchor].label, down_}};
        const Symbol root = nodes_[top_].label;
        while (top_ != anchor) {
            top_ = nodes_[top_].parent;
            up_.push_back(nodes_[top_].label);
        }
        return {true, 0, {up_, root, down_}};
    }

  private:
    struct GoldNode {
        Symbol label;
        std::uint32_t parent, first_leaf, depth;
    };
    std::vector<GoldNode> nodes_;
    std::vector<std::uint32_t> leaves_;
    std::uint32_t top_ = 0;  // the root of the incremental tree
    std::vector<Symbol> up_, down_;
};

// Counts the paths of all steps of the trees.
inline void learn_paths(ConnectionPaths& paths, const Arena& arena, std::span<const Node> trees, IncrementalRoot where,
                        Control& control) {
    std::vector<Symbol> translated(arena.symbols.size(), kNone), up, down;
    const auto translate = [&](Symbol label) {
        if (translated[label] == kNone) translated[label] = paths.symbols.intern(arena.symbols.text(label));
        return translated[label];
    };
    for (const Node tree : trees) {
        GoldSteps gold(arena, tree, where);
        for (std::size_t k = 1; k < gold.words(); ++k) {
            control.check();
            const PathView path = gold.attach(k).path;
            up.clear();
            down.clear();
            for (const Symbol label : path.up) up.push_back(translate(label));
            for (const Symbol label : path.down) down.push_back(translate(label));
            paths.add({up, translate(path.anchor), down}, 1.0);
        }
    }
}

enum class MissingGold { kAppend, kKeep, kSkip };

struct ForestOptions {
    IncrementalRoot root;
    MissingGold missing;    // what to do where the right path is not among the known ones
    std::size_t reduction;  // levels kept of subtrees that are off the spine; 0: all
    double minimum_count;   // of a path to be considered
};

// Forests one after the other; the members of forest f are those before end[f] that no earlier one has.
struct AttachmentForests {
    Arena arena;
    std::vector<Node> tree;            // per member
    std::vector<std::uint32_t> depth;  // per member: of its anchor on the spine; an upward path has 0
    std::vector<std::uint32_t> path;   // per member; kNone for a right one that is not known
    std::vector<std::uint64_t> end;    // per forest
    std::vector<std::uint32_t> gold;   // per forest: the right member, counted within it; kNone: not among them
    std::vector<std::uint32_t> sentence, word;  // per forest
    std::vector<Symbol> foot;                   // per forest: tag of the word, a label of the arena
    std::uint64_t steps = 0, missing = 0,
                  alone = 0;  // all steps, those without the right path, those with one way only
};

class ForestBuilder {
  public:
    ForestBuilder(const ConnectionPaths& paths, const ForestOptions& options)
        : paths_(paths), options_(options), chain_(paths.size(), kNone) {
        Arena& arena = result_.arena;
        labels_.reserve(paths.symbols.size());
        for (Symbol label = 0; label < paths.symbols.size(); ++label)
            labels_.push_back(arena.symbols.intern(paths.symbols.text(label)));
        for (std::uint32_t number = 0; number < paths.size(); ++number) {
            if (paths.count(number) < options.minimum_count) continue;
            const PathView path = paths.path(number);
            if (path.down.empty()) continue;
            auto& index = path.up.empty() ? inside_ : upward_;
            index[key(labels_[path.anchor], labels_[path.down.back()])].push_back(number);
        }
    }

    void add(const Arena& arena, Node tree, std::uint32_t sentence, const Control& control) {
        if (translated_for_ != &arena) {
            translated_for_ = &arena;
            translated_.assign(arena.symbols.size(), kNone);
        }
        const auto translate = [&](Symbol label) {
            if (translated_[label] == kNone)
                translated_[label] = result_.arena.symbols.intern(arena.symbols.text(label));
            return translated_[label];
        };
        GoldSteps gold(arena, tree, options_.root);
        spine_.clear();
        for (const Symbol label : gold.first_spine()) spine_.push_back({translate(label), {}, kNone});
        leaf_ = result_.arena.leaf(translate(gold.tag(0)));
        for (std::size_t k = 1; k < gold.words(); ++k) {
            control.check();
            const GoldSteps::Step step = gold.attach(k);
            up_.clear();
            down_.clear();
            for (const Symbol label : step.path.up) up_.push_back(translate(label));
            for (const Symbol label : step.path.down) down_.push_back(translate(label));
            close_spine();
            build(step, sentence, static_cast<std::uint32_t>(k));
            advance(step);
        }
    }

    AttachmentForests take() { return std::move(result_); }

  private:
    struct Spine {
        Symbol label;
        std::vector<Node> closed;  // children before the one that is on the spine, reduced
        Node subtree;              // of T at this node
    };

    static std::uint64_t key(Symbol anchor, Symbol foot) { return (static_cast<std::uint64_t>(anchor) << 32) | foot; }

    Node make(const Spine& at, std::initializer_list<Node> more) {
        kids_.assign(at.closed.begin(), at.closed.end());
        kids_.insert(kids_.end(), more.begin(), more.end());
        return result_.arena.node(at.label, kids_);
    }

    void close_spine() {
        Node below = leaf_;
        for (std::size_t d = spine_.size(); d-- > 0;) below = spine_[d].subtree = make(spine_[d], {below});
    }

    Node below(std::size_t depth) const { return depth + 1 < spine_.size() ? spine_[depth + 1].subtree : leaf_; }

    template <class Labels>
    Node chain(const Labels& down) {
        Node node = result_.arena.leaf(down.back());
        for (std::size_t k = down.size() - 1; k-- > 0;)
            node = result_.arena.node(down[k], std::span<const Node>(&node, 1));
        return node;
    }

    Node chain_of(std::uint32_t path) {
        if (chain_[path] == kNone) {
            scratch_.clear();
            for (const Symbol label : paths_.path(path).down) scratch_.push_back(labels_[label]);
            chain_[path] = chain(scratch_);
        }
        return chain_[path];
    }

    Node attach_inside(std::size_t depth, Node chain) {
        Node node = make(spine_[depth], {below(depth), chain});
        while (depth-- > 0) node = make(spine_[depth], {node});
        return node;
    }

    // The last label of `up` is that of the anchor, the others stand between it and the root of T.
    template <class Labels>
    Node wrapped(const Labels& up) {
        Node node = spine_.empty() ? leaf_ : spine_[0].subtree;
        for (std::size_t k = 0; k + 1 < up.size(); ++k)
            node = result_.arena.node(up[k], std::span<const Node>(&node, 1));
        return node;
    }

    template <class Labels>
    Node attach_upward(const Labels& up, Node chain) {
        const Node kids[] = {wrapped(up), chain};
        return result_.arena.node(up.back(), kids);
    }

    void build(const GoldSteps::Step& step, std::uint32_t sentence, std::uint32_t word) {
        ++result_.steps;
        const std::size_t begin = result_.tree.size();
        const Symbol foot = down_.back();
        const Node right = step.upward ? attach_upward(up_, chain(down_)) : attach_inside(step.depth, chain(down_));
        std::uint32_t gold = kNone;
        const auto member = [&](Node tree, std::size_t depth, std::uint32_t path, bool upward) {
            // Ways differ in depth or path, so their trees differ; still the right one must be attached as it should.
            if (tree == right && upward == step.upward && (upward || depth == step.depth))
                gold = static_cast<std::uint32_t>(result_.tree.size() - begin);
            result_.tree.push_back(tree);
            result_.depth.push_back(static_cast<std::uint32_t>(depth));
            result_.path.push_back(path);
        };
        for (std::size_t depth = 0; depth < spine_.size(); ++depth)
            if (const auto found = inside_.find(key(spine_[depth].label, foot)); found != inside_.end())
                for (const std::uint32_t path : found->second)
                    member(attach_inside(depth, chain_of(path)), depth, path, false);
        const Symbol root = spine_.empty() ? result_.arena.label(leaf_) : spine_[0].label;
        if (const auto found = upward_.find(key(root, foot)); found != upward_.end())
            for (const std::uint32_t path : found->second) {
                const Node chain = chain_of(path);
                scratch_.clear();
                for (const Symbol label : paths_.path(path).up) scratch_.push_back(labels_[label]);
                member(attach_upward(scratch_, chain), 0, path, true);
            }
        if (gold == kNone) {
            ++result_.missing;
            if (options_.missing == MissingGold::kAppend) member(right, step.depth, kNone, step.upward);
        }
        const std::size_t members = result_.tree.size() - begin;
        result_.alone += members < 2;
        if (members < 2 || (gold == kNone && options_.missing == MissingGold::kSkip)) {
            result_.tree.resize(begin);
            result_.depth.resize(begin);
            result_.path.resize(begin);
            return;
        }
        result_.end.push_back(result_.tree.size());
        result_.gold.push_back(gold);
        result_.sentence.push_back(sentence);
        result_.word.push_back(word);
        result_.foot.push_back(foot);
    }

    // Makes T the tree over one word more, attached as it should be.
    void advance(const GoldSteps::Step& step) {
        if (step.upward) {
            Spine anchor{up_.back(), {reduced(wrapped(up_))}, kNone};
            spine_.clear();
            spine_.push_back(std::move(anchor));
        } else {
            spine_[step.depth].closed.push_back(reduced(below(step.depth)));
            spine_.resize(step.depth + 1);
        }
        for (std::size_t k = 0; k + 1 < down_.size(); ++k) spine_.push_back({down_[k], {}, kNone});
        leaf_ = result_.arena.leaf(down_.back());
    }

    // The upper levels of a subtree; what is cut off leaves its label as a leaf.
    Node reduced(Node tree) {
        if (options_.reduction == 0) return tree;
        struct Frame {
            Node node;
            std::size_t next, first;
        };
        std::vector<Frame> stack{{tree, 0, 0}};
        std::vector<Node> pending;
        while (true) {
            Frame& frame = stack.back();
            const bool cut = stack.size() >= options_.reduction;
            const auto children = result_.arena.children(frame.node);
            if (!cut && frame.next < children.size()) {
                stack.push_back({children[frame.next++], 0, pending.size()});
                continue;
            }
            const Symbol label = result_.arena.label(frame.node);
            const std::vector<Node> kids(pending.begin() + static_cast<std::ptrdiff_t>(frame.first), pending.end());
            const Node made = cut ? result_.arena.leaf(label) : result_.arena.node(label, kids);
            pending.resize(frame.first);
            stack.pop_back();
            if (stack.empty()) return made;
            pending.push_back(made);
        }
    }

    const ConnectionPaths& paths_;
    ForestOptions options_;
    AttachmentForests result_;
    std::vector<Symbol> labels_;  // per label of the paths: its number in the arena
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> inside_, upward_;
    std::vector<Node> chain_;  // per path: its down part as a tree
    const Arena* translated_for_ = nullptr;
    std::vector<Symbol> translated_;
    std::vector<Spine> spine_;
    Node leaf_ = kNone;  // the tag of the last word
    std::vector<Symbol> up_, down_, scratch_;
    std::vector<Node> kids_;
};

inline AttachmentForests build_forests(const ConnectionPaths& paths, const Arena& arena, std::span<const Node> trees,
                                       const ForestOptions& options, Control& control) {
    ForestBuilder builder(paths, options);
    for (std::size_t i = 0; i < trees.size(); ++i) {
        builder.add(arena, trees[i], static_cast<std::uint32_t>(i), control);
        control.done = i + 1;
    }
    return builder.take();
}

}  // namespace sapwood
