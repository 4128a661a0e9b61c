// Columns of the semantic syntactic tree kernel, prepared for matching: see semantic.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/parallel.hpp"
#include "kernels/active_subtrees.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/similarity_cache.hpp"
#include "kernels/word_block.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

struct SemanticOptions {
    double decay;        // lambda
    double leaf_weight;  // alpha
};

class SemanticMatcher;

// Columns prepared for matching. A *class* is a production, or the label of pre-terminals ("tag"). An *active* subtree
// is a distinct subtree with an internal child, or a pre-terminal. Active subtrees of a class are numbered from 1 in
// order of the last element that holds them; place 0 stands for all subtrees of a production without internal children.
class SemanticColumns {
  public:
    struct Entry {
        std::uint32_t place;  // place of the subtree in its class
        std::uint32_t child;  // place of its child in the child's class
    };
    struct Run {  // the entries of one word
        std::uint32_t place, begin, end;
    };
    struct Slot {                            // one child position of one production
        std::uint32_t list_begin, list_end;  // lists of entries by the production of the child
        std::uint32_t word_begin, word_end;  // entries whose child is a pre-terminal, by active subtree
        std::uint32_t run_begin, run_end;    // the same by word
        bool covers;                         // whether those are all active subtrees of the production
    };
    struct Prepared {
        Bags features;
        std::vector<std::uint32_t> entry;      // per row subtree: its number in the cache; kNone: no pre-terminal
        std::vector<std::uint32_t> first_row;  // per number in the cache: the first row that holds it
        std::vector<char> repeated;            // and whether other rows hold it too
        std::shared_ptr<SimilarityCache> cache;
    };

    SemanticColumns(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary, const WordFeatures& features,
                    const SemanticOptions& options)
        : options_(options),
          productions_(arena.production_count()),
          class_(arena.size(), kNone),
          tag_(arena.symbols.size(), kNone) {
        std::vector<std::uint32_t> word(arena.size(), kNone);
        classify(arena, bags, vocabulary, word);
        collect_active(arena, bags);
        choose_features(arena, bags);
        build_slots(arena);
        std::vector<std::uint32_t> words;
        std::vector<std::size_t> ends;
        for (std::size_t k = productions_; k < group_.size(); ++k) {
            for (std::size_t place = 1; place < group_[k].places; ++place)
                words.push_back(word[active_.node[group_[k].begin + place]]);
            ends.push_back(words.size());
        }
        words_ = std::make_shared<WordGroups>(features, words, ends);
    }

    // The bulk: productions, and pre-terminals that many elements hold.
    std::size_t feature_count() const { return features_; }
    Bags features(const Arena& arena, const Bags& bags) const {
        return map_bags(bags, features_, [&](Node node) -> std::uint32_t {
            if (arena.is_leaf(node)) return kNone;
            if (class_[node] < productions_) return class_[node];
            return feature_[position(class_[node], active_.place[node])];
        });
    }
    std::size_t positions() const { return active_.last.size(); }
    const std::vector<std::uint32_t>& positions_of_nodes() const { return position_; }

    Prepared prepare(const WordMap& map, const Bags& rows) const {
        Prepared result;
        result.entry.assign(map.arena.size(), kNone);
        std::uint32_t entries = 0;
        result.features = map_bags(rows, features_, [&](Node node) -> std::uint32_t {
            if (map.arena.is_leaf(node)) return kNone;
            if (map.vocabulary.word_under(map.arena, node) == kNone) return map.productions[node];
            if (result.entry[node] == kNone) result.entry[node] = entries++;
            return kNone;
        });
        result.first_row.assign(entries, kNone);
        result.repeated.assign(entries, 0);
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (const Node node : rows.numbers_of(i)) {
                const std::uint32_t entry = result.entry[node];
                if (entry == kNone) continue;
                if (result.first_row[entry] == kNone)
                    result.first_row[entry] = static_cast<std::uint32_t>(i);
                else
                    result.repeated[entry] = 1;
            }
        result.cache = std::make_shared<SimilarityCache>(entries);
        return result;
    }
    auto visitor(const WordMap& map, const Bags& rows, const Prepared& prepared, const Control& control) const;
    // Makes visitors that finish the rows of a block together.
    auto block_visitors(const Bags& column_bags, const WordMap& map, const Bags& rows, const Prepared& prepared,
                        const Control& control) const;

    std::size_t productions() const { return productions_; }
    std::size_t classes() const { return group_.size(); }
    // Number of places (active subtrees and place 0) of a class; 0 if no column holds an active subtree of it.
    std::size_t places(std::uint32_t number) const { return number < group_.size() ? group_[number].places : 0; }
    // The class of pre-terminals with this label; kNone if no column holds one.
    std::uint32_t tag(Symbol label) const { return label == kNone ? kNone : tag_[label]; }
    // The group of the words under a tag, and the tag of a group.
    std::uint32_t words_of(std::uint32_t tag) const { return tag - static_cast<std::uint32_t>(productions_); }
    std::uint32_t tag_of(std::uint32_t group) const { return group + static_cast<std::uint32_t>(productions_); }
    std::size_t position(std::uint32_t number, std::uint32_t place) const { return group_[number].begin + place; }
    // The last element that holds an active subtree.
    std::size_t last(std::size_t position) const { return active_.last[position]; }
    // The first place of a class that some element from `first` on holds.
    std::size_t first_place(std::uint32_t number, std::size_t first) const {
        const auto begin = active_.last.begin() + static_cast<std::ptrdiff_t>(group_[number].begin);
        return static_cast<std::size_t>(
            std::lower_bound(begin + 1, begin + static_cast<std::ptrdiff_t>(group_[number].places), first) - begin);
    }
    // The feature that stands for an active subtree; kNone if it is counted by its position.
    std::uint32_t feature(std::size_t position) const { return feature_[position]; }
    const WordGroups& words() const { return *words_; }
    std::size_t rows_at_once() const { return words_->has_vectors() ? words_->rows_at_once() : kBlockRows; }

    const Slot& slot(Production production, std::size_t number) const {
        return slot_[group_[production].slots + number];
    }
    // The active subtrees of a production whose child in one slot has this production, by ascending place.
    std::span<const Entry> entries(const Slot& slot, Production child) const {
        const auto begin = list_.begin() + slot.list_begin, end = list_.begin() + slot.list_end;
        const auto found =
            std::lower_bound(begin, end, child, [](const List& list, Production p) { return list.child < p; });
        if (found == end || found->child != child) return {};
        return std::span(entry_).subspan(found->begin, found->end - found->begin);
    }
    std::span<const Entry> word_entries(const Slot& slot) const {
        return std::span(word_entry_).subspan(slot.word_begin, slot.word_end - slot.word_begin);
    }
    std::span<const Run> runs(const Slot& slot) const {
        return std::span(run_).subspan(slot.run_begin, slot.run_end - slot.run_begin);
    }
    std::span<const Entry> run_entries(const Run& run) const {
        return std::span(run_entry_).subspan(run.begin, run.end - run.begin);
    }

  private:
    // Words in at least this many elements are added up by feature, which is faster for long lists of elements.
    static constexpr std::size_t kFrequent = 16;

    struct Group {
        std::size_t begin = 0, places = 0;
        std::size_t slots = 0;  // where its slots begin
    };
    struct List {
        Production child;
        std::uint32_t begin, end;  // in entry_
    };

    void classify(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                  std::vector<std::uint32_t>& word) {
        std::uint32_t classes = static_cast<std::uint32_t>(productions_);
        for (const Node node : bags.numbers) {
            if (arena.is_leaf(node) || class_[node] != kNone) continue;
            word[node] = vocabulary.word_under(arena, node);
            class_[node] = arena.production_of(node);
            if (word[node] == kNone) continue;
            std::uint32_t& tag = tag_[arena.label(node)];
            if (tag == kNone) tag = classes++;
            class_[node] = tag;
        }
        group_.resize(classes);
    }

    bool is_active(const Arena& arena, Node node) const {
        if (class_[node] >= productions_) return true;
        for (const Node child : arena.children(node))
            if (!arena.is_leaf(child)) return true;
        return false;
    }

    void collect_active(const Arena& arena, const Bags& bags) {
        const std::vector<std::uint32_t> last = last_holders(arena, bags);
        std::vector<Node> active;
        for (Node node = 0; node < arena.size(); ++node)
            if (last[node] != kNone && !arena.is_leaf(node) && is_active(arena, node)) active.push_back(node);
        active_.number(active, last, bags.size(), [&](Node node) { return class_[node]; }, group_);
    }

    void choose_features(const Arena& arena, const Bags& bags) {
        std::vector<std::uint32_t> held(arena.size(), 0);
        for (const Node node : bags.numbers) ++held[node];
        features_ = productions_;
        feature_.assign(active_.node.size(), kNone);
        position_.assign(arena.size(), kNone);
        for (std::size_t k = 0; k < active_.node.size(); ++k) {
            const Node node = active_.node[k];
            if (node == kNone) continue;
            if (class_[node] >= productions_ && held[node] >= kFrequent)
                feature_[k] = static_cast<std::uint32_t>(features_++);
            else
                position_[node] = static_cast<std::uint32_t>(k);
        }
    }

    void build_slots(const Arena& arena) {
        std::size_t edges = 0;
        for (const Node node : active_.node)
            if (node != kNone && class_[node] < productions_) edges += arena.children(node).size();
        if (edges >= kNone) throw std::length_error("more than 4294967295 edges between distinct subtrees");
        std::vector<std::uint32_t> number(productions_, kNone);  // per production of a child: its list
        for (std::size_t production = 0; production < productions_; ++production) {
            Group& group = group_[production];
            if (group.places == 0) continue;
            group.slots = slot_.size();
            const std::size_t arity = arena.children(active_.node[group.begin + 1]).size();
            const std::span<const Node> active(active_.node.data() + group.begin + 1, group.places - 1);
            for (std::size_t at = 0; at < arity; ++at) {
                Slot slot{};
                add_lists(arena, active, at, number, slot);
                add_words(arena, active, at, slot);
                slot_.push_back(slot);
            }
        }
    }

    void add_lists(const Arena& arena, std::span<const Node> active, std::size_t at, std::vector<std::uint32_t>& number,
                   Slot& slot) {
        const std::size_t first = list_.size();
        const auto production = [&](Node node) {
            const Node child = arena.children(node)[at];
            return arena.is_leaf(child) || class_[child] >= productions_ ? kNone : class_[child];
        };
        for (const Node node : active) {
            const Production child = production(node);
            if (child == kNone) continue;
            if (number[child] == kNone) {
                number[child] = 0;
                list_.push_back({child, 0, 0});
            }
            ++number[child];
        }
        const auto begin = list_.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, list_.end(), [](const List& a, const List& b) { return a.child < b.child; });
        auto filled = static_cast<std::uint32_t>(entry_.size());
        for (auto list = begin; list != list_.end(); ++list) {
            list->begin = list->end = filled;
            filled += number[list->child];
            number[list->child] = static_cast<std::uint32_t>(list - list_.begin());
        }
        entry_.resize(filled);
        for (std::size_t k = 0; k < active.size(); ++k)
            if (const Production child = production(active[k]); child != kNone)
                entry_[list_[number[child]].end++] = {static_cast<std::uint32_t>(k + 1),
                                                      active_.place[arena.children(active[k])[at]]};
        for (auto list = begin; list != list_.end(); ++list) number[list->child] = kNone;
        slot.list_begin = static_cast<std::uint32_t>(first);
        slot.list_end = static_cast<std::uint32_t>(list_.size());
    }

    void add_words(const Arena& arena, std::span<const Node> active, std::size_t at, Slot& slot) {
        slot.word_begin = static_cast<std::uint32_t>(word_entry_.size());
        for (std::size_t k = 0; k < active.size(); ++k) {
            const Node child = arena.children(active[k])[at];
            if (!arena.is_leaf(child) && class_[child] >= productions_)
                word_entry_.push_back({static_cast<std::uint32_t>(k + 1), active_.place[child]});
        }
        slot.word_end = static_cast<std::uint32_t>(word_entry_.size());
        slot.covers = slot.word_end - slot.word_begin == active.size();
        run_entry_.insert(run_entry_.end(), word_entry_.begin() + slot.word_begin, word_entry_.end());
        std::stable_sort(run_entry_.begin() + slot.word_begin, run_entry_.end(),
                         [](const Entry& a, const Entry& b) { return a.child < b.child; });
        slot.run_begin = static_cast<std::uint32_t>(run_.size());
        for (std::uint32_t k = slot.word_begin; k < slot.word_end; ++k) {
            if (k == slot.word_begin || run_entry_[k].child != run_.back().place)
                run_.push_back({run_entry_[k].child, k, k});
            ++run_.back().end;
        }
        slot.run_end = static_cast<std::uint32_t>(run_.size());
    }

    SemanticOptions options_;
    std::size_t productions_, features_ = 0;
    std::vector<std::uint32_t> class_;  // per subtree of the arena
    std::vector<std::uint32_t> tag_;    // per label of the arena
    std::vector<Group> group_;          // per class
    ActiveSubtrees active_;
    std::vector<std::uint32_t> feature_;   // per position
    std::vector<std::uint32_t> position_;  // per subtree of the arena; kNone: none, or counted as a feature
    std::vector<Slot> slot_;
    std::vector<List> list_;
    std::vector<Run> run_;
    std::vector<Entry> entry_, word_entry_, run_entry_;
    std::shared_ptr<const WordGroups> words_;
};

}  // namespace sapwood
