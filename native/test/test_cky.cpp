// Charts and k-best lists where the answer is known in closed form. Random grammars are compared with enumeration in
// Python.
#include "parse/cky.hpp"
#include "parse/cover.hpp"
#include "parse/forest.hpp"
#include "parse/kbest.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::parse;
using namespace sapwood::test;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
enum : Symbol { kRoot, kX, kTag, kOther };

// X -> X X with this weight, X over a tag, root over X: every binary tree over the words.
Rules binary_trees(double weight, double leaf = 0.0) {
    return Rules({{kX, kX, kX, weight}}, {{kX, kTag, leaf, 0, 1}, {kRoot, kX, 0.0, 1, 1}, {kRoot, kTag, leaf, 1, 2}},
                 {0, 0}, {kNever, 0.0, kNever, 0.0}, {0.0, 0.0, 0.0, 0.0}, {kNone, 0, 1, 2}, kRoot);
}

Sentence words(std::size_t count, Symbol tag = kTag) { return Sentence(count, {{tag, 0.0}}); }

double catalan(std::size_t leaves) {
    double value = 1.0;
    for (std::size_t at = 1; at < leaves; ++at)
        value = value * 2.0 * (2.0 * static_cast<double>(at) - 1.0) / (static_cast<double>(at) + 1.0);
    return value;
}

TEST(all_binary_trees_are_counted) {
    const Rules rules = binary_trees(0.0);
    Control control;
    Filler best(rules);
    for (std::size_t count = 1; count <= 9; ++count) {
        const Sentence sentence = words(count);
        CHECK_CLOSE(std::exp(Forest(rules, sentence, {}, control).total()), catalan(count));
        const Chart chart = best.fill(sentence, {}, control);
        const auto found = KBest(rules, chart, sentence, 5000).trees(5000, control);
        CHECK(static_cast<double>(found.size()) == catalan(count));
        std::set<std::vector<TreeNode>> distinct;
        for (const Parse& parse : found) {
            CHECK(parse.weight == 0.0);
            distinct.insert(parse.nodes);
        }
        CHECK(distinct.size() == found.size());
        CHECK(KBest(rules, chart, sentence, 3).trees(2, control).size() == std::min<std::size_t>(found.size(), 2));
    }
}

TEST(weights_add_up_along_a_tree) {
    const Rules rules = binary_trees(-0.5, -0.25);
    Control control;
    Filler best(rules);
    const Sentence sentence = words(12);
    const Chart chart = best.fill(sentence, {}, control);
    for (const Parse& parse : KBest(rules, chart, sentence, 7).trees(7, control))
        CHECK_CLOSE(parse.weight, 11 * -0.5 + 12 * -0.25);
}

TEST(a_deep_derivation_takes_no_machine_stack) {
    // Only left-branching trees: as deep as the sentence is long.
    const Rules rules({{kX, kX, kTag, -0.1}}, {{kX, kTag, 0.0, 0, 1}, {kRoot, kX, 0.0, 1, 1}}, {0},
                      {kNever, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}, {kNone, 0, 1, 2}, kRoot);
    Control control;
    Filler best(rules);
    const Sentence sentence = words(250);
    const Chart chart = best.fill(sentence, {}, control);
    const auto found = KBest(rules, chart, sentence, 4).trees(4, control);
    CHECK(found.size() == 1);
    CHECK_CLOSE(found[0].weight, -0.1 * 249);
}

TEST(limits_hold) {
    const Rules rules = binary_trees(-0.5);
    Control control;
    Filler best(rules);
    CHECK_THROWS(best.fill(words(60), {kInfinite, 1000}, control), ChartTooLarge);
    CHECK_THROWS(best.fill(words(60), {kInfinite, 100'000}, control), ChartTooLarge);
    // The arrays are clean again after a failure.
    const Sentence sentence = words(5);
    const Chart chart = best.fill(sentence, {}, control);
    CHECK(KBest(rules, chart, sentence, 100).trees(100, control).size() == 14);
    control.cancel = true;
    CHECK_THROWS(best.fill(words(5), {}, control), Cancelled);
}

TEST(a_beam_keeps_the_best) {
    const Rules rules = binary_trees(-0.5);
    Control control;
    Filler best(rules);
    const Sentence sentence = words(8);
    const Chart all = best.fill(sentence, {}, control), narrow = best.fill(sentence, {0.0, 1 << 30}, control);
    CHECK(Chart::find(narrow.upper(0, 8), kRoot)->value == Chart::find(all.upper(0, 8), kRoot)->value);
    CHECK(narrow.bytes() <= all.bytes());
}

TEST(sentences_without_a_parse_are_covered) {
    const Rules rules = binary_trees(-0.5);
    Control control;
    Filler best(rules);
    Sentence sentence = words(5);
    sentence[2] = {{kOther, -1.0}};
    const Chart chart = best.fill(sentence, {}, control);
    CHECK(KBest(rules, chart, sentence, 3).trees(3, control).empty());
    const std::vector<Piece> pieces = cover(rules, chart, -5.0);
    CHECK(pieces.size() == 3);
    CHECK(pieces[0].begin == 0 && pieces[0].end == 2 && pieces[1].symbol == kOther && pieces[2].end == 5);
    KBest extractor(rules, chart, sentence, 1);
    CHECK_CLOSE(extractor.best(pieces[0].symbol, 0, 2, control).weight, -0.5);
    sentence[2].clear();
    CHECK(cover(rules, best.fill(sentence, {}, control), -5.0).empty());
    CHECK(KBest(rules, best.fill({}, {}, control), {}, 1).trees(1, control).empty());
}

TEST(broken_grammars_are_refused) {
    const std::vector<double> two{kNever, 0.0};
    CHECK_THROWS(Rules({{1, 1, 2, 0.0}}, {}, {}, two, two, {kNone, 0}, 0), std::invalid_argument);
    CHECK_THROWS(Rules({{1, 0, 1, 0.0}}, {}, {}, two, two, {kNone, 0}, 0), std::invalid_argument);
    CHECK_THROWS(Rules({}, {{1, 5, 0.0, 0, 0}}, {}, two, two, {kNone, 0}, 0), std::invalid_argument);
    CHECK_THROWS(Rules({}, {{1, 1, 0.0, 0, 9}}, {}, two, two, {kNone, 0}, 0), std::invalid_argument);
    CHECK_THROWS(Rules({}, {}, {}, two, two, {kNone, 0}, 7), std::invalid_argument);
    CHECK_THROWS(Rules({}, {}, {}, two, {0.0}, {kNone, 0}, 0), std::invalid_argument);
}

}  // namespace
