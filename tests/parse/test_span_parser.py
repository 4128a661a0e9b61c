"""The span parser: what it learns, what its chart says, and that its network is the one that was trained."""

from __future__ import annotations

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.parse.annotation import clean
from sapwood.parse.spans.batches import BatchMaker
from sapwood.parse.spans.calibration import calibrate
from sapwood.parse.spans.features import WordFeatures, word_shape
from sapwood.parse.spans.labels import SpanVocabulary, span_sentence
from sapwood.parse.spans.network import Network
from sapwood.parse.spans.parser import SpanParser
from sapwood.words import Encoder
from tiny_encoders import make_encoder

# Most of them train.
pytestmark = pytest.mark.slow
needs_torch = pytest.mark.skipif(
    __import__("importlib.util").util.find_spec("torch") is None, reason="PyTorch is not installed"
)
SMALL = {
    "hidden_size": 32, "span_size": 32, "word_size": 16, "piece_size": 16, "layers": 1, "patience": None,
    "batch_size": 8, "dropout": 0.1, "learning_rate": 0.01,
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Train on one thread: for networks this small, PyTorch's threads would only wait for each other."""
    with sw.options(threads=1):
        yield


@pytest.fixture(scope="module")
def trees():
    return nursery.generate(size=120).trees


@pytest.fixture(scope="module")
def parser(trees):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    return SpanParser(**SMALL, epochs=12).fit(trees[:90], validation=trees[90:])


def taken_apart(text: str):
    return span_sentence(clean(sw.Tree.fromstring(text), 0)[1])


def test_labels_of_a_tree():
    one = taken_apart("(TOP (S (NP (PRP She)) (VP (VBD slept) (ADVP (RB well))) (. .)))")
    assert one.words == ("She", "slept", "well", ".")
    assert one.tags == ("PRP", "VBD", "RB", ".")
    assert one.spans == ((0, 1, ("NP",)), (2, 3, ("ADVP",)), (1, 3, ("VP",)), (0, 4, ("S",)))
    assert taken_apart("(S (VP (VB Go)))").spans == ((0, 1, ("S", "VP")),)


def test_rare_chains_are_left_to_their_top():
    sentences = [taken_apart("(S (VP (VB Go)))"), *[taken_apart("(S (NP (NN x)) (VP (VB y) (NP (NN z))))")] * 2]
    vocabulary = SpanVocabulary.of(sentences, None)
    assert ("S", "VP") not in vocabulary.chains
    numbers = {chain: number for number, chain in enumerate(vocabulary.chains)}
    assert vocabulary.chains[vocabulary.number(("S", "VP"), numbers)] == ("S",)


def test_features_of_words():
    features = WordFeatures.of([["The", "dog"], ["the", "dogs"]], min_count=2, buckets=1000)
    assert list(features.words) == ["the"]
    assert features.of_word("THE")[0] == 1
    assert features.of_word("cat")[0] == 0
    shared = set(features.of_word("dogs")[2]) & set(features.of_word("dog")[2])
    assert len(shared) >= 3
    assert len(features.of_word("x" * 10_000)[2]) < 100
    assert word_shape("iPhone-7") == "aAa-0"


@needs_torch
def test_learns(parser, trees):
    held = trees[90:]
    found = parser.parse_batch([tree.leaves() for tree in held])
    assert [tree.leaves() for tree in found] == [tree.leaves() for tree in held]
    assert max(one.score for one in parser.history_) > 0.75
    assert [one.how for one in parser.parse_text("A cow will like this apple.")] == ["parser"]


@needs_torch
def test_network_is_that_of_pytorch(parser, trees):
    """The native forward pass gives the scores of the module that was trained."""
    from sapwood.parse.spans import training

    rng = np.random.default_rng(0)
    features, vocabulary = parser._network.features, parser.vocabulary_
    setting = training.Training(12, 8, 16, 32, 2, 24, 0.0, 0.0, 1, 4, 0.1, 0.0, None, 0)
    model = training.SpanModel(setting, features, vocabulary, 20)
    model.parts.eval()
    sentences = [span_sentence(clean(tree, 0)[1]) for tree in trees[:7]]
    dense = [rng.normal(size=(len(one.words), 20)).astype(np.float32) for one in sentences]
    data = BatchMaker(sentences, dense, features, vocabulary, setting.batch_size, setting.word_dropout)
    with model.torch.no_grad():
        spans, tags = model.scores(data.batch(range(7), None))
    network = parser._network.__class__(features, model.weights())
    found = network.score([one.words for one in sentences], dense, 2)
    np.testing.assert_allclose(found[0].reshape(spans.shape), spans.numpy(), atol=2e-4)
    np.testing.assert_allclose(found[1], tags.numpy(), atol=2e-4)


@needs_torch
def test_gradient_of_the_loss(trees):
    """The gradient with respect to some weights is that of finite differences."""
    from sapwood.parse.spans import training

    sentences = [span_sentence(clean(tree, 0)[1]) for tree in trees[:3]]
    features = WordFeatures.of((one.words for one in sentences), min_count=1, buckets=50)
    vocabulary = SpanVocabulary.of(sentences, None)
    setting = training.Training(4, 4, 4, 4, 1, 8, 0.0, 0.0, 1, 4, 0.1, 0.0, None, 0)
    model = training.SpanModel(setting, features, vocabulary, 0)
    model.parts.double()
    data = BatchMaker(sentences, None, features, vocabulary, setting.batch_size, setting.word_dropout)
    batch = data.batch(range(3), None)
    model.loss(batch).backward()
    for tensor in (
        model.parts["span_output"].weight,
        model.parts["span_hidden"].weight,
        model.parts["tag_output"].bias,
    ):
        index = (0,) * tensor.ndim
        with model.torch.no_grad():
            losses = []
            for step in (1e-5, -1e-5):
                tensor[index] += step
                losses.append(float(model.loss(batch)))
                tensor[index] -= step
        assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(float(tensor.grad[index]), abs=1e-5)


@needs_torch
@pytest.mark.parametrize("tree", ["minimum-risk", "best"])
def test_trees_do_not_depend_on_batch_or_threads(parser, trees, tree):
    parser = copy(parser).set_params(tree=tree)
    sentences = [["rain"], *(tree.leaves() for tree in trees[:40])]
    alone = [parser.parse(words) for words in sentences]
    for threads in (1, 2):
        with sw.options(threads=threads):
            assert list(parser.parse_batch(sentences[::-1]))[::-1] == alone


@needs_torch
def test_what_the_chart_says(parser, trees):
    words = max((tree.leaves() for tree in trees[90:]), key=len)
    chart = parser.chart(words)
    best = chart.nbest(10)
    most_probable = copy(parser).set_params(tree="best")
    assert best.parses[0] == chart.best() == most_probable.parse(words)
    assert parser.parse(words) == chart.minimum_risk()
    with pytest.raises(ParameterError, match="tree must be one of"):
        copy(parser).set_params(tree="first").parse(words)
    assert (np.diff(best.scores) <= 0).all()
    for tree, score in zip(best.parses, best.scores, strict=True):
        assert chart.log_probability(tree) == pytest.approx(score, abs=1e-4)
    assert np.exp(best.scores).sum() <= 1 + 1e-6
    probable = chart.probabilities(chart.best())
    assert all(0 <= value <= 1 + 1e-6 for value in probable.values())
    assert probable[0, len(words), chart.best().label] > 0.3
    assert chart.entropy() >= 0
    drawn = chart.sample(300, random_state=1)
    assert [str(tree) for tree in drawn] == [str(tree) for tree in chart.sample(300, random_state=1)]
    tags = np.exp(chart._best_tags())
    share = np.mean([tree == chart.best() for tree in drawn])
    assert share == pytest.approx(np.exp(best.scores[0]) / tags, abs=0.15)
    assert chart.minimum_risk().leaves() == tuple(words)
    per_word = {one.begin: one.probability for one in reversed(chart.tags(0.0))}
    assert len(per_word) == len(words)
    assert set(chart.to_dict()) == {"words", "tree", "constituents", "tags", "entropy"}
    assert chart.log_probability(sw.Tree("QQ", chart.best().children)) == float("-inf")
    with pytest.raises(DataError, match="other words"):
        chart.log_probability("(S (NN x))")


@needs_torch
def test_survives(parser, trees, tmp_path):
    words = trees[95].leaves()
    wanted = parser.parse(words)
    sw.save(parser, tmp_path / "span.sap")
    for other in (
        sw.load(tmp_path / "span.sap"), pickle.loads(pickle.dumps(parser)), deepcopy(parser), clone(parser)
    ):  # fmt: skip
        assert other.parse(words) == wanted
        np.testing.assert_array_equal(other.chart(words)._spans, parser.chart(words)._spans)


@needs_torch
def test_goes_on_from_a_checkpoint(trees, tmp_path):
    def fit(epochs_seen: list[int], stop: int | None = None):
        def report(progress):
            epochs_seen.append(progress.epoch)
            if progress.epoch == stop:
                raise KeyboardInterrupt

        parser = SpanParser(**SMALL, epochs=4, checkpoint=path)
        return parser.fit(trees[:30], validation=trees[90:], report=report)

    path = None
    whole = fit([])
    path = tmp_path / "state.sap"
    seen: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        fit(seen, stop=3)
    again: list[int] = []
    resumed = fit(again)
    assert seen == [1, 2, 3]
    assert again[0] in (2, 3)
    for name, weights in whole._network.weights.items():
        np.testing.assert_array_equal(resumed._network.weights[name], weights)
    with pytest.raises(ModelFileError, match="other data or parameters"):
        SpanParser(**SMALL, epochs=4, checkpoint=path).fit(trees[:30])


@needs_torch
def test_the_first_training_of_a_process_is_like_later_ones(trees, tmp_path):
    import torch

    made = []
    # What PyTorch begins with, and what training leaves behind. Initial weights depend on the number of threads, too.
    for threads in (2, 1):
        torch.set_num_threads(threads)
        path = tmp_path / f"{threads}.sap"
        sw.save(SpanParser(epochs=1, patience=None, networks=1).fit(trees[:12]), path)
        made.append(path.read_bytes())
    assert made[0] == made[1]


@needs_torch
def test_adapts_a_trained_parser(parser, trees):
    other = sw.TreeArray(["(FRAG (XX zzz) (NN cow))"] * 8)
    adapted = SpanParser(**SMALL, epochs=8).fit(other, start=parser)
    assert str(adapted.parse(["zzz", "cow"])) == "(FRAG (XX zzz) (NN cow))"
    assert ("FRAG",) in adapted.vocabulary_.chains
    assert set(parser.vocabulary_.chains) <= set(adapted.vocabulary_.chains)
    with pytest.raises(ParameterError, match="another shape"):
        SpanParser(**{**SMALL, "hidden_size": 16}, epochs=1).fit(other, start=parser)


@needs_torch
@pytest.mark.parametrize("words", [["x" * 10_000], ["дом", "стоит"], ["a"] * 450, ["🙂"], ["-LRB-"]])
def test_any_words_have_a_tree(parser, words):
    (found,) = parser.parse_sentences([words])
    assert found.tree.leaves() == tuple(words)
    assert found.how == ("pieces" if len(words) > 200 else "parser")


@needs_torch
def test_one_tree_is_enough_to_learn_from():
    parser = SpanParser(**SMALL, epochs=2).fit(["(S (NP (NN rain)) (VP (VBD fell)))"])
    assert parser.parse(["rain", "fell"]).leaves() == ("rain", "fell")


def test_untrained():
    with pytest.raises(NotFittedError, match="SpanParser"):
        SpanParser().parse(["rain"])


@pytest.mark.parametrize(
    ("trees", "says"),
    [([], "no trees"), (["(NN rain)"], "no tree has a label"), ([["(S (NN a))"] * 2], "single trees")],
)
def test_trees_that_nothing_is_learnt_from(trees, says):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(DataError, match=says):
        SpanParser().fit(trees)


@pytest.mark.parametrize(
    "wrong", [{"hidden_size": 30}, {"epochs": 0}, {"dropout": 2}, {"max_length": 1}, {"layers": 0.5}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SpanParser(**wrong).fit(["(S (NN a))"])


@needs_torch
def test_a_parser_knows_its_encoder(trees, tmp_path, monkeypatch):
    for package in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.delenv("SAPWOOD_DATA", raising=False)
    make_encoder(tmp_path / "data" / "tiny", "bert")
    parser = SpanParser(**SMALL, epochs=1, encoder=str(tmp_path / "data" / "tiny")).fit(trees[:20])
    words = trees[0].leaves()
    sw.save(parser, tmp_path / "p.sap")
    loaded = sw.load(tmp_path / "p.sap")
    assert loaded.encoder is None
    for call in (loaded.chart, loaded.parse, lambda words: list(loaded.parse_sentences([words]))):
        with pytest.raises(ModelFileError, match="the encoder 'tiny' is not on this machine"):
            call(words)
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "data"))
    assert loaded.parse(words) == parser.parse(words)
    other = make_encoder(tmp_path / "other" / "tiny", "bert", "bert.")
    assert other
    loaded.encoder = tmp_path / "other" / "tiny"
    with pytest.raises(ModelFileError, match="whose weights have the SHA-256"):
        loaded.chart(words)
    loaded.encoder = Encoder(tmp_path / "data" / "tiny", pieces="mean")
    with pytest.raises(ModelFileError, match="Pass an Encoder with the same settings"):
        loaded.chart(words)


class TestLists:
    def test_many_sentences_are_as_each_alone(self, parser, trees):
        words = [tree.leaves() for tree in trees[:4]]
        together = parser.parse_nbest_batch(words, 5)
        for one, given in zip(together, words, strict=True):
            alone = parser.parse_nbest(given, 5)
            assert list(map(str, one.parses)) == list(map(str, alone.parses))
            assert one.scores.tolist() == alone.scores.tolist()
            assert one.how == "parser"
            assert one.parses[0] == parser.chart(given).best()

    def test_a_long_sentence_has_one_tree(self, parser, trees):
        words = [word for tree in trees[:4] for word in tree.leaves()]
        short = copy(parser).set_params(max_length=12, tree="best")
        found = short.parse_nbest(words, 5)
        assert (len(found), found.how) == (1, "pieces")
        assert str(found.parses[0]) == str(short.parse(words))
        assert found.scores[0] < 0


@needs_torch
def test_held_out_trees_make_probabilities_hold(trees):
    """The factors are where the held-out trees, and their tags, are most probable; the best trees stay as they are."""
    sentences = [span_sentence(clean(tree, 0)[1]) for tree in trees]
    with sw.options(threads=1):
        plain = SpanParser(**SMALL, epochs=4, tree="best").fit(trees[:60])
    network = plain._network
    held = sentences[60:90]
    scaled = calibrate(network, plain.vocabulary_, held, None)

    def surprise(span_factor, tag_factor):
        weights = dict(network.weights)
        for kind, factor in (("span", span_factor), ("tag", tag_factor)):
            for name in (f"{kind}_output", f"{kind}_bias"):
                weights[name] = weights[name] * np.float32(factor)
        parser = copy(plain)
        parser._set(Network(network.features, weights), plain.vocabulary_, None)
        charts = parser.charts(tree.leaves() for tree in trees[60:90])
        logs = [chart.log_probability(tree) for chart, tree in zip(charts, trees[60:90], strict=True)]
        # Trees with labels that were never seen are passed over.
        assert sum(np.isfinite(logs)) > 20
        return -sum(value for value in logs if np.isfinite(value))

    found = [float((scaled[f"{kind}_bias"] / network.weights[f"{kind}_bias"])[0]) for kind in ("span", "tag")]
    least = surprise(*found)
    for other in (0.9, 1.1):
        assert surprise(found[0] * other, found[1]) > least
        assert surprise(found[0], found[1] * other) > least
    assert least <= surprise(1.0, 1.0)
    better = copy(plain)
    better._set(Network(network.features, scaled), plain.vocabulary_, None)
    words = [tree.leaves() for tree in trees[60:]]
    assert list(better.parse_batch(words)) == list(plain.parse_batch(words))


@needs_torch
def test_several_networks_are_an_average(trees, tmp_path):
    """Two networks are what the average of two seeds in a row is; each resumes from a file of its own."""
    small = {**SMALL, "epochs": 2}
    told = []
    with sw.options(threads=1):
        two = SpanParser(**small, networks=2, random_state=4, checkpoint=tmp_path / "state.sap")
        two.fit(trees[:60], validation=trees[60:90], report=told.append)
        each = [SpanParser(**small, random_state=seed).fit(trees[:60], validation=trees[60:90]) for seed in (4, 5)]
    sentences = [trees[3].leaves(), trees[91].leaves()]
    for found, wanted in zip(two._scores(sentences), SpanParser.average(each)._scores(sentences), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert [one.epoch for one in told] == [1, 2, 1, 2]
    assert two.history_ == told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state-2.sap", "state.sap"]
    with sw.options(threads=1):
        again = clone(two).fit(trees[:60], validation=trees[60:90])
    assert again.history_ == []
    np.testing.assert_array_equal(again._scores(sentences)[0], two._scores(sentences)[0])
    with pytest.raises(ParameterError, match="networks"):
        SpanParser(networks=0).fit(trees[:10])


@needs_torch
@pytest.mark.slow
def test_networks_trained_at_once(trees, tmp_path):
    """Processes learn what is learnt one after the other, report here, and resume."""
    settings = {**SMALL, "epochs": 2, "networks": 2, "random_state": 4}
    told = []
    with sw.options(threads=1):
        after = SpanParser(**settings).fit(trees[:60], validation=trees[60:90])
    at_once = SpanParser(**settings, n_jobs=2, checkpoint=tmp_path / "state.sap")
    at_once.fit(trees[:60], validation=trees[60:90], report=told.append)
    sentences = [trees[3].leaves(), trees[91].leaves()]
    for found, wanted in zip(at_once._scores(sentences), after._scores(sentences), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert [(one.network, one.epoch) for one in at_once.history_] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert sorted(told, key=lambda one: one.network) == at_once.history_
    assert clone(at_once).fit(trees[:60], validation=trees[60:90]).history_ == []

    def refuse(progress):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        SpanParser(**settings, n_jobs=2).fit(trees[:60], report=refuse)


@needs_torch
def test_an_average_of_parsers(parser, trees, tmp_path):
    """Its scores are the means of theirs; it is saved, and refuses parsers that know other words."""
    with sw.options(threads=1):
        other = SpanParser(**SMALL, epochs=2, random_state=5).fit(trees[:90])
        one = SpanParser(**SMALL, epochs=2).fit(trees[:90])
    both = SpanParser.average([one, other])
    sentences = [trees[3].leaves(), trees[91].leaves()]
    for found, first, second in zip(*(model._scores(sentences) for model in (both, one, other)), strict=True):
        np.testing.assert_allclose(found, (first + second) / 2, rtol=1e-5, atol=1e-6)
    assert both.size()["weights"] == 2 * one.size()["weights"]
    sw.save(both, tmp_path / "both.sap")
    assert list(sw.load(tmp_path / "both.sap").parse_batch(sentences)) == list(both.parse_batch(sentences))
    assert SpanParser.average([one]).parse(sentences[0]) == one.parse(sentences[0])
    with sw.options(threads=1):
        small = SpanParser(**SMALL, epochs=1).fit(trees[:10])
    for wrong, said in (([], "at least one"), ([one, small], "parser 1 knows other words"), ([one, 3], "got a int")):
        with pytest.raises(ParameterError, match=said):
            SpanParser.average(wrong)
    with pytest.raises(ParameterError, match="go on from one"):
        SpanParser(**SMALL).fit(trees[:10], start=both)
