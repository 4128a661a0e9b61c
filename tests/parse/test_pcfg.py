"""The parser: what it learns, what it gives back, and what it makes of bad input."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sapwood as sw
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.metrics import parseval, score_forest
from sapwood.parse import PCFGParser, jackknife

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))",
    "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)) (. .))",
    "(S (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) (VP (VBZ sees) (NP (PRP it))) (. .))",
    "(S (NP (PRP it)) (VP (VBZ sees) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN cat)))) (. .))",
]


@pytest.fixture(scope="module")
def parser() -> PCFGParser:
    return PCFGParser().fit(TREES)


def test_parses_what_it_has_learnt(parser):
    for text in TREES:
        tree = sw.Tree.fromstring(text)
        assert parser.parse(tree.leaves()) == tree


@pytest.mark.slow
def test_nursery_is_parsed_well(garden, gardener):
    gold = list(garden[400:500])
    found = gardener.parse_batch([tree.leaves() for tree in gold])
    assert parseval(gold, found).overall.f1 > 0.9


def test_lists_are_sorted_distinct_and_hold_the_best(parser):
    words = ["it", "sees", "the", "man", "with", "a", "dog", "."]
    found = parser.parse_nbest(words, 20)
    assert len(found) >= 2
    assert (np.diff(found.scores) <= 0).all()
    assert (found.scores < 0).all()
    texts = found.parses.to_strings()
    assert len(set(texts)) == len(texts)
    assert found.parses[0] == parser.parse(words)
    assert all(tree.leaves() == tuple(words) for tree in found.parses)


@pytest.mark.slow
def test_shorter_lists_are_beginnings_of_longer_ones(gardener, garden):
    words = max((tree.leaves() for tree in garden[400:450]), key=len)
    long, short = gardener.parse_nbest(words, 20), gardener.parse_nbest(words, 5)
    np.testing.assert_array_equal(long.scores[: len(short)], short.scores)


def test_the_probability_of_all_trees_is_at_least_that_of_a_long_list(parser):
    exact = clone(parser).set_params(beam=None).fit(TREES)
    words = ["it", "sees", "the", "man", "with", "a", "dog", "."]
    listed = exact.parse_nbest(words, 2000)
    (total,) = exact.log_probability([words])
    assert total >= np.logaddexp.reduce(listed.scores) - 1e-9
    # A few trees have several derivations, of which lists count the best.
    assert total == pytest.approx(np.logaddexp.reduce(listed.scores), abs=0.05)
    assert total < 0


def test_choices_add_up_to_one():
    """Under one tag per word, all sentences of a finite grammar together have probability 1."""
    trees = ["(S (A a) (B b))", "(S (A a) (C c))", "(S (A a) (B b))", "(S (D d))", "(S (X (A a) (B b)) (C c))"]
    parser = PCFGParser(beam=None, backoff=0.0, horizontal=3).fit(trees)
    arrays = parser._model.tables.arrays
    root = parser._model.tables.root
    at_root = np.exp(arrays["chain_weights"][arrays["uppers"] == root])
    assert at_root.sum() == pytest.approx(1.0)
    # Each word has exactly one tag, so that the weight of a tag's only word is the same for all; divide it out.
    lexical = {word: dict(parser._model.lexicon.tags(word, False)) for word in "abcd"}
    total = 0.0
    for tree in dict.fromkeys(trees):
        words = sw.Tree.fromstring(tree).leaves()
        found = parser.parse_nbest(words, 50)
        tags = sum(max(lexical[word].values()) for word in words)
        total += math.exp(found.scores[0] - tags)
    assert total == pytest.approx(1.0, abs=0.05)


def test_given_tags_are_kept(parser):
    words = ["it", "sees", "a", "man", "."]
    tags = ["PRP", "VBZ", "DT", "NN", "."]
    assert [node.label for node in parser.parse(words, tags=tags).preorder() if node.height() == 1] == tags
    # Even against all the parser has seen.
    odd = ["NN", "VBZ", "DT", "NN", "."]
    assert [node.label for node in parser.parse(words, tags=odd).preorder() if node.height() == 1] == odd


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([["PRP"]], "2 words"),
        ([["PRP", "XYZ"]], "has not learnt"),
        ([["PRP", "VBZ"], None], "tags for 2"),
        (["PRP VBZ"], "one per word"),
    ],
)
def test_wrong_tags_are_refused(parser, tags, message):
    with pytest.raises(DataError, match=message):
        parser.parse_batch([["it", "sleeps"]], tags=tags)


@pytest.mark.slow
def test_one_and_two_threads_agree_to_the_last_bit(gardener, garden):
    sentences = [tree.leaves() for tree in garden[400:430]]
    with sw.options(threads=1):
        one = gardener.parse_nbest_batch(sentences, 10)
        alone = gardener.log_probability(sentences[:5])
    with sw.options(threads=2):
        two = gardener.parse_nbest_batch(sentences, 10)
        both = gardener.log_probability(sentences[:5])
    np.testing.assert_array_equal(alone, both)
    for a, b in zip(one, two, strict=True):
        assert a.scores.tobytes() == b.scores.tobytes()
        assert a.parses.to_strings() == b.parses.to_strings()


@pytest.mark.slow
def test_fitting_twice_gives_the_same_bits(garden, tmp_path, fresh):
    code = """
        import hashlib, sapwood as sw
        from sapwood.parse import PCFGParser
        sw.save(PCFGParser().fit(sw.read_trees("trees.mrg")), "p.sap")
        print(hashlib.sha256(open("p.sap", "rb").read()).hexdigest())
    """
    sw.write_trees(garden[:100], tmp_path / "trees.mrg")
    results = [fresh(code, PYTHONHASHSEED=seed) for seed in ("1", "2")]
    assert results[0].returncode == 0, results[0].stderr
    assert results[0].stdout == results[1].stdout


def test_saved_and_loaded_parsers_agree(gardener, garden, tmp_path):
    path = tmp_path / "p.sap"
    sw.save(gardener, path)
    loaded = sw.load(path)
    assert loaded.get_params() == gardener.get_params()
    for tree in garden[500:520]:
        a, b = gardener.parse_nbest(tree.leaves(), 5), loaded.parse_nbest(tree.leaves(), 5)
        assert a.scores.tobytes() == b.scores.tobytes()
        assert a.parses.to_strings() == b.parses.to_strings()


def test_damaged_files_are_refused(parser, tmp_path):
    path = tmp_path / "p.sap"
    sw.save(parser, path)
    data = path.read_bytes()
    for wrong in (data[: len(data) // 2], data.replace(b'\\"root', b'\\"toor'), data.replace(b'\\"words', b'\\"sword')):
        path.write_bytes(wrong)
        with pytest.raises(ModelFileError):
            sw.load(path)


def test_estimator_api(parser):
    assert repr(PCFGParser(beam=5.0)) == "PCFGParser(beam=5.0)"
    assert clone(parser).get_params() == parser.get_params()
    with pytest.raises(NotFittedError):
        PCFGParser().parse(["a"])
    with pytest.raises(NotFittedError):
        sw.save(PCFGParser(), "never.sap")


@pytest.mark.parametrize(
    "wrong",
    [
        {"vertical": 0},
        {"vertical": 9},
        {"horizontal": True},
        {"splits": "all"},
        {"splits": ["nonsense"]},
        {"backoff": -1.0},
        {"backoff": float("nan")},
        {"beam": 0.0},
        {"beam": "wide"},
        {"max_length": 1},
        {"memory_limit": 0.5},
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PCFGParser(**wrong).fit(TREES)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, 10**9])
def test_wrong_lengths_of_lists_are_refused(parser, n):
    with pytest.raises(ParameterError, match="n must be"):
        parser.parse_nbest(["it"], n)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ([], "no words"),
        ("a dog", "got a str"),
        (["a", ""], "is empty"),
        (["a", None], "expected a str"),
        ([b"a"], "expected a str"),
        (["a\0b"], "NUL"),
        (["\ud83d"], "surrogate"),
        (7, "list of words"),
    ],
)
def test_wrong_sentences_are_refused(parser, sentence, message):
    with pytest.raises(DataError, match=message):
        parser.parse(sentence)


@pytest.mark.parametrize(
    "words",
    [
        ["xyzzy"],
        ["\U0001f600", "\U0001f44d\U0001f3fd"],
        ["\x07", "\x1b[31m", "\u200b"],
        ["(", ")", "-LRB-"],
        ["the"] * 30,
        [".", ".", "."],
        ["a b", "\n"],
        ["x" * 10_000],
    ],
    ids=repr,
)
def test_every_sentence_gets_a_tree(parser, words):
    tree = parser.parse(words)
    assert tree.leaves() == tuple(words)
    for other in parser.parse_nbest(words, 5).parses:
        assert other.leaves() == tuple(words)


def test_brackets_and_quotes_as_people_write_them():
    tree = "(S (`` ``) (NP (NN rain)) (PRN (-LRB- -LRB-) (NN snow) (-RRB- -RRB-)) ('' '') (. .))"
    parser = PCFGParser().fit([tree])
    found = parser.parse(["``", "rain", "(", "snow", ")", '"', "."])
    tags = [node.label for node in found.preorder() if node.height() == 1]
    assert tags == ["``", "NN", "-LRB-", "NN", "-RRB-", "''", "."]
    assert found.leaves()[2] == "("


def test_nothing_in_nothing_out(parser):
    assert len(parser.parse_batch([])) == 0
    assert parser.parse_nbest_batch([]) == []


def test_long_lines_are_parsed_in_pieces(gardener, garden):
    words = [word for tree in garden[:400] for word in tree.leaves()][:2000]
    (answer,) = clone(gardener).set_params(max_length=40).fit(garden[:100]).parse_nbest_batch([words], 3)
    assert answer.how == "pieces"
    assert answer.parses[0].leaves() == tuple(words)


def test_a_chart_that_outgrows_its_limit_is_cut(gardener, garden):
    words = [word for tree in garden[:40] for word in tree.leaves()][:150]
    small = clone(gardener).set_params(memory_limit=1.05).fit(garden[:400])
    (answer,) = small.parse_nbest_batch([words])
    assert answer.how == "pieces"
    assert answer.parses[0].leaves() == tuple(words)
    with pytest.raises(DataError, match="memory_limit"):
        small.log_probability([words])


def test_one_tree_is_enough():
    parser = PCFGParser().fit(["(NP (NN rain))"])
    assert str(parser.parse(["rain"])) == "(NP (NN rain))"
    assert parser.parse(["rain", "falls"]).leaves() == ("rain", "falls")
    tag_alone = PCFGParser().fit(["(UH no)"])
    assert str(tag_alone.parse(["no"])) == "(UH no)"
    assert tag_alone.parse(["no", "no", "no"]).leaves() == ("no", "no", "no")


def test_conflicting_roots_follow_the_majority():
    inside = ["(S (NP (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ falls)))"]
    mixed = PCFGParser().fit([f"(TOP {inside[0]})", f"(ROOT {inside[1]})", f"(TOP {inside[1]})", inside[0]])
    assert mixed.wrapper_ == "TOP"
    assert str(mixed.parse(["rain", "falls"])) == f"(TOP {inside[0]})"
    bare = PCFGParser().fit([f"(TOP {inside[0]})", inside[0], inside[1], "(FRAG (NN rain) (. .))"])
    assert bare.wrapper_ is None
    assert str(bare.parse(["rain", "falls"])) == inside[0]
    # What no grammar covers is put together under the same wrapper.
    assert mixed.parse(["falls", "rain", "falls", "rain"]).label == "TOP"


def test_cycles_of_unaries_are_learnt_as_they_are():
    trees = ["(S (NP (S (NP (NN rain)))))", "(NP (NP (NP (NN rain))))", "(S (NP (NN snow)))", "(NP (S (NN snow)))"]
    parser = PCFGParser(beam=None).fit(trees)
    found = parser.parse_nbest(["rain"], 50)
    assert set(trees[:2]) <= set(found.parses.to_strings())
    assert len(found) < 50
    (total,) = parser.log_probability([["rain"]])
    assert total == pytest.approx(np.logaddexp.reduce(found.scores), abs=1e-9)


@pytest.mark.parametrize(
    ("trees", "message"),
    [
        ([], "no trees"),
        (["(NP the dog)"], "tree 0: the word 'the' stands beside others"),
        (["(NP (NN dog))", "(NP (DT a) dog)"], "tree 1: the word 'dog'"),
        (["(S (NP (-NONE- *)))"], "tree 0 has no word"),
        (["word"], "tree 0 has no word"),
        ([["(NP (NN a))", "(NP (NN b))"]], "bags"),
    ],
)
def test_treebanks_that_teach_nothing_are_refused(trees, message):
    with pytest.raises(DataError, match=message):
        PCFGParser().fit(trees)


def test_traces_and_function_tags_are_taken_off():
    parser = PCFGParser().fit(["(S (NP-SBJ-1 (NN rain)) (VP (VBD stopped) (NP (-NONE- *-1))) (. .))"])
    assert str(parser.parse(["rain", "stopped", "."])) == "(S (NP (NN rain)) (VP (VBD stopped)) (. .))"


@pytest.mark.slow
def test_deep_and_wide_trees_are_learnt():
    deep = sw.Tree("NN", ["rain"])
    for _ in range(5000):
        deep = sw.Tree("NP", [deep])
    branching = sw.Tree("NN", ["rain"])
    for _ in range(2000):
        branching = sw.Tree("NP", [branching, sw.Tree("NN", ["rain"])])
    wide = sw.Tree("NP", [sw.Tree("NN", ["rain"])] * 3000)
    parser = PCFGParser().fit([deep, branching, wide])
    assert parser.parse(["rain"] * 3).leaves() == ("rain",) * 3


def test_labels_may_hold_anything():
    odd = sw.Tree("N^P", [sw.Tree("a b", ["x"]), sw.Tree("|", ["y"])])
    assert PCFGParser().fit([odd]).parse(["x", "y"]) == odd


@pytest.mark.slow
def test_interrupting_stops_within_a_second(garden, tmp_path, interrupt):
    sw.write_trees(garden[:100], tmp_path / "trees.mrg")
    code = """
        import sapwood as sw
        from sapwood.parse import PCFGParser
        trees = sw.read_trees("trees.mrg")
        parser = PCFGParser(beam=None, max_length=2000, memory_limit=2150.0).fit(trees)
        words = [word for tree in trees for word in tree.leaves()] * 2
        print("ready", flush=True)
        try:
            parser.parse(words[:1500])
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """
    assert interrupt(code, after=1.0) == "stopped\n"


def test_jackknifed_lists_come_from_other_folds(garden):
    trees = garden[:60]
    lists = jackknife(trees, 3, n=5)
    assert [one.fold for one in lists] == [0] * 20 + [1] * 20 + [2] * 20
    assert [one.gold for one in lists] == list(trees)
    # The same parses that a parser learnt from the others gives.
    apart = PCFGParser().fit(trees[20:])
    expected = apart.parse_nbest(trees[0].leaves(), 5)
    np.testing.assert_array_equal(lists[0].scores, expected.scores)
    with pytest.raises(ParameterError, match="folds"):
        jackknife(trees, 1)
    with pytest.raises(DataError, match="fewer folds"):
        jackknife(trees[:2], 3)


def test_lists_are_written_and_read_back(garden, tmp_path):
    from sapwood import corpora

    lists = jackknife(garden[:12], 2, n=3)
    corpora.nbest.write(lists, tmp_path / "lists.jsonl")
    again = list(corpora.nbest.read(tmp_path / "lists.jsonl"))
    assert [one.parses.to_strings() for one in again] == [one.parses.to_strings() for one in lists]
    assert [one.fold for one in again] == [one.fold for one in lists]


@pytest.mark.slow
def test_real_sentences(treebank_texts):
    """A fortieth of the sample: enough to see that nothing is broken. The full figures are in the docs."""
    train = sw.read_trees(io.StringIO("\n".join(treebank_texts[:40])))
    gold = list(sw.read_trees(io.StringIO("\n".join(treebank_texts[40:46])), drop_traces=True, drop_function_tags=True))
    gold = [tree for tree in gold if len(tree.leaves()) <= 25][:25]
    parser = PCFGParser().fit(train)
    lists = parser.parse_nbest_batch([tree.leaves() for tree in gold], 10)
    assert parseval(gold, [one.parses[0] for one in lists]).overall.f1 > 0.6
    oracle = [max(score.f1 for score in score_forest(tree, one.parses)) for tree, one in zip(gold, lists, strict=True)]
    best = [score_forest(tree, [one.parses[0]])[0].f1 for tree, one in zip(gold, lists, strict=True)]
    assert np.mean(oracle) > np.mean(best) + 0.02
