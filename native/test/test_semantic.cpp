// Kernels that look into words: against the definition, between arenas, through models, alone, and with threads.
#include <cmath>
#include <stdexcept>
#include <string>

#include "kernels/diagonal.hpp"
#include "kernels/gram.hpp"
#include "kernels/lexicon.hpp"
#include "kernels/model.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/semantic.hpp"
#include "kernels/smoothed.hpp"
#include "test/check.hpp"
#include "test/plain.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

constexpr std::size_t kDimensions = 3;

bool is_phrase(std::string_view label) { return label == "S" || label == "NP"; }

// A vector per label; "B" and "unknown" are known to no source and like themselves only.
double coordinate(std::string_view word, std::size_t k) {
    if (word == "B" || word == "unknown") return 0.0;
    return static_cast<double>((word[0] * 7 + word.size() * 3 + k * 5) % 11) - 4.0;
}

double similarity(std::string_view a, std::string_view b) {
    if (a == b && (a == "B" || a == "unknown")) return 1.0;
    double sum = 0.0;
    for (std::size_t k = 0; k < kDimensions; ++k) sum += coordinate(a, k) * coordinate(b, k);
    return sum;
}

// Coordinates as sparse features, or as dense vectors; they are small integers, so that both give the same numbers.
WordFeatures features_of(const Vocabulary& vocabulary, const Arena& arena, bool dense) {
    std::vector<std::uint64_t> ends;
    std::vector<std::uint32_t> features;
    std::vector<double> weights;
    std::vector<float> vectors;
    for (const Symbol symbol : vocabulary.words()) {
        const std::string_view word = arena.symbols.text(symbol);
        for (std::size_t k = 0; k < kDimensions; ++k)
            if (dense) {
                vectors.push_back(static_cast<float>(coordinate(word, k)));
            } else if (coordinate(word, k) != 0.0) {
                features.push_back(static_cast<std::uint32_t>(k));
                weights.push_back(coordinate(word, k));
            }
        if (similarity(word, word) == 1.0 && (word == "B" || word == "unknown")) {
            features.push_back(static_cast<std::uint32_t>(kDimensions + (word == "B")));
            weights.push_back(1.0);
        }
        ends.push_back(features.size());
    }
    const auto kept = std::make_shared<std::vector<float>>(vectors);
    return WordFeatures(ends, features, weights, dense ? WordVectors(*kept, kDimensions, {}, kept) : WordVectors());
}

struct SemanticKernel {
    SemanticOptions options{0.4, 1.5};
    Vocabulary vocabulary(const Arena& arena, const Bags& bags) const {
        return Vocabulary::of_preterminals(arena, bags, is_phrase);
    }
    auto operator()(const Arena& arena, const Bags& bags, const Vocabulary& words, const WordFeatures& features) const {
        return SemanticColumns(arena, bags, words, features, options);
    }
    static bool preterminal(const Plain& x) { return x.kids.size() == 1 && x.kids[0].is_leaf() && !is_phrase(x.label); }
    double delta(const Plain& x, const Plain& y) const {
        if (x.is_leaf() || y.is_leaf() || x.label != y.label || preterminal(x) != preterminal(y)) return 0.0;
        if (preterminal(x)) return options.decay * options.leaf_weight * similarity(x.kids[0].label, y.kids[0].label);
        if (x.kids.size() != y.kids.size()) return 0.0;
        for (std::size_t k = 0; k < x.kids.size(); ++k)
            if (x.kids[k].label != y.kids[k].label) return 0.0;
        double product = options.decay;
        for (std::size_t k = 0; k < x.kids.size(); ++k) product *= 1.0 + delta(x.kids[k], y.kids[k]);
        return product;
    }
    double slow(const Bag& a, const Bag& b) const {
        return sum_pairs(a, b, [&](const Plain& x, const Plain& y) { return delta(x, y); });
    }
};

struct SmoothedKernel {
    bool leaves_only;
    std::size_t longest;
    Vocabulary vocabulary(const Arena& arena, const Bags& bags) const {
        return Vocabulary::of_labels(arena, bags, leaves_only);
    }
    auto operator()(const Arena& arena, const Bags& bags, const Vocabulary& words, const WordFeatures& features) const {
        return SmoothedColumns(arena, bags, words, features, {{0.4, 0.3, longest, true, 2.0}, leaves_only});
    }
    bool word(const Plain& x) const { return !leaves_only || x.is_leaf(); }
    // The sum over child sequences of at most `left` pairs, the first of them at or after (i, j).
    double sequences(const Plain& x, const Plain& y, std::size_t i, std::size_t j, std::size_t left, bool first) const {
        double total = 0.0;
        for (std::size_t p = i; left > 0 && p < x.kids.size(); ++p)
            for (std::size_t q = j; q < y.kids.size(); ++q) {
                const double gaps = first ? 1.0 : std::pow(0.4, static_cast<double>(p - i + q - j));
                if (const double d = delta(x.kids[p], y.kids[q]); d != 0.0)
                    total += gaps * d * (1.0 + sequences(x, y, p + 1, q + 1, left - 1, false));
            }
        return total;
    }
    double delta(const Plain& x, const Plain& y) const {
        if (word(x) != word(y)) return 0.0;
        const double similar = word(x) ? similarity(x.label, y.label) : static_cast<double>(x.label == y.label);
        const double bare = 0.3 * 0.4 * 0.4;
        if (x.is_leaf() || y.is_leaf()) return similar * bare * (x.is_leaf() && y.is_leaf() ? 2.0 : 1.0);
        if (similar == 0.0) return 0.0;
        return similar * (bare + 0.3 * sequences(x, y, 0, 0, longest == 0 ? 99 : longest, true));
    }
    double slow(const Bag& a, const Bag& b) const {
        return sum_pairs(a, b, [&](const Plain& x, const Plain& y) { return delta(x, y); });
    }
};

// test(kernel, dense)
template <class Test>
void for_every_kernel(Test test) {
    for (const bool dense : {false, true}) {
        test(SemanticKernel{}, dense);
        for (const bool leaves : {true, false})
            for (const std::size_t longest : {0, 2}) test(SmoothedKernel{leaves, longest}, dense);
    }
}

TEST(gram_matrices_diagonals_and_threads) {
    RandomTrees random(7);
    const std::vector<Bag> elements = random.bags(20);
    Arena arena;
    intern(random.bags(5), arena);
    const Bags bags = intern(elements, arena);
    const std::size_t size = elements.size();
    for_every_kernel([&](const auto& kernel, bool dense) {
        const Vocabulary words = kernel.vocabulary(arena, bags);
        const WordFeatures features = features_of(words, arena, dense);
        const WordMap map(arena, arena, bags, words, features);
        Control control;
        std::vector<double> K(size * size, -1.0), again = K;
        gram(kernel(arena, bags, words, features), arena, bags, map, bags, true, K.data(), 1, control);
        gram(kernel(arena, bags, words, features), arena, bags, map, bags, true, again.data(), 3, control);
        CHECK(K == again);
        std::vector<Node> number(arena.size());
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = i; j < size; ++j) CHECK_CLOSE(K[i * size + j], kernel.slow(elements[i], elements[j]));
            Arena alone;
            const Bags one = isolate(arena, bags, i, number, alone);
            const Vocabulary own = words.isolated(alone);
            const WordMap self(alone, alone, one, own, features);
            double value = -1.0;
            gram(kernel(alone, one, own, features), alone, one, self, one, true, &value, 1, control);
            CHECK_CLOSE(value, K[i * size + i]);
        }
    });
}

TEST(rows_from_another_arena_and_models) {
    RandomTrees random(11);
    const std::vector<Bag> columns = random.bags(18);
    std::vector<Bag> rows = random.bags(9);
    rows.push_back({Plain{"S", {Plain{"A", {Plain{"unknown", {}}}}, Plain{"unknown", {Plain{"A", {}}}}}}});
    rows.push_back({});
    Arena arena, other;
    const Bags column_bags = intern(columns, arena), row_bags = intern(rows, other);
    const std::size_t width = columns.size();
    for_every_kernel([&](const auto& kernel, bool dense) {
        const Vocabulary words = kernel.vocabulary(arena, column_bags), row_words = kernel.vocabulary(other, row_bags);
        const WordFeatures right = features_of(words, arena, dense), left = features_of(row_words, other, dense);
        const WordMap map(other, arena, row_bags, row_words, left);
        Control control;
        std::vector<double> K(rows.size() * width, -1.0), weights(width), scores(rows.size());
        gram(kernel(arena, column_bags, words, right), arena, column_bags, map, row_bags, false, K.data(), 2, control);
        for (double& weight : weights) weight = random.real();
        const Model model(kernel(arena, column_bags, words, right), arena, column_bags, weights.data(), 1);
        const WordMap model_map(other, model.arena(), row_bags, row_words, left);
        model.evaluate(model_map, row_bags, scores.data(), 2, control);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            double score = 0.0;
            for (std::size_t j = 0; j < width; ++j) {
                CHECK_CLOSE(K[i * width + j], kernel.slow(rows[i], columns[j]));
                score += K[i * width + j] * weights[j];
            }
            CHECK_CLOSE(scores[i], score);
        }
    });
}

// Some words that nearly all trees have, and many that one tree has: more than are added up at a time.
std::vector<Bag> wordy(RandomTrees& random, std::size_t count) {
    const auto word = [&](std::size_t limit) {
        const std::size_t k = random.below(random.below(2) == 0 ? 4 : limit);
        return Plain{std::string(1, static_cast<char>('a' + k % 26)).append(std::to_string(k * k)), {}};
    };
    const auto tagged = [&](const char* tag, std::size_t limit) { return Plain{tag, {word(limit)}}; };
    std::vector<Bag> elements(count);
    for (Bag& bag : elements)
        for (std::size_t k = random.below(4); k-- > 0;)
            bag.push_back({"S", {tagged("A", 900), {"NP", {tagged("C", 3), tagged("A", 900)}}, tagged("B", 300)}});
    return elements;
}

TEST(words_of_many_rows) {
    RandomTrees random(5);
    const std::vector<Bag> elements = wordy(random, 150), others = wordy(random, 37);
    Arena arena, other;
    const Bags bags = intern(elements, arena), other_bags = intern(others, other);
    const std::size_t size = elements.size();
    for_every_kernel([&](const auto& kernel, bool dense) {
        const Vocabulary words = kernel.vocabulary(arena, bags), row_words = kernel.vocabulary(other, other_bags);
        const WordFeatures features = features_of(words, arena, dense), left = features_of(row_words, other, dense);
        const auto columns = kernel(arena, bags, words, features);
        const WordMap map(arena, arena, bags, words, features), row_map(other, arena, other_bags, row_words, left);
        Control control;
        std::vector<double> K(size * size, -1.0), again = K, M(others.size() * size, -1.0);
        gram(columns, arena, bags, map, bags, true, K.data(), 1, control);
        gram(columns, arena, bags, map, bags, true, again.data(), 3, control);
        CHECK(K == again);
        gram(columns, arena, bags, row_map, other_bags, false, M.data(), 2, control);
        for (std::size_t i = 0; i < size; i += 1 + i % 7)
            for (std::size_t j = 0; j < size; ++j) CHECK_CLOSE(K[i * size + j], kernel.slow(elements[i], elements[j]));
        for (std::size_t i = 0; i < others.size(); i += 3)
            for (std::size_t j = 0; j < size; ++j) CHECK_CLOSE(M[i * size + j], kernel.slow(others[i], elements[j]));
    });
}

TEST(similarities_are_kept_while_memory_lasts) {
    for (const std::size_t limit : {std::size_t{0}, std::size_t{100000}, std::size_t{64} << 20}) {
        SimilarityCache cache(400, limit);
        SimilarityCache::Room room;
        std::size_t made = 0;
        const auto get = [&](std::size_t number, Similarities& own) {
            return cache.get(number, true, number % 2 == 0 ? 3 : 0, own, room, [&](Similarities& result) {
                ++made;
                result = {};
                result.dense = number % 2 == 0;
                if (result.dense)
                    for (std::size_t k = 0; k <= 2 * number; ++k) result.values.push_back(static_cast<double>(k));
                else
                    result.hits = {{1, 0.5}, {static_cast<std::uint32_t>(number), 2.0}};
            });
        };
        for (int round = 0; round < 2; ++round)
            for (std::size_t number = 4; number < 400; ++number) {
                Similarities own;
                const KnownSimilarities found = get(number, own);
                if (number % 2 == 0) {
                    CHECK(found.dense && found.values[number - found.from] == static_cast<double>(number));
                } else {
                    CHECK(!found.dense && found.hits.size() == 2 && found.hits[1].place == number);
                }
            }
        CHECK((limit == 0) == (made == 2 * 396));
        CHECK((limit == std::size_t{64} << 20) == (made == 396));
    }
}

TEST(occurrences_have_names_of_their_own) {
    Arena arena, made;
    const Bag bag{Plain{"S", {Plain{"A", {Plain{"x", {}}}}, Plain{"A", {Plain{"x", {}}}}, Plain{"y", {}}}}};
    const Bags bags = intern({bag}, arena);
    const Vocabulary words = Vocabulary::of_preterminals(arena, bags, is_phrase);
    Node root = 0;
    for (Node node = 0; node < arena.size(); ++node)
        if (arena.symbols.text(arena.label(node)) == "S") root = node;
    const bool known[] = {true, true, false, true};
    const std::uint64_t begins[] = {0, 1};
    const Node roots[] = {root, root};
    const auto is_word = [&](Node parent, Node) { return words.word_under(arena, parent) != kNone; };
    const auto found = number_occurrences(arena, roots, begins, known, made, is_word);
    const auto leaf = [&](Node tree, std::size_t child) {
        const Node below = made.children(tree)[child];
        return std::string(made.symbols.text(made.label(made.is_leaf(below) ? below : made.children(below)[0])));
    };
    CHECK(leaf(found[0], 0) ==
          "x\x1f"
          "0");
    CHECK(leaf(found[0], 1) ==
          "x\x1f"
          "1");
    CHECK(leaf(found[1], 1) == "x\x1f");  // no vector
    CHECK(leaf(found[1], 2) == "y");      // no word
    const std::uint64_t beyond[] = {0, 2};
    CHECK_THROWS(number_occurrences(arena, roots, beyond, known, made, is_word), std::invalid_argument);
}

}  // namespace
