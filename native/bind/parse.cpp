// Bindings of the parser: a weighted grammar, sentences parsed with it, several at a time, and all derivations of one.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <random>

#include "bind/arrays.hpp"
#include "bind/interruptible.hpp"
#include "parse/cover.hpp"
#include "parse/forest.hpp"
#include "parse/kbest.hpp"

namespace sapwood::bind {

using namespace sapwood::parse;

namespace {

enum Outcome : std::uint8_t { kParsed, kCovered, kNothing, kTooLarge };

void make_rules(Rules* self, Numbers parents, Numbers lefts, Numbers rights, Values weights, Numbers uppers,
                Numbers lowers, Values chain_weights, Offsets chain_ends, Numbers chain_labels, Values stay,
                Values prior, Numbers labels, Symbol root) {
    const auto copy = [](const auto& array) {
        const auto values = view(array);
        return std::vector(values.begin(), values.end());
    };
    const std::size_t count = parents.shape(0), chain_count = uppers.shape(0);
    if (lefts.shape(0) != count || rights.shape(0) != count || weights.shape(0) != count ||
        lowers.shape(0) != chain_count || chain_weights.shape(0) != chain_count || chain_ends.shape(0) != chain_count)
        throw std::invalid_argument("the arrays of rules differ in length");
    std::vector<BinaryRule> binary(count);
    for (std::size_t at = 0; at < count; ++at) binary[at] = {parents(at), lefts(at), rights(at), weights(at)};
    std::vector<Chain> chains(chain_count);
    std::uint32_t first = 0;
    for (std::size_t at = 0; at < chain_count; ++at) {
        const auto last = static_cast<std::uint32_t>(chain_ends(at));
        chains[at] = {uppers(at), lowers(at), chain_weights(at), first, last};
        first = last;
    }
    new (self)
        Rules(std::move(binary), std::move(chains), copy(chain_labels), copy(stay), copy(prior), copy(labels), root);
}

// Sentences come as one row of tags; ends say where words and sentences stop.
class Sentences {
  public:
    Sentences(const Rules& rules, Offsets sentence_ends, Offsets tag_ends, Numbers symbols, Values weights)
        : sentences_(sentence_ends), tags_(tag_ends), symbols_(symbols), weights_(weights) {
        std::uint64_t before = 0;
        for (const std::uint64_t end : view(sentences_)) {
            if (end < before || end > tags_.shape(0))
                throw std::invalid_argument("the ends of sentences are not in order");
            before = end;
        }
        before = 0;
        for (const std::uint64_t end : view(tags_)) {
            if (end < before || end > symbols_.shape(0))
                throw std::invalid_argument("the ends of tags are not in order");
            before = end;
        }
        if (weights_.shape(0) != symbols_.shape(0)) throw std::invalid_argument("tags and weights differ in number");
        for (const Symbol symbol : view(symbols_))
            if (symbol >= rules.symbols()) throw std::invalid_argument("a tag is no symbol of the grammar");
    }

    std::size_t size() const { return sentences_.shape(0); }
    std::size_t first_word(std::size_t at) const { return at == 0 ? 0 : sentences_(at - 1); }

    Sentence operator[](std::size_t at) const {
        Sentence sentence(sentences_(at) - first_word(at));
        for (std::size_t word = 0; word < sentence.size(); ++word) {
            const std::size_t row = first_word(at) + word;
            for (std::uint64_t tag = row == 0 ? 0 : tags_(row - 1); tag < tags_(row); ++tag)
                sentence[word].push_back({symbols_(tag), weights_(tag)});
        }
        return sentence;
    }

    // Work grows with the cube of the length.
    bool brief() const {
        double work = 0.0;
        for (std::size_t at = 0; at < size(); ++at) {
            const double words = static_cast<double>(sentences_(at) - first_word(at));
            work += words * words * words;
        }
        return work < 2000.0;
    }

  private:
    Offsets sentences_, tags_;
    Numbers symbols_;
    Values weights_;
};

struct Answer {
    std::vector<Parse> parses;
    Outcome outcome = kNothing;
    std::size_t bytes = 0;
};

Parse join(const Rules& rules, const Chart& chart, const Sentence& sentence, std::span<const std::uint32_t> labels,
           double price, const Control& control) {
    Parse joined{{}, 0.0};
    KBest extractor(rules, chart, sentence, 1);
    const std::vector<Piece> pieces = cover(rules, chart, price);
    for (const Piece& piece : pieces) {
        const Parse part = extractor.best(piece.symbol, piece.begin, piece.end, control);
        joined.nodes.insert(joined.nodes.end(), part.nodes.begin(), part.nodes.end());
        joined.weight += part.weight + price;
    }
    if (pieces.empty()) return joined;
    auto children = static_cast<std::uint32_t>(pieces.size());
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
        joined.nodes.push_back({*label, children}), children = 1;
    return joined;
}

// Parses as trees of an arena.
class TreeMaker {
  public:
    TreeMaker(const std::vector<std::string>& labels, const std::vector<std::string>& words) {
        for (const std::string& label : labels) names_.push_back(arena.symbols.intern(label));
        for (const std::string& word : words) leaves_.push_back(arena.symbols.intern(word));
    }

    void add(const Parse& parse, std::size_t first_word) {
        stack_.clear();
        for (const TreeNode& node : parse.nodes) {
            if (node.children == 0) {
                stack_.push_back(arena.leaf(leaves_[first_word + node.label]));
                continue;
            }
            if (node.label >= names_.size() || node.children > stack_.size())
                throw std::invalid_argument("a label has no name");
            const Node made = arena.node(names_[node.label], std::span(stack_).last(node.children));
            stack_.resize(stack_.size() - node.children);
            stack_.push_back(made);
        }
        roots.push_back(stack_.back());
    }

    Arena arena;
    std::vector<Node> roots;

  private:
    std::vector<Symbol> names_, leaves_;
    std::vector<Node> stack_;
};

auto parse_batch(const Rules& rules, std::vector<std::string> labels, Offsets sentence_ends, Offsets tag_ends,
                 Numbers symbols, Values weights, std::vector<std::string> words, std::size_t count,
                 std::size_t derivations, double beam, std::size_t bytes, std::vector<std::uint32_t> cover_labels,
                 double cover_price, std::size_t threads, Progress progress) {
    const Sentences sentences(rules, sentence_ends, tag_ends, symbols, weights);
    if (words.size() != tag_ends.shape(0)) throw std::invalid_argument("words and their tags differ in number");
    for (const std::uint32_t label : cover_labels)
        if (label >= labels.size()) throw std::invalid_argument("a label has no name");
    std::vector<Answer> answers(sentences.size());
    run_interruptible(sentences.brief(), progress, [&](Control& control) {
        parallel_blocks(sentences.size(), 1, threads, control, [&] {
            return [&, filler = std::make_shared<Filler>(rules)](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin; at < end; ++at) {
                    const Sentence sentence = sentences[at];
                    Answer& answer = answers[at];
                    try {
                        const Chart chart = filler->fill(sentence, {beam, bytes}, control);
                        answer.bytes = chart.bytes();
                        answer.parses = KBest(rules, chart, sentence, derivations).trees(count, control);
                        answer.outcome = answer.parses.empty() ? kNothing : kParsed;
                        if (answer.parses.empty() && !cover_labels.empty() && !sentence.empty()) {
                            answer.parses.push_back(join(rules, chart, sentence, cover_labels, cover_price, control));
                            answer.outcome = kCovered;
                            if (answer.parses.back().nodes.empty()) answer.parses.clear(), answer.outcome = kNothing;
                        }
                    } catch (const ChartTooLarge&) {
                        answer.outcome = kTooLarge;
                    }
                }
            };
        });
    });
    TreeMaker maker(labels, words);
    std::vector<std::uint64_t> ends, sizes;
    std::vector<double> found;
    std::vector<std::uint8_t> outcomes;
    for (std::size_t at = 0; at < answers.size(); ++at) {
        for (const Parse& parse : answers[at].parses) {
            maker.add(parse, sentences.first_word(at));
            found.push_back(parse.weight);
        }
        ends.push_back(maker.roots.size());
        sizes.push_back(answers[at].bytes);
        outcomes.push_back(answers[at].outcome);
    }
    return std::make_tuple(std::move(maker.arena), to_numpy(std::move(maker.roots)), to_numpy(std::move(ends)),
                           to_numpy(std::move(found)), to_numpy(std::move(outcomes)), to_numpy(std::move(sizes)));
}

// The logarithm of the total weight of all derivations of each sentence.
auto inside(const Rules& rules, Offsets sentence_ends, Offsets tag_ends, Numbers symbols, Values weights,
            std::size_t bytes, std::size_t threads, Progress progress) {
    const Sentences sentences(rules, sentence_ends, tag_ends, symbols, weights);
    std::vector<double> totals(sentences.size(), kNever);
    run_interruptible(sentences.brief(), progress, [&](Control& control) {
        parallel_blocks(sentences.size(), 1, threads, control, [&] {
            return [&](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin; at < end; ++at) try {
                        const Limits limits{std::numeric_limits<double>::infinity(), bytes};
                        totals[at] = Forest(rules, sentences[at], limits, control).total();
                    } catch (const ChartTooLarge&) {
                        totals[at] = std::numeric_limits<double>::quiet_NaN();
                    }
            };
        });
    });
    return to_numpy(std::move(totals));
}

// All derivations of one sentence; None where its chart is too large.
std::unique_ptr<Forest> make_forest(const Rules& rules, Offsets tag_ends, Numbers symbols, Values weights, double beam,
                                    std::size_t bytes) {
    const std::uint64_t words = tag_ends.shape(0);
    const Sentences sentences(rules, Offsets(&words, {1}), tag_ends, symbols, weights);
    std::unique_ptr<Forest> made;
    run_interruptible(sentences.brief(), nb::none(), [&](Control& control) {
        try {
            made = std::make_unique<Forest>(rules, sentences[0], Limits{beam, bytes}, control);
        } catch (const ChartTooLarge&) {
        }
    });
    return made;
}

// Work grows with the cube of the length.
template <class Work>
void in_forest(const Forest& forest, Work work) {
    if (forest.empty()) throw std::invalid_argument("the sentence has no parse");
    run_interruptible(forest.words() < 13, nb::none(), work);
}

auto forest_marginals(const Forest& forest) {
    Marginals found;
    in_forest(forest, [&](Control& control) { found = forest.marginals(control); });
    std::vector<std::uint32_t> spans;
    std::vector<double> shares;
    for (const LabelList& one : found.spans) {
        spans.insert(spans.end(), {one.begin, one.end, one.list});
        shares.push_back(one.share);
    }
    return std::make_tuple(std::move(found.lists), to_numpy(std::move(spans)), to_numpy(std::move(shares)),
                           found.entropy);
}

auto made_trees(const std::vector<Parse>& parses, const std::vector<std::string>& labels,
                const std::vector<std::string>& words) {
    TreeMaker maker(labels, words);
    std::vector<double> weights;
    for (const Parse& parse : parses) {
        maker.add(parse, 0);
        weights.push_back(parse.weight);
    }
    return std::make_tuple(std::move(maker.arena), to_numpy(std::move(maker.roots)), to_numpy(std::move(weights)));
}

void check_words(const Forest& forest, const std::vector<std::string>& words) {
    if (words.size() != forest.words()) throw std::invalid_argument("words and their tags differ in number");
}

auto forest_trees(const Forest& forest, std::vector<std::string> labels, std::vector<std::string> words,
                  std::size_t count, std::size_t derivations) {
    check_words(forest, words);
    std::vector<Parse> found;
    in_forest(forest, [&](Control& control) { found = forest.trees(count, derivations, control); });
    return made_trees(found, labels, words);
}

auto forest_samples(const Forest& forest, std::vector<std::string> labels, std::vector<std::string> words,
                    std::size_t count, std::uint64_t seed) {
    check_words(forest, words);
    std::vector<Parse> found;
    in_forest(forest, [&](Control& control) {
        std::mt19937_64 random(seed);
        for (std::size_t k = 0; k < count; ++k)
            found.push_back(forest.draw([&] { return static_cast<double>(random() >> 11) * 0x1p-53; }, control));
    });
    return made_trees(found, labels, words);
}

double forest_weight(const Forest& forest, Numbers labels, Numbers children) {
    if (labels.shape(0) != children.shape(0)) throw std::invalid_argument("labels and children differ in number");
    std::vector<TreeNode> nodes;
    for (std::size_t at = 0; at < labels.shape(0); ++at) nodes.push_back({labels(at), children(at)});
    double weight = kNever;
    in_forest(forest, [&](Control& control) { weight = forest.weight(nodes, control); });
    return weight;
}

}  // namespace

void register_parse(nb::module_& core) {
    nb::module_ module = core.def_submodule("parse");
    nb::class_<Rules>(module, "Rules")
        .def("__init__", &make_rules, nb::arg("parents").noconvert(), nb::arg("lefts").noconvert(),
             nb::arg("rights").noconvert(), nb::arg("weights").noconvert(), nb::arg("uppers").noconvert(),
             nb::arg("lowers").noconvert(), nb::arg("chain_weights").noconvert(), nb::arg("chain_ends").noconvert(),
             nb::arg("chain_labels").noconvert(), nb::arg("stay").noconvert(), nb::arg("prior").noconvert(),
             nb::arg("labels").noconvert(), nb::arg("root"))
        .def_prop_ro("symbols", &Rules::symbols)
        .def_prop_ro("binary", &Rules::binary_count);
    nb::class_<Forest>(module, "Forest")
        .def_prop_ro("empty", &Forest::empty)
        .def_prop_ro("bytes", &Forest::bytes)
        .def_prop_ro("total", &Forest::total)
        .def("marginals", &forest_marginals)
        .def("trees", &forest_trees, nb::arg("labels"), nb::arg("words"), nb::arg("count"), nb::arg("derivations"))
        .def("samples", &forest_samples, nb::arg("labels"), nb::arg("words"), nb::arg("count"), nb::arg("seed"))
        .def("weight", &forest_weight, nb::arg("labels").noconvert(), nb::arg("children").noconvert());
    module.def("forest", &make_forest, nb::arg("rules"), nb::arg("tag_ends").noconvert(),
               nb::arg("symbols").noconvert(), nb::arg("weights").noconvert(), nb::arg("beam"), nb::arg("bytes"),
               nb::keep_alive<0, 1>());
    module.def("parse_batch", &parse_batch, nb::arg("rules"), nb::arg("labels"), nb::arg("sentence_ends").noconvert(),
               nb::arg("tag_ends").noconvert(), nb::arg("symbols").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("words"), nb::arg("count"), nb::arg("derivations"), nb::arg("beam"), nb::arg("bytes"),
               nb::arg("cover_labels"), nb::arg("cover_price"), nb::arg("threads"), nb::arg("progress").none());
    module.def("inside", &inside, nb::arg("rules"), nb::arg("sentence_ends").noconvert(),
               nb::arg("tag_ends").noconvert(), nb::arg("symbols").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("bytes"), nb::arg("threads"), nb::arg("progress").none());
}

}  // namespace sapwood::bind
