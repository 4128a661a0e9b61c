// Bindings of the span parser: its network, and what the chart of span scores can say.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <random>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "parse/span_chart.hpp"
#include "parse/span_network.hpp"
#include "trees/arena.hpp"

namespace sapwood::bind {

using namespace sapwood::parse;

namespace {

using Floats = Input<float>;
using FloatMatrix = InputMatrix<float>;

Affine affine(const FloatMatrix& weights, const Floats& bias) {
    return Affine(std::span(weights.data(), weights.size()), view(bias), weights.shape(0), weights.shape(1));
}

std::vector<float> copy(const Floats& values) { return {values.data(), values.data() + values.shape(0)}; }

void make_network(SpanNetwork* self, FloatMatrix dense, Floats dense_bias, std::vector<FloatMatrix> inputs,
                  std::vector<Floats> biases, std::vector<FloatMatrix> recurrent, Floats first, Floats last,
                  FloatMatrix span_hidden, Floats span_scale, Floats span_shift, FloatMatrix span_output,
                  Floats span_bias, FloatMatrix tag_hidden, Floats tag_hidden_bias, Floats tag_scale, Floats tag_shift,
                  FloatMatrix tag_output, Floats tag_bias) {
    if (inputs.size() != biases.size() || inputs.size() != recurrent.size())
        throw std::invalid_argument("the layers of the network differ in number");
    std::vector<LstmLayer> layers;
    for (std::size_t at = 0; at < inputs.size(); ++at)
        layers.push_back({affine(inputs[at], biases[at]), Affine(std::span(recurrent[at].data(), recurrent[at].size()),
                                                                 {}, recurrent[at].shape(0), recurrent[at].shape(1))});
    Head spans{
        Affine(std::span(span_hidden.data(), span_hidden.size()), {}, span_hidden.shape(0), span_hidden.shape(1)),
        copy(span_scale), copy(span_shift), affine(span_output, span_bias)};
    Head tags{affine(tag_hidden, tag_hidden_bias), copy(tag_scale), copy(tag_shift), affine(tag_output, tag_bias)};
    new (self) SpanNetwork(affine(dense, dense_bias), std::move(layers), copy(first), copy(last), std::move(spans),
                           std::move(tags));
}

// Numbers of words of sentences, with where the words and the spans of each begin.
class Lengths {
  public:
    explicit Lengths(Offsets lengths) : lengths_(copy_of(lengths)) {
        for (const std::size_t words : lengths_) {
            if (words >= 1u << 16) throw std::invalid_argument("a sentence is too long for a chart");
            word_begin_.push_back(words_), span_begin_.push_back(spans_);
            words_ += words;
            spans_ += span_count(words);
        }
    }
    std::size_t size() const { return lengths_.size(); }
    std::size_t words() const { return words_; }
    std::size_t spans() const { return spans_; }
    std::size_t operator[](std::size_t at) const { return lengths_[at]; }
    std::size_t word_begin(std::size_t at) const { return word_begin_[at]; }
    std::size_t span_begin(std::size_t at) const { return span_begin_[at]; }
    // Work grows with the cube of the length.
    bool brief(double most) const {
        double work = 0.0;
        for (const std::size_t words : lengths_) work += static_cast<double>(words * words * words);
        return work < most;
    }

  private:
    static std::vector<std::size_t> copy_of(Offsets lengths) {
        return {lengths.data(), lengths.data() + lengths.shape(0)};
    }
    std::vector<std::size_t> lengths_, word_begin_, span_begin_;
    std::size_t words_ = 0, spans_ = 0;
};

// Sentences that are scored side by side, so that weights are read once for all of them; and their words, for memory.
constexpr std::size_t kTogether = 24, kWordsTogether = 1500;

auto score(const SpanNetwork& network, Offsets lengths, FloatMatrix dense, FloatMatrix plain, std::size_t threads,
           Progress progress) {
    const Lengths sentences(lengths);
    if (dense.shape(0) != sentences.words() || plain.shape(0) != sentences.words() ||
        dense.shape(1) != network.dense_width() || plain.shape(1) != network.plain_width())
        throw std::invalid_argument("the vectors of words do not fit the sentences or the network");
    std::vector<float> spans(sentences.spans() * network.labels()), tags(sentences.words() * network.tags());
    std::vector<std::size_t> order(sentences.size());
    for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sentences[a] > sentences[b]; });
    std::vector<std::size_t> bounds{0};
    for (std::size_t k = 0, words = 0; k < order.size(); ++k) {
        words += sentences[order[k]];
        if (k + 1 == order.size() || k + 1 - bounds.back() == kTogether || words >= kWordsTogether) {
            bounds.push_back(k + 1);
            words = 0;
        }
    }
    run_interruptible(sentences.words() < 20, progress, [&](Control& control) {
        parallel_blocks(bounds.size() - 1, 1, threads, control, [&] {
            return [&](std::size_t block, std::size_t) {
                std::vector<SpanNetwork::Input> inputs;
                for (std::size_t k = bounds[block]; k < bounds[block + 1]; ++k) {
                    const std::size_t at = order[k], word = sentences.word_begin(at);
                    inputs.push_back({sentences[at], dense.data() + word * network.dense_width(),
                                      plain.data() + word * network.plain_width(),
                                      spans.data() + sentences.span_begin(at) * network.labels(),
                                      tags.data() + word * network.tags()});
                }
                network.score(inputs, control);
            };
        });
    });
    return std::make_tuple(to_numpy(std::move(spans)), to_numpy(std::move(tags)));
}

// The scores of all sentences, one after the other, as score() gives them.
class Scores {
  public:
    Scores(Offsets lengths, Floats values, std::size_t labels) : sentences(lengths), values_(values), labels_(labels) {
        if (labels == 0 || values.shape(0) != sentences.spans() * labels)
            throw std::invalid_argument("the scores do not fit the sentences");
    }
    SpanScores operator[](std::size_t at) const {
        return {sentences[at], labels_, values_.data() + sentences.span_begin(at) * labels_};
    }
    Lengths sentences;

  private:
    Floats values_;
    std::size_t labels_;
};

// Runs work(at, control) for every sentence.
template <class Work>
void for_each_sentence(const Lengths& sentences, std::size_t threads, nb::handle progress, Work work) {
    run_interruptible(sentences.brief(20000.0), progress, [&](Control& control) {
        parallel_blocks(sentences.size(), 1, threads, control, [&] {
            return [&](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin; at < end; ++at) work(at, control);
            };
        });
    });
}

// Trees as rows of numbers: where the trees of each sentence end, where the spans of each tree end, the spans, weights.
auto packed(const std::vector<std::vector<SpanTree>>& found) {
    std::vector<std::uint64_t> sentence_ends, tree_ends;
    std::vector<std::uint32_t> spans;
    std::vector<double> weights;
    for (const auto& trees : found) {
        for (const SpanTree& tree : trees) {
            for (const LabeledSpan& span : tree.spans) spans.insert(spans.end(), {span.begin, span.end, span.label});
            tree_ends.push_back(spans.size() / 3);
            weights.push_back(tree.weight);
        }
        sentence_ends.push_back(tree_ends.size());
    }
    return std::make_tuple(to_numpy(std::move(sentence_ends)), to_numpy(std::move(tree_ends)),
                           to_numpy(std::move(spans)), to_numpy(std::move(weights)));
}

auto best_trees(Offsets lengths, Floats values, std::size_t labels, std::size_t count, std::size_t threads,
                Progress progress) {
    const Scores scores(lengths, values, labels);
    std::vector<std::vector<SpanTree>> found(scores.sentences.size());
    for_each_sentence(scores.sentences, threads, progress, [&](std::size_t at, const Control& control) {
        found[at] = BestTrees(scores[at], count, control).trees();
    });
    return packed(found);
}

auto sample_trees(Offsets lengths, Floats values, std::size_t labels, std::size_t count, std::uint64_t seed,
                  std::size_t threads, Progress progress) {
    const Scores scores(lengths, values, labels);
    std::vector<std::vector<SpanTree>> found(scores.sentences.size());
    for_each_sentence(scores.sentences, threads, progress, [&](std::size_t at, const Control& control) {
        const std::vector<double> weights = summed_labels(scores[at]);
        const InsideOutside sums(weights, scores.sentences[at], control);
        TreeSampler sampler(scores[at], sums);
        // A stream of its own for every sentence, so that samples do not depend on what stands beside it.
        std::mt19937_64 random(seed + at * 0x9E3779B97F4A7C15u);
        for (std::size_t k = 0; k < count; ++k)
            found[at].push_back(sampler.draw([&] { return static_cast<double>(random() >> 11) * 0x1p-53; }));
    });
    return packed(found);
}

// Totals of sentences and probabilities of labels over spans; with words that may have no label, that share is left.
auto marginals(Offsets lengths, Floats values, std::size_t labels, std::size_t threads, Progress progress) {
    const Scores scores(lengths, values, labels);
    std::vector<double> totals(scores.sentences.size());
    std::vector<float> shares(scores.sentences.spans() * labels);
    for_each_sentence(scores.sentences, threads, progress, [&](std::size_t at, const Control& control) {
        const std::vector<double> weights = summed_labels(scores[at]);
        InsideOutside sums(weights, scores.sentences[at], control);
        totals[at] = sums.total();
        const std::vector<double> spans = sums.marginals(control);
        const float* from = scores[at].values;
        float* to = shares.data() + scores.sentences.span_begin(at) * labels;
        for (std::size_t span = 0; span < spans.size(); ++span)
            for (std::size_t label = 0; label < labels; ++label, ++from, ++to)
                *to = static_cast<float>(spans[span] * std::exp(*from - weights[span]));
    });
    return std::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(shares)));
}

// Trees with the fewest expected errors, from the probabilities of labels over spans; `names` are those of each label.
auto minimum_risk_trees(Offsets lengths, Floats values, std::vector<std::vector<std::uint32_t>> names,
                        std::size_t threads) {
    const Scores shares(lengths, values, names.size());
    std::vector<std::vector<SpanTree>> found(shares.sentences.size());
    for_each_sentence(shares.sentences, threads, nb::none(), [&](std::size_t at, const Control& control) {
        const std::vector<float> gains = expected_gains(shares[at], names);
        found[at] = BestTrees({shares.sentences[at], names.size(), gains.data()}, 1, control).trees();
    });
    return packed(found);
}

// The logarithms of the sums over all trees, and the share of trees in which each span is a node.
auto inside_outside(Offsets lengths, Values weights, std::size_t threads) {
    const Lengths sentences(lengths);
    if (weights.shape(0) != sentences.spans()) throw std::invalid_argument("the weights do not fit the sentences");
    std::vector<double> totals(sentences.size()), shares(sentences.spans());
    for_each_sentence(sentences, threads, nb::none(), [&](std::size_t at, const Control& control) {
        const std::size_t begin = sentences.span_begin(at), count = span_count(sentences[at]);
        InsideOutside sums(view(weights).subspan(begin, count), sentences[at], control);
        totals[at] = sums.total();
        const std::vector<double> found = sums.marginals(control);
        std::copy(found.begin(), found.end(), shares.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    return std::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(shares)));
}

// Trees from labeled spans. A label is a chain of names from the top down; `wrapper` stands over every tree unless it
// is empty.
auto build_trees(std::vector<std::string> words, std::vector<std::string> tags, Offsets lengths,
                 std::vector<std::vector<std::string>> chains, Offsets sentence_ends, Offsets tree_ends, Numbers spans,
                 std::string wrapper) {
    const Lengths sentences(lengths);
    const auto fail = [] { throw std::invalid_argument("the spans are those of no tree"); };
    if (words.size() != sentences.words() || tags.size() != words.size() || sentence_ends.shape(0) != sentences.size())
        throw std::invalid_argument("words, tags and sentences differ in number");
    Arena arena;
    std::vector<std::vector<Symbol>> names;
    for (const auto& chain : chains) {
        names.emplace_back();
        for (const std::string& label : chain) names.back().push_back(arena.symbols.intern(label));
    }
    std::vector<Node> leaves, roots;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const Node word = arena.leaf(arena.symbols.intern(words[at]));
        leaves.push_back(arena.node(arena.symbols.intern(tags[at]), std::span(&word, 1)));
    }
    struct Part {
        Node node;
        std::uint32_t begin;
    };
    std::vector<Part> stack;
    std::vector<Node> children;
    std::size_t tree = 0, span = 0;
    for (std::size_t at = 0; at < sentences.size(); ++at)
        for (; tree < sentence_ends(at); ++tree) {
            if (tree >= tree_ends.shape(0) || tree_ends(tree) * 3 > spans.shape(0)) fail();
            stack.clear();
            std::uint32_t next = 0;
            for (; span < tree_ends(tree); ++span) {
                const std::uint32_t begin = spans(3 * span), end = spans(3 * span + 1), label = spans(3 * span + 2);
                if (begin >= end || end > sentences[at] || label >= names.size()) fail();
                for (; next < end; ++next) stack.push_back({leaves[sentences.word_begin(at) + next], next});
                std::size_t first = stack.size();
                while (first > 0 && stack[first - 1].begin >= begin) --first;
                if (first == stack.size() || stack[first].begin != begin || next != end) fail();
                children.clear();
                for (std::size_t k = first; k < stack.size(); ++k) children.push_back(stack[k].node);
                stack.resize(first);
                for (auto name = names[label].rbegin(); name != names[label].rend(); ++name) {
                    const Node made = arena.node(*name, children);
                    children.assign(1, made);
                }
                stack.push_back({children[0], begin});
            }
            if (stack.size() != 1 || next != sentences[at]) fail();
            if (!wrapper.empty())
                stack[0].node = arena.node(arena.symbols.intern(wrapper), std::span(&stack[0].node, 1));
            roots.push_back(stack[0].node);
        }
    return std::make_tuple(std::move(arena), to_numpy(std::move(roots)));
}

}  // namespace

void register_spans(nb::module_& core) {
    nb::module_ module = core.def_submodule("spans");
    nb::class_<SpanNetwork>(module, "Network")
        .def("__init__", &make_network, nb::arg("dense").noconvert(), nb::arg("dense_bias").noconvert(),
             nb::arg("inputs"), nb::arg("biases"), nb::arg("recurrent"), nb::arg("first").noconvert(),
             nb::arg("last").noconvert(), nb::arg("span_hidden").noconvert(), nb::arg("span_scale").noconvert(),
             nb::arg("span_shift").noconvert(), nb::arg("span_output").noconvert(), nb::arg("span_bias").noconvert(),
             nb::arg("tag_hidden").noconvert(), nb::arg("tag_hidden_bias").noconvert(),
             nb::arg("tag_scale").noconvert(), nb::arg("tag_shift").noconvert(), nb::arg("tag_output").noconvert(),
             nb::arg("tag_bias").noconvert())
        .def("score", &score, nb::arg("lengths").noconvert(), nb::arg("dense").noconvert(),
             nb::arg("plain").noconvert(), nb::arg("threads"), nb::arg("progress").none());
    module.def("best_trees", &best_trees, nb::arg("lengths").noconvert(), nb::arg("scores").noconvert(),
               nb::arg("labels"), nb::arg("count"), nb::arg("threads"), nb::arg("progress").none());
    module.def("sample_trees", &sample_trees, nb::arg("lengths").noconvert(), nb::arg("scores").noconvert(),
               nb::arg("labels"), nb::arg("count"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress").none());
    module.def("marginals", &marginals, nb::arg("lengths").noconvert(), nb::arg("scores").noconvert(),
               nb::arg("labels"), nb::arg("threads"), nb::arg("progress").none());
    module.def("minimum_risk_trees", &minimum_risk_trees, nb::arg("lengths").noconvert(), nb::arg("shares").noconvert(),
               nb::arg("names"), nb::arg("threads"));
    module.def("inside_outside", &inside_outside, nb::arg("lengths").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("threads"));
    module.def("build_trees", &build_trees, nb::arg("words"), nb::arg("tags"), nb::arg("lengths").noconvert(),
               nb::arg("chains"), nb::arg("sentence_ends").noconvert(), nb::arg("tree_ends").noconvert(),
               nb::arg("spans").noconvert(), nb::arg("wrapper"));
}

}  // namespace sapwood::bind
