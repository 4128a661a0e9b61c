// Bindings of grammars and the grammar-driven kernel.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/fragment_search.hpp"
#include "bind/interruptible.hpp"
#include "explain/heaviest_similar.hpp"
#include "kernels/gram.hpp"
#include "kernels/grammar_driven.hpp"
#include "kernels/model.hpp"
#include "kernels/production_forms.hpp"
#include "kernels/rule_set.hpp"
#include "learn/kernel_rows.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

namespace {

using Words = std::vector<std::string>;

std::shared_ptr<RuleSet> make_rules(const Words& labels, Numbers left_array, Offsets end_array, Numbers right_array,
                                    Numbers head_array, const Words& phrasal, const Words& marks,
                                    const std::optional<Words>& deletable, std::optional<std::size_t> max_deletions,
                                    std::size_t min_children, bool strict_head) {
    auto rules = std::make_shared<RuleSet>(marks, max_deletions.value_or(kNone), min_children, strict_head);
    std::vector<Symbol> symbols;
    for (const std::string& label : labels) symbols.push_back(rules->intern(label));
    const auto left = view(left_array), right = view(right_array), heads = view(head_array);
    const auto ends = view(end_array);
    if (left.size() != ends.size() || left.size() != heads.size()) throw nb::value_error("rules differ in number");
    std::vector<Symbol> side;
    std::size_t begin = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
        if (ends[k] <= begin || ends[k] > right.size()) throw nb::value_error("right-hand sides are out of order");
        side.clear();
        for (std::size_t i = begin; i < ends[k]; ++i) {
            if (right[i] >= symbols.size()) throw nb::value_error("a label number is out of range");
            side.push_back(symbols[right[i]]);
        }
        if (left[k] >= symbols.size()) throw nb::value_error("a label number is out of range");
        if (heads[k] >= side.size()) throw nb::value_error("a head is out of range");
        rules->add(symbols[left[k]], side, heads[k]);
        begin = ends[k];
    }
    for (const std::string& label : phrasal) rules->add_phrasal(rules->intern(label));
    if (deletable) {
        std::vector<Symbol> allowed;
        for (const std::string& label : *deletable) allowed.push_back(rules->intern(label));
        rules->only_delete(allowed);
    }
    return rules;
}

using Labels = nb::typed<nb::tuple, nb::str, nb::ellipsis>;

// The forms that are left of a production, each with the number of ways to get there.
nb::typed<nb::list, nb::typed<nb::tuple, Labels, double>> reductions(const RuleSet& rules, const std::string& left,
                                                                     const Words& right, std::uint32_t head) {
    Pattern pattern;
    const auto find = [&](const std::string& label) { return rules.find(label.substr(0, rules.unmarked(label))); };
    pattern.left = find(left);
    SymbolTable names;
    for (const std::string& label : right) {
        pattern.labels.push_back(names.intern(label));
        pattern.symbols.push_back(find(label));
        pattern.kept.push_back(rules.unmarked(label) < label.size() || !rules.is_deletable(pattern.symbols.back()));
    }
    if (head >= right.size()) throw nb::value_error("a head is out of range");
    pattern.head = head;
    pattern.kept[head] = 1;
    nb::list result;
    FormFinder finder(rules);
    finder.find(pattern, [&](std::span<const std::uint32_t> labels, std::uint32_t, Embeddings& embeddings) {
        nb::list form;
        for (const std::uint32_t label : labels) {
            const std::string_view text = names.text(label);
            form.append(nb::str(text.data(), text.size()));
        }
        result.append(nb::make_tuple(nb::tuple(form), embeddings.count()));
    });
    return result;
}

// The productions in use that rules might reduce but do not contain, without marks: their numbers and (left, right).
auto outside(const RuleSet& rules, const Arena& arena, const Bags& bags) {
    std::vector<std::uint32_t> numbers;
    nb::typed<nb::list, nb::typed<nb::tuple, nb::str, Labels>> productions{nb::list()};
    std::vector<bool> seen(arena.production_count(), false);
    std::vector<Symbol> symbols(arena.symbols.size(), kNone), right;
    std::vector<bool> asked(arena.symbols.size(), false);
    const auto bare = [&](Symbol label) {
        const std::string_view text = arena.symbols.text(label);
        return text.substr(0, rules.unmarked(text));
    };
    const auto symbol_of = [&](Symbol label) {
        if (!asked[label]) {
            asked[label] = true;
            symbols[label] = rules.find(bare(label));
        }
        return symbols[label];
    };
    for (const Node node : bags.numbers) {
        const auto kids = arena.children(node);
        if (kids.size() <= rules.min_children() || seen[arena.production_of(node)]) continue;
        seen[arena.production_of(node)] = true;
        const Symbol left = symbol_of(arena.label(node));
        if (rules.root(left) == kNone) continue;
        right.clear();
        for (const Node child : kids) right.push_back(symbol_of(arena.label(child)));
        if (rules.head_of(left, right) != kNone) continue;
        numbers.push_back(arena.production_of(node));
        nb::list labels;
        for (const Node child : kids) {
            const std::string_view text = bare(arena.label(child));
            labels.append(nb::str(text.data(), text.size()));
        }
        const std::string_view text = bare(arena.label(node));
        productions.append(nb::make_tuple(nb::str(text.data(), text.size()), nb::tuple(labels)));
    }
    return std::make_tuple(to_numpy(std::move(numbers)), productions);
}

// The words under pre-terminals in use: their label numbers and texts.
auto words_of(const RuleSet& rules, const Arena& arena, const Bags& bags) {
    std::vector<std::uint32_t> numbers;
    std::vector<std::string_view> texts;
    std::vector<bool> seen(arena.symbols.size(), false);
    for (const Node node : bags.numbers) {
        const auto kids = arena.children(node);
        if (kids.size() != 1 || !arena.is_leaf(kids[0]) || seen[arena.label(kids[0])]) continue;
        const std::string_view label = arena.symbols.text(arena.label(node));
        if (rules.is_phrasal(rules.find(label.substr(0, rules.unmarked(label))))) continue;
        seen[arena.label(kids[0])] = true;
        numbers.push_back(arena.label(kids[0]));
        texts.push_back(arena.symbols.text(arena.label(kids[0])));
    }
    return std::make_tuple(to_numpy(std::move(numbers)), texts);
}

// What is known of the trees on one side beside their arena and bags: heads of productions outside the rules.
struct Side {
    Numbers productions, heads;

    OutsideHeads checked(const Arena& arena) const {
        const OutsideHeads result{view(productions), view(heads)};
        if (result.productions.size() != result.heads.size()) throw nb::value_error("heads differ in number");
        for (std::size_t k = 0; k < result.productions.size(); ++k) {
            if (result.productions[k] >= arena.production_count())
                throw nb::value_error("a production is out of range");
            const std::size_t arity = arena.children(arena.sample(result.productions[k])).size();
            if (result.heads[k] != kNone && result.heads[k] >= arity) throw nb::value_error("a head is out of range");
        }
        return result;
    }
};

std::shared_ptr<WordLinks> make_links(Numbers row_array, Offsets end_array, Numbers word_array, Values value_array) {
    auto links = std::make_shared<WordLinks>();
    const auto rows = view(row_array), words = view(word_array);
    const auto ends = view(end_array);
    const auto values = view(value_array);
    if (rows.size() != ends.size() || words.size() != values.size()) throw nb::value_error("links differ in number");
    std::size_t begin = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (ends[k] < begin || ends[k] > words.size()) throw nb::value_error("links are out of order");
        links->rows[rows[k]] = {begin, ends[k]};
        begin = ends[k];
    }
    links->words.assign(words.begin(), words.end());
    links->values.assign(values.begin(), values.end());
    return links;
}

// Nodes and children of the distinct subtrees: what the work on a side grows with.
double extent(const Arena& arena, const Bags& bags) {
    double total = 0.0;
    for (const Node node : bags.numbers) total += 1.0 + static_cast<double>(arena.children(node).size());
    return total;
}

void run_gram(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& rows, const Side& row_side,
              const Arena* column_arena, const Bags* columns, const Side* column_side, const WordLinks* links,
              Matrix out, std::size_t threads, Progress progress) {
    const bool symmetric = columns == nullptr;
    const Arena& store = symmetric ? arena : *column_arena;
    const Bags& others = symmetric ? rows : *columns;
    if (out.shape(0) != rows.size() || out.shape(1) != others.size()) throw nb::value_error("out has the wrong shape");
    const OutsideHeads row_heads = row_side.checked(arena);
    const OutsideHeads column_heads = symmetric ? row_heads : column_side->checked(store);
    // Small enough to finish before Ctrl-C could be pressed.
    const bool brief = extent(arena, rows) * extent(store, others) < 1e5;
    run_interruptible(brief, progress, [&](Control& control) {
        const auto analysis = kernel.read(store, others, column_heads);
        auto context = std::make_shared<RowContext>();
        context->kernel = &kernel;
        context->heads = row_heads;
        context->links = links;
        if (symmetric) context->analysis = analysis;
        const GrammarDrivenColumns prepared(*analysis, others, kernel.options, context);
        const ArenaMap map(arena, store, rows);
        gram(prepared, store, others, map, rows, symmetric, out.data(), threads, control);
    });
}

// A kernel model; rows are evaluated one call at a time, because their context passes through the columns.
class GrammarDrivenModel {
  public:
    GrammarDrivenModel(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags,
                       const OutsideHeads& heads, const double* weights, std::size_t outputs)
        : kernel_(kernel),
          context_(std::make_shared<RowContext>()),
          model_(GrammarDrivenColumns(*kernel.read(arena, bags, heads), bags, kernel.options, context_), arena, bags,
                 weights, outputs) {}

    std::size_t outputs() const { return model_.outputs(); }
    std::size_t bytes() const { return model_.bytes(); }

    void evaluate(const Arena& arena, const Bags& rows, const OutsideHeads& heads, const WordLinks* links, double* out,
                  std::size_t threads, Control& control) {
        const std::lock_guard<std::mutex> hold(lock_);
        *context_ = {&kernel_, heads, links, nullptr};
        model_.evaluate(arena, rows, out, threads, control);
    }

  private:
    GrammarDrivenKernel kernel_;
    std::shared_ptr<RowContext> context_;
    Model<GrammarDrivenColumns> model_;
    std::mutex lock_;
};

std::shared_ptr<RowSource<float>> make_rows(const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& rows,
                                            const Side& row_side, const Arena& column_arena, const Bags& columns,
                                            const Side& column_side, const WordLinks* links, Values factors,
                                            std::size_t cache_bytes) {
    if (rows.size() != columns.size() || factors.shape(0) != rows.size())
        throw nb::value_error("rows, columns and factors differ in number");
    auto context = std::make_shared<RowContext>();
    context->kernel = &kernel;
    context->heads = row_side.checked(arena);
    context->links = links;
    const OutsideHeads column_heads = column_side.checked(column_arena);
    const auto given = view(factors);
    std::vector<double> copied(given.begin(), given.end());
    nb::gil_scoped_release release;
    GrammarDrivenColumns prepared(*kernel.read(column_arena, columns, column_heads), columns, kernel.options, context);
    return std::make_shared<KernelRows<GrammarDrivenColumns>>(std::move(prepared), arena, rows, column_arena, columns,
                                                              std::move(copied), cache_bytes);
}

GrammarDrivenKernel make_kernel(std::shared_ptr<RuleSet> rules, const std::vector<Words>& sets, double decay,
                                double deletion, double mutation, const std::string& lexical, bool deep, bool canonical,
                                bool normalize_mutation) {
    GrammarDrivenKernel kernel{
        std::move(rules), {}, {decay, deletion, mutation, Lexical::similar, deep, canonical, normalize_mutation}};
    if (lexical == "ignore") kernel.options.lexical = Lexical::ignore;
    if (lexical == "exact") kernel.options.lexical = Lexical::exact;
    for (std::size_t k = 0; k < sets.size(); ++k) {
        kernel.sets.size.push_back(sets[k].size());
        for (const std::string& label : sets[k]) kernel.sets.set[label] = static_cast<std::uint32_t>(k);
    }
    return kernel;
}

}  // namespace

void register_grammar(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("grammar", "Rules, their reductions, and the grammar-driven kernel.");
    nb::class_<RuleSet>(module, "Rules")
        .def(nb::new_(&make_rules), nb::arg("labels"), nb::arg("left").noconvert(), nb::arg("ends").noconvert(),
             nb::arg("right").noconvert(), nb::arg("heads").noconvert(), nb::arg("phrasal"), nb::arg("marks"),
             nb::arg("deletable").none(), nb::arg("max_deletions").none(), nb::arg("min_children"),
             nb::arg("strict_head"))
        .def("reductions", &reductions, nb::arg("left"), nb::arg("right"), nb::arg("head"))
        .def("outside", &outside, nb::arg("arena"), nb::arg("bags"))
        .def("words", &words_of, nb::arg("arena"), nb::arg("bags"));
    nb::class_<Side>(module, "Side")
        .def(
            "__init__", [](Side* self, Numbers productions, Numbers heads) { new (self) Side{productions, heads}; },
            nb::arg("productions").noconvert(), nb::arg("heads").noconvert());
    nb::class_<WordLinks>(module, "WordLinks")
        .def(nb::new_(&make_links), nb::arg("rows").noconvert(), nb::arg("ends").noconvert(),
             nb::arg("words").noconvert(), nb::arg("values").noconvert());
    nb::class_<GrammarDrivenModel>(module, "GrammarDrivenModel")
        .def(
            "evaluate",
            [](GrammarDrivenModel& model, const Arena& arena, const Bags& rows, const Side& side,
               const WordLinks* links, Matrix out, std::size_t threads, Progress progress) {
                if (out.shape(0) != rows.size() || out.shape(1) != model.outputs())
                    throw nb::value_error("out has the wrong shape");
                const OutsideHeads heads = side.checked(arena);
                run_interruptible(extent(arena, rows) < 500, progress, [&](Control& control) {
                    model.evaluate(arena, rows, heads, links, out.data(), threads, control);
                });
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("side"), nb::arg("links").none(), nb::arg("out").noconvert(),
            nb::arg("threads"), nb::arg("progress").none())
        .def_prop_ro("nbytes", &GrammarDrivenModel::bytes);
    nb::class_<GrammarFragments>(module, "GrammarFragments")
        .def(
            "heaviest",
            [](const GrammarFragments& model, Values combination, const Arena* arena, const Bags* element,
               const Side* side, const WordLinks* links, bool pairs, std::size_t capacity, std::size_t limit) {
                if ((element == nullptr) != (side == nullptr)) throw nb::value_error("an element needs its heads");
                if (model.compares_words() != (links != nullptr)) throw nb::value_error("links and words do not agree");
                const OutsideHeads heads = side ? side->checked(*arena) : OutsideHeads{};
                return search(model, combination, arena, element, links, pairs, capacity, limit,
                              [&](const HeaviestQuery& query, const Control& control) {
                                  return model.heaviest(query, heads, control);
                              });
            },
            nb::arg("combination").noconvert(), nb::arg("arena").none(), nb::arg("element").none(),
            nb::arg("side").none(), nb::arg("links").none(), nb::arg("pairs"), nb::arg("capacity"), nb::arg("limit"));
    nb::class_<GrammarDrivenKernel>(module, "GrammarDriven")
        .def(
            "__init__",
            [](GrammarDrivenKernel* self, std::shared_ptr<RuleSet> rules, const std::vector<Words>& sets, double decay,
               double deletion, double mutation, const std::string& lexical, bool deep, bool canonical,
               bool normalize_mutation) {
                new (self) GrammarDrivenKernel(make_kernel(std::move(rules), sets, decay, deletion, mutation, lexical,
                                                           deep, canonical, normalize_mutation));
            },
            nb::arg("rules"), nb::arg("sets"), nb::arg("decay"), nb::arg("deletion"), nb::arg("mutation"),
            nb::arg("lexical"), nb::arg("deep"), nb::arg("canonical"), nb::arg("normalize_mutation"))
        .def("gram", &run_gram, nb::arg("arena"), nb::arg("rows"), nb::arg("row_side"), nb::arg("column_arena").none(),
             nb::arg("columns").none(), nb::arg("column_side").none(), nb::arg("links").none(),
             nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "diagonal",
            [](const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, const Side& side,
               const WordLinks* links, Vector out, std::size_t threads) {
                if (out.shape(0) != bags.size()) throw nb::value_error("out has the wrong shape");
                const OutsideHeads heads = side.checked(arena);
                run_interruptible(extent(arena, bags) < 500, nb::none(), [&](Control& control) {
                    grammar_driven_pairs(kernel, arena, bags, 0, heads, links, out.data(), threads, control);
                });
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("side"), nb::arg("links").none(), nb::arg("out").noconvert(),
            nb::arg("threads"))
        .def(
            "pairs",
            [](const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, const Side& side,
               const WordLinks* links, Vector out, std::size_t threads, Progress progress) {
                if (2 * out.shape(0) != bags.size()) throw nb::value_error("out has the wrong shape");
                const OutsideHeads heads = side.checked(arena);
                run_interruptible(extent(arena, bags) < 500, progress, [&](Control& control) {
                    grammar_driven_pairs(kernel, arena, bags, out.shape(0), heads, links, out.data(), threads, control);
                });
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("side"), nb::arg("links").none(), nb::arg("out").noconvert(),
            nb::arg("threads"), nb::arg("progress").none())
        .def(
            "model",
            [](const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, const Side& side,
               ConstMatrix weights) {
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                const OutsideHeads heads = side.checked(arena);
                nb::gil_scoped_release release;
                return std::make_unique<GrammarDrivenModel>(kernel, arena, bags, heads, weights.data(),
                                                            weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("side"), nb::arg("weights").noconvert())
        .def(
            "fragments",
            [](const GrammarDrivenKernel& kernel, const Arena& arena, const Bags& bags, const Side& side,
               ConstMatrix weights) {
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                const OutsideHeads heads = side.checked(arena);
                nb::gil_scoped_release release;
                return std::make_unique<GrammarFragments>(kernel, arena, bags, heads, weights.data(), weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("side"), nb::arg("weights").noconvert(), nb::keep_alive<0, 2>())
        .def("rows", &make_rows, nb::arg("arena"), nb::arg("rows"), nb::arg("row_side"), nb::arg("column_arena"),
             nb::arg("columns"), nb::arg("column_side"), nb::arg("links").none(), nb::arg("factors").noconvert(),
             nb::arg("cache_bytes"), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>(),
             nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(), nb::keep_alive<0, 7>(),
             nb::keep_alive<0, 8>());
}

}  // namespace sapwood::bind
