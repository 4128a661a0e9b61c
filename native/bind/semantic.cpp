// Bindings of the kernels that look into words. Beside trees they take the words in them as feature vectors.
#include "kernels/semantic.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>

#include "bind/arrays.hpp"
#include "bind/fragment_search.hpp"
#include "bind/interruptible.hpp"
#include "bind/roots.hpp"
#include "explain/heaviest_similar.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gram.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/model.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/smoothed.hpp"
#include "trees/arena.hpp"
#include "trees/bags.hpp"

namespace sapwood::bind {

namespace {

// A label without function tags, indices and marks: NP-SBJ-1 and NP=2 are NP, -LRB- is itself.
std::string_view bare(std::string_view label) {
    const std::size_t end = label.find_first_of("-=", 1);
    return label.size() < 2 || label[0] == '-' ? label : label.substr(0, end);
}

Vocabulary under_preterminals(const Arena& arena, const Bags& bags, const std::vector<std::string>& phrases) {
    const std::unordered_set<std::string> known(phrases.begin(), phrases.end());
    return Vocabulary::of_preterminals(
        arena, bags, [&](std::string_view label) { return known.contains(std::string(bare(label))); });
}

std::vector<std::string_view> words_of(const Vocabulary& vocabulary, const Arena& arena) {
    std::vector<std::string_view> result;
    for (const Symbol symbol : vocabulary.words()) result.push_back(arena.symbols.text(symbol));
    return result;
}

using Floats = InputMatrix<float>;

WordVectors vectors_of(const std::optional<Floats>& vectors, double weight, double sharpness) {
    if (!vectors) return {};
    const std::size_t width = vectors->shape(1);
    if (width == 0) throw nb::value_error("vectors have no columns");
    return WordVectors({vectors->data(), vectors->size()}, width, {weight, sharpness},
                       std::make_shared<Floats>(*vectors));
}

WordFeatures features_of(Offsets end_array, Numbers feature_array, Values weight_array,
                         const std::optional<Floats>& vectors, double weight, double sharpness) {
    const auto ends = view(end_array);
    const auto features = view(feature_array);
    if (features.size() != view(weight_array).size() || (ends.empty() ? 0 : ends.back()) != features.size())
        throw nb::value_error("word features do not add up");
    for (std::size_t k = 1; k < ends.size(); ++k)
        if (ends[k] < ends[k - 1]) throw nb::value_error("ends are out of order");
    if (vectors && vectors->shape(0) != ends.size()) throw nb::value_error("one vector per word is needed");
    return WordFeatures(ends, features, view(weight_array), vectors_of(vectors, weight, sharpness));
}

// Trees whose words are occurrences, and their roots; see kernels/occurrences.hpp.
auto occurrences(const Vocabulary& vocabulary, const Arena& arena, Numbers root_array, Offsets begin_array,
                 Input<bool> known, bool under_preterminals) {
    const auto roots = view(root_array);
    const auto begins = view(begin_array);
    check_roots(arena, roots);
    if (begins.size() != roots.size()) throw nb::value_error("one beginning per root is needed");
    auto made = std::make_unique<Arena>();
    const auto is_word = [&](Node parent, Node leaf) {
        if (!under_preterminals) return vocabulary.word(arena.label(leaf)) != kNone;
        return parent != kNone && vocabulary.word_under(arena, parent) != kNone;
    };
    auto result = number_occurrences(arena, roots, begins, view(known), *made, is_word);
    return std::make_tuple(std::move(made), to_numpy(std::move(result)));
}

void check(const Vocabulary& vocabulary, const WordFeatures& features) {
    if (vocabulary.words().size() != features.size()) throw nb::value_error("one feature vector per word is needed");
}

// The trees of one side, with their words.
struct Side {
    const Arena& arena;
    const Bags& bags;
    const Vocabulary& vocabulary;
    const WordFeatures& features;
};

bool is_brief(const Bags& rows, const Bags& columns) {
    return static_cast<double>(rows.numbers.size()) * static_cast<double>(columns.numbers.size()) < 1e6;
}

// make(arena, bags, vocabulary, features) gives the columns of a kernel.
template <class Maker>
void run_gram(const Maker& make, Side rows, Side columns, bool symmetric, Matrix out, std::size_t threads,
              nb::handle progress) {
    check(rows.vocabulary, rows.features);
    check(columns.vocabulary, columns.features);
    if (out.shape(0) != rows.bags.size() || out.shape(1) != columns.bags.size())
        throw nb::value_error("out has the wrong shape");
    run_interruptible(is_brief(rows.bags, columns.bags), progress, [&](Control& control) {
        const auto prepared = make(columns.arena, columns.bags, columns.vocabulary, columns.features);
        const WordMap map(rows.arena, columns.arena, rows.bags, rows.vocabulary, rows.features);
        gram(prepared, columns.arena, columns.bags, map, rows.bags, symmetric, out.data(), threads, control);
    });
}

template <class Maker>
void run_diagonal(const Maker& make, Side rows, const WordFeatures& right, Vector out, std::size_t threads) {
    check(rows.vocabulary, rows.features);
    check(rows.vocabulary, right);
    if (out.shape(0) != rows.bags.size()) throw nb::value_error("out has the wrong shape");
    run_interruptible(rows.bags.numbers.size() < 1000, nb::none(), [&](Control& control) {
        parallel_blocks(rows.bags.size(), 16, threads, control, [&] {
            return [&, number = std::vector<Node>(rows.arena.size()), match = make.pairs(rows, right)](
                       std::size_t begin, std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i) {
                    if (match(element_of(rows.bags, i), element_of(rows.bags, i), out.data()[i])) continue;
                    Arena alone;
                    const Bags one = isolate(rows.arena, rows.bags, i, number, alone);
                    const Vocabulary vocabulary = rows.vocabulary.isolated(alone);
                    const WordMap map(alone, alone, one, vocabulary, rows.features);
                    gram(make(alone, one, vocabulary, right), alone, one, map, one, true, out.data() + i, 1, control);
                }
            };
        });
    });
}

// The first half of the bags with the second.
template <class Maker>
void run_pairs(const Maker& make, Side rows, const WordFeatures& right, Vector out, std::size_t threads,
               nb::handle progress) {
    check(rows.vocabulary, rows.features);
    check(rows.vocabulary, right);
    if (2 * out.shape(0) != rows.bags.size()) throw nb::value_error("out has the wrong shape");
    run_interruptible(rows.bags.numbers.size() < 1000, progress, [&](Control& control) {
        elementwise(
            rows.arena, rows.bags, out.data(), threads, control, [&] { return make.pairs(rows, right); },
            [&](std::size_t first, std::size_t second, std::vector<Node>& number, double* value) {
                const IsolatedPair pair(rows.arena, rows.bags, first, second, number);
                const Vocabulary vocabulary = rows.vocabulary.isolated(pair.alone);
                const WordMap map(pair.alone, pair.alone, pair.row, vocabulary, rows.features);
                gram(make(pair.alone, pair.column, vocabulary, right), pair.alone, pair.column, map, pair.row, false,
                     value, 1, control);
            });
    });
}

// Fragments are searched in a model of its own, which keeps what every subtree weighs.
template <class Fragments>
void register_fragments(nb::module_& module, const char* name) {
    nb::class_<Fragments>(module, name)
        .def(
            "heaviest",
            [](const Fragments& model, Values combination, const Arena* arena, const Bags* element,
               const Vocabulary* vocabulary, const WordLinks* links, bool pairs, std::size_t capacity,
               std::size_t limit) {
                if ((element == nullptr) != (vocabulary == nullptr))
                    throw nb::value_error("an element needs its words");
                return search(model, combination, arena, element, links, pairs, capacity, limit,
                              [&](const HeaviestQuery& query, const Control& control) {
                                  return model.heaviest(query, vocabulary, control);
                              });
            },
            nb::arg("combination").noconvert(), nb::arg("arena").none(), nb::arg("element").none(),
            nb::arg("vocabulary").none(), nb::arg("links"), nb::arg("pairs"), nb::arg("capacity"), nb::arg("limit"));
}

template <class Maker>
nb::class_<Maker> register_word_kernel(nb::module_& module, const char* name, const char* model_name) {
    using Columns =
        decltype(std::declval<Maker>()(std::declval<const Arena&>(), std::declval<const Bags&>(),
                                       std::declval<const Vocabulary&>(), std::declval<const WordFeatures&>()));
    using KernelModel = Model<Columns>;
    nb::class_<KernelModel>(module, model_name)
        .def(
            "evaluate",
            [](const KernelModel& model, const Arena& arena, const Bags& rows, const Vocabulary& vocabulary,
               const WordFeatures& features, Matrix out, std::size_t threads, Progress progress) {
                check(vocabulary, features);
                if (out.shape(0) != rows.size() || out.shape(1) != model.outputs())
                    throw nb::value_error("out has the wrong shape");
                run_interruptible(rows.numbers.size() < 1000, progress, [&](Control& control) {
                    const WordMap map(arena, model.arena(), rows, vocabulary, features);
                    model.evaluate(map, rows, out.data(), threads, control);
                });
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("vocabulary"), nb::arg("features"), nb::arg("out").noconvert(),
            nb::arg("threads"), nb::arg("progress").none())
        .def_prop_ro("nbytes", &KernelModel::bytes);
    return nb::class_<Maker>(module, name)
        .def(
            "gram",
            [](const Maker& make, const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
               const WordFeatures& left, const WordFeatures& right, Matrix out, std::size_t threads,
               Progress progress) {
                run_gram(make, {arena, bags, vocabulary, left}, {arena, bags, vocabulary, right}, true, out, threads,
                         progress);
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("vocabulary"), nb::arg("left"), nb::arg("right"),
            nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "between",
            [](const Maker& make, const Arena& arena, const Bags& rows, const Vocabulary& row_words,
               const WordFeatures& left, const Arena& column_arena, const Bags& columns, const Vocabulary& column_words,
               const WordFeatures& right, Matrix out, std::size_t threads, Progress progress) {
                run_gram(make, {arena, rows, row_words, left}, {column_arena, columns, column_words, right}, false, out,
                         threads, progress);
            },
            nb::arg("arena"), nb::arg("rows"), nb::arg("row_words"), nb::arg("left"), nb::arg("column_arena"),
            nb::arg("columns"), nb::arg("column_words"), nb::arg("right"), nb::arg("out").noconvert(),
            nb::arg("threads"), nb::arg("progress").none())
        .def(
            "diagonal",
            [](const Maker& make, const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
               const WordFeatures& left, const WordFeatures& right, Vector out,
               std::size_t threads) { run_diagonal(make, {arena, bags, vocabulary, left}, right, out, threads); },
            nb::arg("arena"), nb::arg("bags"), nb::arg("vocabulary"), nb::arg("left"), nb::arg("right"),
            nb::arg("out").noconvert(), nb::arg("threads"))
        .def(
            "pairs",
            [](const Maker& make, const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
               const WordFeatures& left, const WordFeatures& right, Vector out, std::size_t threads,
               Progress progress) { run_pairs(make, {arena, bags, vocabulary, left}, right, out, threads, progress); },
            nb::arg("arena"), nb::arg("bags"), nb::arg("vocabulary"), nb::arg("left"), nb::arg("right"),
            nb::arg("out").noconvert(), nb::arg("threads"), nb::arg("progress").none())
        .def(
            "model",
            [](const Maker& make, const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
               const WordFeatures& right, ConstMatrix weights) {
                check(vocabulary, right);
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                nb::gil_scoped_release release;
                return KernelModel(make(arena, bags, vocabulary, right), arena, bags, weights.data(), weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("vocabulary"), nb::arg("right"), nb::arg("weights").noconvert())
        .def(
            "fragments",
            [](const Maker& make, const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
               ConstMatrix weights) {
                if (weights.shape(0) != bags.size()) throw nb::value_error("weights have the wrong shape");
                nb::gil_scoped_release release;
                return std::make_unique<typename Maker::Fragments>(arena, bags, vocabulary, make.options,
                                                                   weights.data(), weights.shape(1));
            },
            nb::arg("arena"), nb::arg("bags"), nb::arg("vocabulary"), nb::arg("weights").noconvert(),
            nb::keep_alive<0, 2>());
}

// Makers of columns: what is left of a kernel once its parameters are known.
struct SemanticMaker {
    using Fragments = SemanticFragments;
    SemanticOptions options;
    auto operator()(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                    const WordFeatures& features) const {
        return SemanticColumns(arena, bags, vocabulary, features, options);
    }
    SemanticPairs pairs(const Side& side, const WordFeatures& right) const {
        return SemanticPairs(side.arena, side.vocabulary, side.features, right, options);
    }
};

struct SmoothedMaker {
    using Fragments = SmoothedFragments;
    SmoothedOptions options;
    auto operator()(const Arena& arena, const Bags& bags, const Vocabulary& vocabulary,
                    const WordFeatures& features) const {
        return SmoothedColumns(arena, bags, vocabulary, features, options);
    }
    NoPairs pairs(const Side&, const WordFeatures&) const { return {}; }
};

Vocabulary only(const Vocabulary& vocabulary, Input<bool> marked) {
    if (view(marked).size() != vocabulary.words().size()) throw nb::value_error("one mark per word is needed");
    return vocabulary.only(view(marked));
}

Vocabulary in_kinds(const Vocabulary& vocabulary, Numbers kinds) {
    if (view(kinds).size() != vocabulary.words().size()) throw nb::value_error("one kind per word is needed");
    return vocabulary.in_kinds(view(kinds));
}

}  // namespace

void register_semantic(nb::module_& parent) {
    nb::module_ module = parent.def_submodule("semantic", "Tree kernels that look into words.");
    nb::class_<Vocabulary>(module, "Vocabulary")
        .def_static("under_preterminals", &under_preterminals, nb::arg("arena"), nb::arg("bags"), nb::arg("phrases"))
        .def_static("of_labels", &Vocabulary::of_labels, nb::arg("arena"), nb::arg("bags"), nb::arg("leaves_only"))
        .def("only", &only, nb::arg("marked").noconvert())
        .def("in_kinds", &in_kinds, nb::arg("kinds").noconvert())
        .def("occurrences", &occurrences, nb::arg("arena"), nb::arg("roots").noconvert(), nb::arg("begins").noconvert(),
             nb::arg("known").noconvert(), nb::arg("under_preterminals"))
        .def("words", &words_of, nb::arg("arena"))
        .def("labels", [](const Vocabulary& vocabulary) { return to_numpy(std::vector<Symbol>(vocabulary.words())); })
        .def("__len__", [](const Vocabulary& vocabulary) { return vocabulary.words().size(); });
    nb::class_<WordFeatures>(module, "WordFeatures")
        .def(
            "__init__",
            [](WordFeatures* self, Offsets ends, Numbers features, Values weights, std::optional<Floats> vectors,
               double weight, double sharpness) {
                new (self) WordFeatures(features_of(ends, features, weights, vectors, weight, sharpness));
            },
            nb::arg("ends").noconvert(), nb::arg("features").noconvert(), nb::arg("weights").noconvert(),
            nb::arg("vectors").noconvert() = nb::none(), nb::arg("weight") = 1.0, nb::arg("sharpness") = 0.0)
        .def("__len__", &WordFeatures::size);
    register_fragments<SemanticFragments>(module, "SemanticFragments");
    register_fragments<SmoothedFragments>(module, "SmoothedFragments");
    register_word_kernel<SemanticMaker>(module, "Semantic", "SemanticModel")
        .def(
            "__init__",
            [](SemanticMaker* self, double decay, double leaf_weight) {
                new (self) SemanticMaker{{decay, leaf_weight}};
            },
            nb::arg("decay"), nb::arg("leaf_weight"));
    register_word_kernel<SmoothedMaker>(module, "Smoothed", "SmoothedModel")
        .def(
            "__init__",
            [](SmoothedMaker* self, double decay, double depth_decay, std::size_t max_subsequence,
               double terminal_factor, bool leaves_only) {
                new (self) SmoothedMaker{{{decay, depth_decay, max_subsequence, true, terminal_factor}, leaves_only}};
            },
            nb::arg("decay"), nb::arg("depth_decay"), nb::arg("max_subsequence"), nb::arg("terminal_factor"),
            nb::arg("leaves_only"));
}

}  // namespace sapwood::bind
