// How a grammar reads the trees of an arena: what is a word, a tag or a phrase, which labels may stand for each other,
// and which forms each production can take.
//
// A node is *pre-terminal* if its only child is a leaf and its own label is no left-hand side of the grammar; every
// other internal node is *phrasal*; a leaf that is not under a pre-terminal is a frontier label. Everything here
// depends on labels and productions alone and is worked out once per production.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/production_forms.hpp"
#include "kernels/rule_set.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood {

enum class Lexical { ignore, exact, similar };

struct ReducedOptions {
    double decay;     // lambda
    double deletion;  // lambda 1
    double mutation;  // lambda 2
    Lexical lexical;
    bool deep;       // tags mutate inside productions too
    bool canonical;  // one embedding per form instead of all
    bool normalize_mutation;
};

// Tags that can stand for each other: label -> number of its set, and the sizes of the sets.
struct TagSets {
    std::unordered_map<std::string, std::uint32_t> set;
    std::vector<std::size_t> size;
};

// Similarity of tags, Eq. 2: equal tags of a set, different tags of a set, and a tag against a label that does not
// mutate (a frontier label or a phrase).
struct TagWeights {
    double same = 1.0, different = 0.0, bare_same = 1.0, bare_different = 0.0;

    TagWeights() = default;
    TagWeights(std::size_t size, const ReducedOptions& options) {
        const double s = static_cast<double>(size), mutation = options.mutation;
        same = 1.0 + (s - 1.0) * mutation * mutation;
        different = 2.0 * mutation + (s - 2.0) * mutation * mutation;
        bare_different = mutation;
        if (!options.normalize_mutation) return;
        bare_same = 1.0 / std::sqrt(same);
        bare_different = mutation / std::sqrt(same);
        different /= same;
        same = 1.0;
    }
};

// Heads of productions outside the rules, as numbers of the arena's productions.
struct OutsideHeads {
    std::span<const std::uint32_t> productions, heads;
};

class GrammarAnalysis {
  public:
    struct Label {
        bool known = false;
        bool phrasal = false;  // a left-hand side
        bool marked = false;
        Symbol symbol = kNone;         // in the rule set
        std::uint32_t set = kNone;     // of tags
        std::uint32_t family = kNone;  // the labels it may be mutated into, itself included
        std::uint32_t group = kNone;   // the labels it may be aligned with inside a production
    };
    struct Form {
        std::size_t labels;  // where they start in form_labels
        std::uint32_t length;
        std::uint32_t head;        // kNone: any child may be the head
        std::size_t slots;         // where the listed embeddings start: length numbers each
        std::uint32_t embeddings;  // how many are listed
        double weight;             // lambda 1 to the number of deleted children
    };
    struct Shape {  // of a production
        bool known = false;
        bool listed = true;  // all embeddings are listed
        std::uint32_t head = kNone;
        std::size_t first_form = 0, forms = 0;
        std::size_t children = 0, arity = 0;  // where labels and kept flags of the children start
    };

    // More embeddings of a production than this are not listed: kernels sum them up by dynamic programming.
    static constexpr double kListed = 128.0;

    GrammarAnalysis(const Arena& arena, const Bags& bags, const RuleSet& rules, const TagSets& sets,
                    const ReducedOptions& options, const OutsideHeads& outside, double listed = kListed)
        : arena_(arena),
          rules_(rules),
          sets_(sets),
          options_(options),
          listed_(listed),
          labels_(arena.symbols.size()),
          shapes_(arena.production_count()) {
        for (std::size_t k = 0; k < outside.productions.size(); ++k)
            shapes_[outside.productions[k]].head = outside.heads[k];
        FormFinder finder(rules);
        for (const std::size_t size : sets.size) weights_.emplace_back(size, options);
        for (const Node node : bags.numbers) {
            learn(arena.label(node));
            if (is_phrasal(node)) {
                for (const Node child : arena.children(node)) learn(arena.label(child));
                if (Shape& shape = shapes_[arena.production_of(node)]; !shape.known) compile(node, shape, finder);
            }
        }
    }
    GrammarAnalysis(const GrammarAnalysis&) = delete;
    GrammarAnalysis& operator=(const GrammarAnalysis&) = delete;

    const Arena& arena() const { return arena_; }
    const Label& label(Symbol symbol) const { return labels_[symbol]; }
    bool is_preterminal(Node node) const {
        const auto kids = arena_.children(node);
        return kids.size() == 1 && arena_.is_leaf(kids[0]) && !labels_[arena_.label(node)].phrasal;
    }
    bool is_phrasal(Node node) const { return !arena_.is_leaf(node) && !is_preterminal(node); }

    // Families and groups are numbered like labels, with sets of tags after them.
    std::size_t group_count() const { return arena_.symbols.size() + families_.size(); }
    bool is_own_label(std::uint32_t group) const { return group < arena_.symbols.size(); }
    std::string_view family_name(std::uint32_t group) const {
        return families_.text(static_cast<Symbol>(group - arena_.symbols.size()));
    }
    const TagWeights& tag_weights(std::uint32_t set) const {
        static const TagWeights alone;
        return set == kNone ? alone : weights_[set];
    }

    const Shape& shape(Production production) const { return shapes_[production]; }
    const Form& form(std::size_t number) const { return forms_[number]; }
    std::size_t form_count() const { return forms_.size(); }
    std::span<const std::uint32_t> form_labels(const Form& form) const {
        return {form_labels_.data() + form.labels, form.length};
    }
    const std::uint32_t* slots(const Form& form, std::size_t embedding) const {
        return slots_.data() + form.slots + embedding * form.length;
    }
    std::span<const std::uint32_t> child_labels(const Shape& shape) const {
        return {child_labels_.data() + shape.children, shape.arity};
    }
    // Per child: what deleting it costs, 0 if it has to stay.
    std::span<const double> deletion(const Shape& shape) const {
        return {deletion_.data() + shape.children, shape.arity};
    }

  private:
    void learn(Symbol symbol) {
        Label& label = labels_[symbol];
        if (label.known) return;
        label.known = true;
        const std::string_view text = arena_.symbols.text(symbol);
        const std::size_t length = rules_.unmarked(text);
        const std::string_view bare = text.substr(0, length);
        label.marked = length < text.size();
        label.symbol = rules_.find(bare);
        label.phrasal = rules_.is_phrasal(label.symbol);
        label.family = label.group = symbol;
        if (options_.mutation == 0.0) return;
        const auto found = sets_.set.find(std::string(bare));
        if (found == sets_.set.end()) return;
        label.set = found->second;
        if (label.phrasal) return;
        // A mark stays where it is when the tag mutates.
        const std::string name = std::to_string(label.set).append(1, ' ').append(text.substr(length));
        label.family = static_cast<std::uint32_t>(arena_.symbols.size() + families_.intern(name));
        if (options_.deep) label.group = label.family;
    }

    void compile(Node node, Shape& shape, FormFinder& finder) {
        shape.known = true;
        shape.first_form = forms_.size();
        shape.children = child_labels_.size();
        const auto kids = arena_.children(node);
        shape.arity = kids.size();
        pattern_.left = labels_[arena_.label(node)].symbol;
        pattern_.labels.clear();
        pattern_.symbols.clear();
        pattern_.kept.clear();
        for (const Node child : kids) {
            const Label& label = labels_[arena_.label(child)];
            pattern_.labels.push_back(arena_.label(child));
            pattern_.symbols.push_back(label.symbol);
            pattern_.kept.push_back(label.marked || !rules_.is_deletable(label.symbol));
        }
        if (const std::uint32_t head = rules_.head_of(pattern_.left, pattern_.symbols); head != kNone)
            shape.head = head;
        pattern_.head = shape.head;
        if (shape.head != kNone) pattern_.kept[shape.head] = 1;
        child_labels_.insert(child_labels_.end(), pattern_.labels.begin(), pattern_.labels.end());
        for (const std::uint8_t kept : pattern_.kept) deletion_.push_back(kept ? 0.0 : options_.deletion);
        add_whole();
        if (options_.deletion > 0.0) add_reduced(shape, finder);
        shape.forms = forms_.size() - shape.first_form;
    }

    // The production itself is always one of its forms.
    void add_whole() {
        forms_.push_back(
            {form_labels_.size(), static_cast<std::uint32_t>(pattern_.size()), kNone, slots_.size(), 1, 1.0});
        form_labels_.insert(form_labels_.end(), pattern_.labels.begin(), pattern_.labels.end());
        for (std::uint32_t i = 0; i < pattern_.size(); ++i) slots_.push_back(i);
    }

    void add_reduced(Shape& shape, FormFinder& finder) {
        double total = 1.0;
        finder.find(pattern_, [&](std::span<const std::uint32_t> labels, std::uint32_t head, Embeddings& embeddings) {
            Form form{form_labels_.size(),
                      static_cast<std::uint32_t>(labels.size()),
                      rules_.strict_head() ? head : kNone,
                      slots_.size(),
                      0,
                      std::pow(options_.deletion, static_cast<double>(pattern_.size() - labels.size()))};
            form_labels_.insert(form_labels_.end(), labels.begin(), labels.end());
            total += options_.canonical ? 1.0 : embeddings.count();
            if (!options_.canonical && total > listed_) shape.listed = false;
            if (shape.listed)
                embeddings.list([&](std::span<const std::uint32_t> slots) {
                    slots_.insert(slots_.end(), slots.begin(), slots.end());
                    ++form.embeddings;
                    return !options_.canonical;
                });
            forms_.push_back(form);
        });
    }

    const Arena& arena_;
    const RuleSet& rules_;
    const TagSets& sets_;
    ReducedOptions options_;
    double listed_;
    std::vector<Label> labels_;  // per label of the arena
    std::vector<Shape> shapes_;  // per production of the arena
    SymbolTable families_;
    std::vector<TagWeights> weights_;  // per set of tags
    std::vector<Form> forms_;
    std::vector<std::uint32_t> form_labels_, slots_, child_labels_;
    std::vector<double> deletion_;
    Pattern pattern_;
};

}  // namespace sapwood
