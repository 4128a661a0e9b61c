"""Frame arguments by words in context: what the network is told, that it is the one that was trained, and files."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.base import clone

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.errors import DataError, ModelFileError, ParameterError
from sapwood.tasks.frames import FrameIdentifier, FrameLabeler, FrameParser, ParsedSentence, nursery_frames
from sapwood.tasks.frames.context import training
from sapwood.tasks.frames.context.batches import Numbered, joined
from sapwood.tasks.frames.context.network import SHAPES, scores, wrong_shape
from sapwood.tasks.frames.context.roles import RoleNumbers, key_numbers, role_phrases
from sapwood.tasks.frames.context.rows import PLACES, CodeNumbers, sentence_rows
from sapwood.tasks.frames.identifier import _codes
from sapwood.tasks.frames.instances import instances_of, right_choices
from sapwood.tasks.frames.rows import TargetInstance
from sapwood.words import Encoder
from tiny_encoders import make_encoder

PACKAGES = ("torch", "onnx", "onnxruntime", "tokenizers")
SMALL = {"bits": 16, "epochs": 2, "alpha": 0.3}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with sw.options(threads=1):
        yield


@pytest.fixture(scope="module")
def frames():
    lexicon, data = nursery_frames(nursery.generate(size=160))
    return lexicon, data[:120], data[120:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    place = tmp_path_factory.mktemp("encoders")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("SAPWOOD_DATA", str(place / "data"))
        make_encoder(place / "data" / "tiny", "bert")
        yield place / "data" / "tiny"


@pytest.fixture(scope="module")
def labeler(frames, folder):
    lexicon, train, _ = frames
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sapwood.tasks.frames.labeler.Training", _tiny_training)
        yield FrameLabeler(**SMALL, pieces=True, encoder=str(folder), networks=2).fit(train, lexicon=lexicon)


def _tiny_training(seed):
    return training.Training(token_size=32, candidate_size=32, pair_size=8, dropout=0.1, learning_rate=5e-3, seed=seed)


def test_words_of_candidates():
    sentence = ParsedSentence.from_tree(
        sw.Tree.fromstring("(S (NP (DT The) (NN dog)) (VP (VBD gave) (NP (NNP Kim)) (NP (DT a) (NN bone))))")
    )
    candidates = (((0, 1),), ((3, 3),), ((0, 1), (4, 5)))
    (rows,) = sentence_rows([TargetInstance(sentence, (2,), "Giving", candidates)])
    assert (rows.frames, rows.sizes.tolist()) == (("Giving",), [4])
    ends = np.cumsum(rows.place_counts)
    bags = [
        {(number // len(PLACES), PLACES[number % len(PLACES)]): weight for number, weight in zip(*part, strict=True)}
        for part in zip(np.split(rows.places, ends[:-1]), np.split(rows.weights, ends[:-1]), strict=True)
    ]
    assert bags[0] == {
        (0, "first"): 1, (1, "second"): 1, (1, "last"): 1, (1, "head"): 1, (1, "content"): 1, (2, "behind"): 1,
        (2, "target"): 1, (0, "inside"): 0.5, (1, "inside"): 0.5,
    }  # fmt: skip
    assert bags[1][3, "inside"] == bags[1][2, "ahead"] == bags[1][4, "behind"] == 1
    assert not any(place == "second" for _, place in bags[1])
    # Two pieces count half each, and there is nothing to see where a role is left unfilled.
    assert bags[2][2, "target"] == 0.5
    assert bags[2][0, "first"] == bags[2][4, "first"] == 0.5
    assert bags[2][5, "inside"] == 0.25
    assert bags[3] == {(2, "target"): 1}


def test_roles_share_what_they_inherit(frames):
    lexicon, _, _ = frames
    keys, count = key_numbers(lexicon, True)
    alone, fewer = key_numbers(lexicon, False)
    assert len(keys) == len(alone) == RoleNumbers(lexicon).count == len(list(role_phrases(lexicon)))
    assert keys.max() == count - 1
    assert fewer < count
    assert alone.shape[1] == 2


def _model(frames, setting, width=12):
    lexicon, train, _ = frames
    instances = instances_of(train[:9], pieces=True, gold=True)
    right = right_choices(train[:9], instances, lexicon)
    rows = sentence_rows(instances)
    numbers = [CodeNumbers.of([getattr(one, name) for one in rows], 2) for name in ("token_codes", "features")]
    sentences = [Numbered.of(one, *numbers, RoleNumbers(lexicon)) for one in rows]
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(len(one.words), width)).astype(np.float16) for one in rows]
    keys, count = key_numbers(lexicon, True)
    names = rng.normal(size=(len(keys), width)).astype(np.float32)
    center, spread = rng.normal(size=width).astype(np.float32), np.full(width, 2.0, np.float32)
    sizes = training.Sizes(len(numbers[0]), len(numbers[1]), count, width)
    return training.ContextModel(setting, sizes, keys, names, center, spread), sentences, vectors, right


def test_the_network_is_that_of_pytorch(frames):
    torch = pytest.importorskip("torch")
    model, sentences, vectors, _ = _model(frames, training.Training(token_size=8, candidate_size=12, pair_size=6))
    model.parts.eval()
    with torch.no_grad():
        for name in ("norm", "frame", "state", "hidden"):
            torch.nn.init.normal_(model.parts[name].bias)
    batch = joined(sentences, vectors)
    with torch.no_grad():
        expected = [torch.log_softmax(table, dim=1).numpy() for table in model.scores(batch)]
    weights = model.weights()
    assert list(weights) == list(SHAPES)
    assert wrong_shape(weights, {}) is None
    found = scores(weights, batch)
    assert [one.shape for one in found] == batch.shapes
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
        np.testing.assert_allclose(np.exp(one).sum(axis=1), 1.0, rtol=1e-12)
    # Sentences beside each other change nothing.
    alone = [
        table
        for one, states in zip(sentences, vectors, strict=True)
        for table in scores(weights, joined([one], [states]))
    ]
    for one, other in zip(found, alone, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_gradient_of_the_loss(frames):
    torch = pytest.importorskip("torch")
    setting = training.Training(token_size=4, candidate_size=6, pair_size=3, dropout=0.0)
    model, sentences, vectors, right = _model(frames, setting)
    model.parts.double()
    model._center, model._spread, model._names = (one.double() for one in (model._center, model._spread, model._names))
    batch = joined(sentences, vectors)
    model.loss(batch, right).backward()
    for name in ("state", "place", "frame", "role_names", "query", "pair_role"):
        tensor = model.parts[name].weight
        with torch.no_grad():
            losses = []
            for step in (1e-5, -1e-5):
                tensor[0, 0] += step
                losses.append(float(model.loss(batch, right)))
                tensor[0, 0] -= step
        assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(float(tensor.grad[0, 0]), abs=1e-6)


@pytest.mark.slow
def test_learns(frames, folder, labeler):
    lexicon, _, test = frames
    alone = clone(labeler).set_params(context_weight=1.0)
    alone.__dict__.update({name: getattr(labeler, name) for name in ("model_", "lexicon_", "context_", "_spec")})
    assert alone.score(test) > 0.8
    found = labeler.score_candidates(test)
    for table, problem in zip(found.tables, found.problems(lexicon), strict=True):
        assert table.shape[1] == len(problem.spans)
    results = sw.decode.decode_roles_batch(found.problems(lexicon))
    assert not any(sum(one.violations.values()) for one in results)
    # Both models are distributions, and so is their mixture but for a constant per role.
    context = labeler.context_.tables(found.instances, lexicon, labeler._context())
    plain = FrameLabeler(**SMALL, pieces=True)
    plain.model_, plain.lexicon_, plain.context_ = labeler.model_, lexicon, None
    for mixed, one, other in zip(found.tables, context, plain.score_candidates(test).tables, strict=True):
        np.testing.assert_allclose(np.exp(one).sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(mixed, 0.5 * one + 0.5 * log_softmax(other, axis=1))


@pytest.mark.slow
def test_without_an_encoder_nothing_changes(frames, labeler):
    lexicon, train, test = frames
    plain = FrameLabeler(**SMALL, pieces=True).fit(train, lexicon=lexicon)
    assert plain.context_ is None
    np.testing.assert_array_equal(plain.model_.weights_, labeler.model_.weights_)
    with_nothing = clone(labeler).set_params(context_weight=0.0)
    with_nothing.__dict__.update({name: value for name, value in labeler.__dict__.items() if name.endswith("_")})
    with_nothing._spec = labeler._spec
    pairs = zip(plain.predict(test), with_nothing.predict(test), strict=True)
    for one, other in (
        (one, other) for pair in pairs for one, other in zip(*(each.frames for each in pair), strict=True)
    ):
        assert [replace(each, margin=0.0) for each in one.fillers] == [
            replace(each, margin=0.0) for each in other.fillers
        ]
    # The network may be learnt afterwards.
    later = plain.set_params(encoder=labeler.encoder, networks=2).fit_context(train)
    for one, other in zip(later.score_candidates(test).tables, labeler.score_candidates(test).tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_survives(frames, folder, labeler, tmp_path, monkeypatch):
    lexicon, train, test = frames
    expected = labeler.predict(test)
    sw.save(labeler, tmp_path / "labeler.sap")
    loaded = sw.load(tmp_path / "labeler.sap")
    assert (loaded.encoder, loaded.networks) == (None, 2)
    assert loaded.predict(test) == expected
    assert pickle.loads(pickle.dumps(labeler)).predict(test) == expected
    assert clone(labeler).encoder == str(folder)
    parser = FrameParser(labeler=labeler).fit(train[:40], lexicon=lexicon)
    sw.save(parser, tmp_path / "parser.sap")
    assert sw.load(tmp_path / "parser.sap").predict(test[:3]) == parser.predict(test[:3])
    make_encoder(tmp_path / "other", "distilbert")
    loaded.encoder = str(tmp_path / "other")
    with pytest.raises(ModelFileError, match="SHA-256"):
        loaded.predict(test)
    loaded.encoder = Encoder(folder, pieces="first")
    with pytest.raises(ModelFileError, match="Pass an Encoder with the same settings"):
        loaded.predict(test)
    monkeypatch.setenv("SAPWOOD_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="tiny"):
        sw.load(tmp_path / "labeler.sap").predict(test)


@pytest.mark.slow
def test_a_network_that_does_not_fit_is_refused(labeler, tmp_path):
    broken = pickle.loads(pickle.dumps(labeler))
    broken.context_.networks[1]["roles"] = broken.context_.networks[1]["roles"][:-1]
    sw.save(broken, tmp_path / "broken.sap")
    with pytest.raises(ModelFileError, match="'roles' of its network"):
        sw.load(tmp_path / "broken.sap")


def test_wrong_parameters(frames, monkeypatch):
    lexicon, train, _ = frames
    for wrong in ({"context_weight": 1.5}, {"networks": 0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            FrameLabeler(**wrong).fit(train, lexicon=lexicon)
    with pytest.raises(DataError, match="no-such-encoder"):
        FrameLabeler(encoder="no-such-encoder").fit(train, lexicon=lexicon)
    plain = FrameLabeler(**SMALL).fit(train, lexicon=lexicon)
    with pytest.raises(ParameterError, match="need an encoder"):
        plain.fit_context(train)


def test_training_says_that_it_needs_pytorch(frames, folder, monkeypatch):
    lexicon, train, _ = frames
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match=r"training a FrameLabeler .* needs PyTorch.*sapwood\[train\]"):
        FrameLabeler(**SMALL, encoder=str(folder)).fit(train, lexicon=lexicon)


def test_frames_are_identified_in_context(frames, folder, tmp_path):
    lexicon, train, test = frames
    found = FrameIdentifier(encoder=str(folder)).fit(train, lexicon=lexicon)
    plain = FrameIdentifier().fit(train, lexicon=lexicon)
    gold = [[target.frame for target in one.targets] for one in test]
    chosen = found.choose(test)
    right = [a == b for one, other in zip(chosen, gold, strict=True) for a, b in zip(one, other, strict=True)]
    assert np.mean(right) > 0.9
    parses = [one.parse for one in test]
    hits = [len({t.frame for t in one} & set(names)) for one, names in zip(found.predict(parses), gold, strict=True)]
    assert sum(hits) > 0.8 * sum(len(set(names)) for names in gold)
    sw.save(found, tmp_path / "identifier.sap")
    assert sw.load(tmp_path / "identifier.sap").choose(test) == chosen
    # The shares of both models are mixed, frame by frame.
    possible = [each for parse in parses for each in found._candidates(parse, set())]
    both, of_words = (one._scores(possible) for one in (found, plain))
    targets, codes = [(each.sentence, each.tokens) for each in possible], [_codes(each) for each in possible]
    names = [(*each.frames, "<none>") for each in possible]
    of_context = found.context_.scores(targets, codes, names, found._context())
    for mixed, words, context in zip(both, of_words, of_context, strict=True):
        np.testing.assert_allclose(mixed, 0.5 * log_softmax(words) + 0.5 * context)
        np.testing.assert_allclose(np.exp(context).sum(), 1.0)
    with pytest.raises(ParameterError, match="context_weight"):
        FrameIdentifier(context_weight=-1).fit(train, lexicon=lexicon)
