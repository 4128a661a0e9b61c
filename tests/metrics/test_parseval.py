"""PARSEVAL by hand: every rule of COLLINS.prm has a case small enough to count with a pencil."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from sapwood.corpora import nursery
from sapwood.errors import DataError, ParameterError
from sapwood.metrics import COLLINS, ParsevalRules, ParsevalSummary, mutual_f1, parseval, score_forest, score_tags
from sapwood.trees import Tree, TreeArray

PRM = """# the usual rules
DEBUG 0
MAX_ERROR 10
CUTOFF_LEN 40
LABELED 1
DELETE_LABEL TOP
DELETE_LABEL -NONE-
DELETE_LABEL ,
DELETE_LABEL :
DELETE_LABEL ``
DELETE_LABEL ''
DELETE_LABEL .
DELETE_LABEL_FOR_LENGTH -NONE-
EQ_LABEL ADVP PRT
"""


def counts(gold: str, parse: str, rules: ParsevalRules = COLLINS) -> tuple[int, int, int, int]:
    score = score_forest(Tree.fromstring(gold), [Tree.fromstring(parse)], rules=rules)[0]
    assert score.status == "ok"
    return score.matched, score.gold, score.predicted, score.crossing


def test_the_rules_are_those_of_the_parameter_file(tmp_path: Path) -> None:
    (tmp_path / "COLLINS.prm").write_text(PRM)
    assert ParsevalRules.from_file(tmp_path / "COLLINS.prm") == COLLINS


def test_a_worked_sentence() -> None:
    gold = "(TOP (S (NP (NN she)) (VP (VBD saw) (NP (NN rain)) (PP (IN with) (NP (NN him))))))"
    parse = "(TOP (S (NP (NN she)) (VP (VBD saw) (NP (NP (NN rain)) (PP (IN with) (NP (NN him)))))))"
    # Gold: S 0-5, NP 0-1, VP 1-5, NP 2-3, PP 3-5, NP 4-5. The parse adds NP 2-5. Nothing crosses.
    assert counts(gold, parse) == (6, 6, 7, 0)
    summary = parseval([gold], [parse]).overall
    assert summary.recall == 1.0
    assert summary.precision == 6 / 7
    assert summary.f1 == pytest.approx(12 / 13)
    assert (summary.complete_match, summary.no_crossing, summary.tagging) == (0.0, 1.0, 1.0)


def test_delete_top_removes_the_bracket_but_not_what_it_holds() -> None:
    assert counts("(TOP (S (NN a) (NN b)))", "(TOP (S (NN a) (NN b)))") == (1, 1, 1, 0)
    assert counts("(S1 (S (NN a) (NN b)))", "(S1 (S (NN a) (NN b)))") == (2, 2, 2, 0)
    assert counts("(S1 (S (NN a)))", "(S1 (S (NN a)))", COLLINS.deleting("S1")) == (1, 1, 1, 0)


def test_delete_none_removes_traces_and_what_holds_nothing_else() -> None:
    gold = "(S (NP (NN a)) (VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))))"
    # SBAR and its S vanish with their traces; S, NP and VP stay.
    assert counts(gold, "(S (NP (NN a)) (VP (VBD said)))") == (3, 3, 3, 0)


@pytest.mark.parametrize("tag", [",", ":", "``", "''", "."])
def test_delete_punctuation_moves_no_boundary(tag: str) -> None:
    gold = f"(S (NP (NN a) ({tag} x)) (VP (VB b)))"
    parse = f"(S (NP (NN a)) ({tag} x) (VP (VB b)))"
    # With the mark deleted both have S 0-2, NP 0-1, VP 1-2.
    assert counts(gold, parse) == (3, 3, 3, 0)
    assert counts(gold, parse, replace(COLLINS, delete_labels=frozenset()))[0] == 2


def test_brackets_are_not_punctuation_for_collins() -> None:
    gold = "(NP (PRN (-LRB- -LRB-) (NP (NN a)) (-RRB- -RRB-)))"
    parse = "(NP (PRN (NP (-LRB- -LRB-) (NN a) (-RRB- -RRB-))))"
    assert counts(gold, parse)[0] == 2
    assert counts(gold, parse, COLLINS.deleting("-LRB-", "-RRB-"))[0] == 3


def test_a_constituent_of_punctuation_alone_vanishes() -> None:
    assert counts("(S (PRN (, ,) (: --)) (NP (NN a)))", "(S (NP (NN a)))") == (2, 2, 2, 0)


def test_advp_and_prt_are_one_label() -> None:
    assert counts("(VP (VB give) (PRT (RP up)))", "(VP (VB give) (ADVP (RP up)))") == (2, 2, 2, 0)
    assert counts("(VP (VB give) (PRT (RP up)))", "(VP (VB give) (NP (RP up)))") == (1, 2, 2, 0)


def test_equal_labels_also_hold_for_tags_and_chains() -> None:
    rules = replace(COLLINS, equal_labels=(("A", "B"), ("C", "B"), ("X", "Y")))
    assert counts("(S (A (NN a)))", "(S (C (NN a)))", rules)[0] == 2
    score = score_forest(Tree.fromstring("(S (X a) (NN b))"), [Tree.fromstring("(S (Y a) (VB b))")], rules=rules)[0]
    assert (score.tags, score.words) == (1, 2)


def test_labels_are_cut_at_function_tags_and_tags_are_not() -> None:
    assert counts("(S-TPC (NP-SBJ=2 (NN a)))", "(S (NP (NN a)))") == (2, 2, 2, 0)
    score = score_forest(Tree.fromstring("(S (NN-X a))"), [Tree.fromstring("(S (NN a))")])[0]
    assert (score.tags, score.matched) == (0, 1)


def test_labels_count_unless_told_otherwise() -> None:
    gold, parse = "(S (NP (NN a)) (NN b))", "(FRAG (VP (NN a)) (NN b))"
    assert counts(gold, parse)[0] == 0
    assert counts(gold, parse, replace(COLLINS, labeled=False))[0] == 2


def test_matching_is_one_to_one() -> None:
    # Two NPs over the same word on one side, three on the other: two match.
    assert counts("(S (NP (NP (NN a))) (NN b))", "(S (NP (NP (NP (NN a)))) (NN b))") == (3, 3, 4, 0)


def test_crossing_is_counted_by_brackets_of_the_parse() -> None:
    gold = "(S (A (NN a) (NN b)) (B (NN c) (NN d)) (NN e))"
    parse = "(S (NN a) (X (Y (NN b) (NN c))) (Z (NN d) (NN e)))"
    # X and Y, both 1-3, cross A 0-2 and B 2-4: two brackets, not four crossings; Z 3-5 crosses B.
    assert counts(gold, parse) == (1, 3, 4, 3)
    summary = parseval([gold], [parse]).overall
    assert (summary.crossing, summary.no_crossing, summary.two_or_less_crossing) == (3.0, 0.0, 0.0)


def test_length_counts_punctuation_but_no_traces() -> None:
    gold = "(S (NP (NN a)) (, ,) (VP (VB b) (NP (-NONE- *))) (. .))"
    assert parseval([gold], [gold]).sentences[0].length == 4


def test_by_length_and_cutoff() -> None:
    short, long = "(S (NP (NN a)))", "(S (NP " + "(NN a) " * 41 + "))"
    wrong = "(S (VP " + "(NN a) " * 41 + "))"
    scores = parseval([short, long], [short, wrong])
    assert scores.overall.f1 == 0.75
    assert scores.up_to().f1 == 1.0
    assert scores.up_to().sentences == 1
    groups = scores.by_length()
    assert list(groups) == [(1, 10), (41, None)]
    assert groups[41, None].f1 == 0.5


def test_different_words_are_errors_and_left_out() -> None:
    gold = ["(S (NN a))", "(S (NN b))"]
    scores = parseval(gold, ["(S (NN a))", "(S (NN x))"])
    assert (scores.overall.errors, scores.overall.sentences, scores.overall.f1) == (1, 2, 1.0)
    passing = replace(COLLINS, compare_words=False)
    assert score_forest(Tree.fromstring("(S (NN a))"), [Tree.fromstring("(S (NN x))")], rules=passing)[0].gold == 1
    with pytest.raises(
        DataError, match="11 of the first 11 pairs have different words, the first at index 0"
    ) as caught:
        parseval(["(S (NN a))"] * 20, ["(S (NN b))"] * 20)
    assert "word 1 is 'a' in the gold tree and 'b' in the parse" in str(caught.value)
    with pytest.raises(DataError, match="1 words in the gold tree and 2 in the parse"):
        parseval(["(S (NN a))"] * 20, ["(S (NN a) (NN b))"] * 20)


def test_where_tags_differ_the_gold_tree_says_what_is_punctuation() -> None:
    """A quotation mark taken for an apostrophe, and the other way round: evalb finds different words."""
    gold = "(S (NP (-NONE- *)) (NP (NN a) ('' ')) (VP (VB b) (NP (NN c) (, ,))))"
    parse = "(S (NP (NN a)) (VP (POS ') (VB b) (NP (NN c) (NN ,))))"
    # Without the mark and the comma: S 0-3, NP 0-1, VP 1-3, NP 2-3 in both.
    assert counts(gold, parse) == (4, 4, 4, 0)
    # Taken for the gold tree, the parse keeps both: S 0-5, NP 0-1, VP 1-5, NP 3-5. The other has NP 0-2 and VP 2-5.
    assert counts(parse, gold) == (2, 4, 4, 1)
    score = score_forest(Tree.fromstring(gold), [Tree.fromstring(parse)])[0]
    assert (score.retagged, score.words, score.tags, score.length) == (True, 3, 3, 5)
    scores = parseval([gold, parse, "(S (NN a))"], [parse, parse, "(S (NN x))"])
    assert (scores.overall.retagged, scores.overall.errors, scores.overall.sentences) == (1, 1, 3)
    # A whole file of them is no reason to stop.
    assert parseval([gold] * 20, [parse] * 20).overall.retagged == 20
    # What is left without evalb's "errors" is evalb's.
    assert ParsevalSummary.of(one for one in scores.sentences if not one.retagged).matched == 4


def test_own_punctuation_leaves_out_what_evalb_leaves_out() -> None:
    gold, parse = "(S (NN a) ('' '))", "(S (NN a) (POS '))"
    pairs = [gold, gold, gold, "(S (NN a))"], [gold, parse, None, "(S (NN b))"]
    own = parseval(*pairs, rules=replace(COLLINS, punctuation="own"))
    assert own.left_out == {"errors": (1, 3), "skipped": (2,), "retagged": (1,)}
    assert (own.overall.errors, own.overall.skipped, own.overall.retagged, own.overall.matched) == (2, 1, 1, 1)
    by_gold = parseval(*pairs)
    assert by_gold.left_out == {"errors": (3,), "skipped": (2,), "retagged": (1,)}
    assert by_gold.overall.matched == 2
    # However many there are, they are no sign of files of other sentences.
    many = parseval([gold] * 20, [parse] * 20, rules=replace(COLLINS, punctuation="own"))
    assert (many.overall.errors, many.overall.f1) == (20, 0.0)
    with pytest.raises(ParameterError, match=r"rules\.punctuation must be"):
        parseval([gold], [gold], rules=replace(COLLINS, punctuation="evalb"))


def test_tags_are_scored_word_by_word() -> None:
    lists = nursery.generate(size=40).forests()
    gold, parses = [one.gold for one in lists], [one.parses[len(one) - 1] for one in lists]
    tags = [[tag for tree in trees for _, tag in tree.to_nltk().pos()] for trees in (gold, parses)]
    found = score_tags(gold, parses)
    assert found.accuracy == accuracy_score(*tags) < 1
    assert found.count == len(tags[0])


def test_tags_of_other_words() -> None:
    assert score_tags(["(S (-NONE- *) (NN a) (. .))"], ["(S (NN a) (. .))"]).count == 2
    with pytest.raises(DataError, match="tree 1 and its parse have different words"):
        score_tags(["(S (NN a))", "(S (NN b))"], ["(S (NN a))", "(S (NN c))"])
    with pytest.raises(DataError, match="2 gold trees but 1 parses"):
        score_tags(["(S (NN a))"] * 2, ["(S (NN a))"])


def test_a_parse_of_nothing_but_punctuation_has_words_if_the_gold_tree_does() -> None:
    score = score_forest(Tree.fromstring("(S (NN a) (NN b))"), [Tree.fromstring("(S (, a) (. b))")])[0]
    assert (score.status, score.retagged, score.matched, score.tags) == ("ok", True, 1, 0)
    score = score_forest(Tree.fromstring("(S (, a) (. b))"), [Tree.fromstring("(S (NN a) (NN b))")])[0]
    assert score.status == "skip"


def test_missing_parses_are_skipped() -> None:
    scores = parseval(["(S (NN a))"] * 3, ["(S (NN a))", None, "(TOP (. .))"])
    assert (scores.overall.skipped, scores.overall.f1) == (2, 1.0)


def test_unusable_input() -> None:
    with pytest.raises(DataError, match="2 gold trees but 1 parses"):
        parseval(["(S (NN a))"] * 2, ["(S (NN a))"])
    with pytest.raises(DataError, match="without a tag of its own"):
        parseval(["(S (NP a b))"], ["(S (NP a b))"])
    with pytest.raises(DataError, match="gold tree 0 is None"):
        parseval([None], ["(S (NN a))"])
    with pytest.raises(ParameterError, match="must be a TreeArray"):
        parseval("(S (NN a))", ["(S (NN a))"])
    with pytest.raises(DataError, match="gold holds bags of trees"):
        parseval([["(S (NN a))", "(S (NN b))"]], ["(S (NN a))"])


@pytest.mark.parametrize("line", ["DELETE_LABEL", "EQ_WORD a b", "LABELED yes", "EQ_LABEL a", "nonsense 3"])
def test_unusable_parameter_files(line: str, tmp_path: Path) -> None:
    (tmp_path / "x.prm").write_text(f"# first\n{line}\n")
    with pytest.raises(DataError, match=r"x\.prm:2:\d: (evalb's setting|expected a whole number)"):
        ParsevalRules.from_file(tmp_path / "x.prm")
    with pytest.raises(DataError, match=r"none\.prm: no such file"):
        ParsevalRules.from_file(tmp_path / "none.prm")


@pytest.mark.slow
def test_depth_is_no_limit() -> None:
    tree = Tree("NN", ["a"])
    for _ in range(50_000):
        tree = Tree("X", [tree])
    assert score_forest(tree, [tree])[0].matched == 50_000


@st.composite
def bracketings(draw: st.DrawFn, size: int = 6) -> Tree:
    """A tree over the words 0 .. size - 1."""
    nodes = [Tree(draw(st.sampled_from(["NN", ",", "RB"])), [str(at)]) for at in range(size)]
    while len(nodes) > 1:
        at = draw(st.integers(0, len(nodes) - 2))
        width = draw(st.integers(1, min(3, len(nodes) - at)))
        if width == 1:
            width = 2
        label = draw(st.sampled_from(["NP", "VP", "ADVP", "PRT", "TOP", "NP-SBJ"]))
        nodes[at : at + width] = [Tree(label, nodes[at : at + width])]
    return nodes[0]


def slow(gold: Tree, parse: Tree) -> tuple[int, int, int, int]:
    """The same counts by sets of word positions, one bracket after the other."""

    def brackets(tree: Tree, kept: list[str]) -> list[tuple[str, int, int]]:
        found = []
        for node in tree.preorder():
            if node.children and not node.children[0].is_leaf:
                words = [kept.index(word) for word in node.leaves() if word in kept]
                label = node.label.split("-")[0].replace("PRT", "ADVP")
                if words and label != "TOP":
                    found.append((label, min(words), max(words) + 1))
        return found

    def kept_words(tree: Tree) -> list[str]:
        return [n.children[0].label for n in tree.preorder() if n.children and n.children[0].is_leaf and n.label != ","]

    # Both trees have the same words, so that the tags of the gold tree decide.
    if not kept_words(gold):
        return (-1, -1, -1, -1)
    golds, parses = brackets(gold, kept_words(gold)), brackets(parse, kept_words(gold))
    left, matched = list(golds), 0
    for one in parses:
        if one in left:
            left.remove(one)
            matched += 1
    crossing = sum(any(a < s < b < e or s < a < e < b for _, a, b in golds) for _, s, e in parses)
    return matched, len(golds), len(parses), crossing


@given(bracketings(), bracketings())
def test_against_a_slow_count(gold: Tree, parse: Tree) -> None:
    score = score_forest(gold, [parse])[0]
    found = (score.matched, score.gold, score.predicted, score.crossing) if score.status == "ok" else (-1, -1, -1, -1)
    assert found == slow(gold, parse)


@pytest.mark.slow
@given(st.lists(bracketings(), max_size=5), st.booleans())
def test_parses_against_each_other(parses: list[Tree], compare_words: bool) -> None:
    rules = replace(COLLINS, compare_words=compare_words)
    expected = [[score.f1 for score in score_forest(one, parses, rules=rules)] for one in parses]
    assert mutual_f1(parses, rules=rules).tolist() == expected


@pytest.mark.slow
def test_stored_scores_of_real_parses(data: Path) -> None:
    """108,534 parses with matched brackets and F1 as another program counted them, without comparing words."""
    from sapwood import corpora

    rules = replace(COLLINS.deleting("S1", "-LRB-", "-RRB-"), compare_words=False)
    first, oracle, count = [], [], 0
    for one in corpora.nbest.read(data / "nbest-wsj-sample/wsj_sample_30best.jsonl.xz"):
        assert one.gold is not None
        scores = score_forest(one.gold, one.parses, rules=rules)
        assert [score.matched for score in scores] == one.matched.tolist()
        assert [score.predicted for score in scores] == one.brackets.tolist()
        assert {score.gold for score in scores} == {one.gold_brackets}
        assert max(abs(score.f1 - stored) for score, stored in zip(scores, one.f1, strict=True)) < 6e-6
        first.append(scores[0])
        oracle.append(max(scores, key=lambda score: score.f1))
        count += len(scores)
    assert count == 108534
    assert round(ParsevalSummary.of(first).f1, 4) == 0.8675
    assert round(ParsevalSummary.of(oracle).f1, 4) == 0.9394


def test_arrays_lists_and_strings_score_alike() -> None:
    trees = ["(S (NP (NN a)))", "(S (VP (VB b)))"]
    assert parseval(TreeArray(trees), trees).overall == parseval(trees, [Tree.fromstring(one) for one in trees]).overall
