"""Explicit maps: dot products against exact kernels, selection, the API of a transformer, bad input."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC
from sklearn.utils import murmurhash3_32

import sapwood as sw
from oracles.fragments import any_trees, decays, fragments, height, internal_trees, size
from sapwood.errors import DataError, ModelFileError, ParameterError, TooLargeError
from sapwood.kernels import FragmentMap, GrammarDriven, HashedFragmentMap, LandmarkMap, SubsetTree, Subtree, SubtreeMap
from sapwood.kernels.selection import chi_squared, hold_head, information_gain

corpora = st.lists(internal_trees, min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(corpora, st.lists(any_trees, max_size=3), decays)
def test_subtree_map_is_the_subtree_kernel(trees, others, decay):
    mapped = SubtreeMap(decay=decay).fit(trees)
    kernel = Subtree(decay=decay)
    V = mapped.transform(trees)
    np.testing.assert_allclose((V @ V.T).toarray(), kernel(trees), rtol=1e-12)
    if others:
        np.testing.assert_allclose((mapped.transform(others) @ V.T).toarray(), kernel(others, trees), rtol=1e-12)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(corpora, st.lists(any_trees, max_size=3), decays, st.sampled_from([None, 1, 2, 3]))
def test_all_fragments_are_the_subset_tree_kernel(trees, others, decay, max_depth):
    # Each fragment once at least, so this is no less than their number.
    assume(SubsetTree(decay=1.0, max_depth=max_depth).diag(trees).sum() < 300_000)
    mapped = FragmentMap(decay=decay, max_depth=max_depth).fit(trees)
    kernel = SubsetTree(decay=decay, max_depth=max_depth)
    V = mapped.transform(trees)
    # Many thousand summands round on the way.
    np.testing.assert_allclose((V @ V.T).toarray(), kernel(trees), rtol=1e-10)
    if others:
        np.testing.assert_allclose((mapped.transform(others) @ V.T).toarray(), kernel(others, trees), rtol=1e-10)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(corpora, st.sampled_from([None, 1, 2, 4]), st.sampled_from([None, 1, 2]), st.integers(1, 3))
def test_limits_keep_the_right_fragments(trees, max_size, max_depth, min_df):
    counted = [fragments(tree) for tree in trees]
    expected = {
        fragment
        for fragment in set().union(*counted)
        if (max_size is None or size(fragment) <= max_size)
        and (max_depth is None or height(fragment) <= max_depth)
        and sum(fragment in counts for counts in counted) >= min_df
    }
    mapped = FragmentMap(max_size=max_size, max_depth=max_depth, min_df=min_df)
    if not expected:
        with pytest.raises(DataError, match="no fragment"):
            mapped.fit(trees)
        return
    mapped.fit(trees)
    assert len(mapped.fragments_) == len(expected)
    assert set(mapped.fragments_) == expected
    V = mapped.set_params(decay=1.0).fit(trees).transform(trees).toarray()
    for column, fragment in enumerate(mapped.fragments_):
        assert V[:, column].tolist() == [counts[fragment] for counts in counted]


@pytest.fixture(scope="module")
def questions():
    nouns = ["dog", "cat", "tree", "house", "river", "book"]
    trees, labels = [], []
    for noun in nouns:
        for label, first in (("person", "(WP who)"), ("place", "(WRB where)"), ("thing", "(WDT which)")):
            trees.append(f"(Q (WH {first}) (VP (VB sees) (NP-ARG (DT the) (NN {noun}))))")
            labels.append(label)
    return sw.TreeArray(trees), np.array(labels)


@pytest.mark.parametrize("score", ["chi2", "information_gain"])
def test_selection_finds_what_tells_classes_apart(questions, score):
    X, y = questions
    mapped = FragmentMap(select=score, n_fragments=6, max_size=1).fit(X, y)
    words = {"(WP who)", "(WRB where)", "(WDT which)"}
    assert set(mapped.get_feature_names_out()) == words | {"(WH WP)", "(WH WRB)", "(WH WDT)"}
    everything = FragmentMap(select=score, max_size=2).fit(X, y)
    assert (np.diff(everything.scores_) <= 0).all()


def test_scores_against_sklearn():
    from scipy.stats import chi2_contingency
    from sklearn.feature_selection import mutual_info_classif

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    present = (rng.random((90, 7)) < rng.random(7)).astype(float)
    per_class = np.array([present[y == c].sum(axis=0) for c in range(3)])
    totals = np.bincount(y).astype(float)
    expected = [chi2_contingency(np.array([per_class[:, j], totals - per_class[:, j]])).statistic for j in range(7)]
    np.testing.assert_allclose(chi_squared(per_class, totals), expected, rtol=1e-9)
    bits = mutual_info_classif(present, y, discrete_features=True) / np.log(2)
    np.testing.assert_allclose(information_gain(per_class, totals), bits, atol=1e-12)


def test_constraints(questions):
    X, _ = questions
    marked = FragmentMap(holds="*-ARG").fit(X)
    assert all("-ARG" in name for name in marked.get_feature_names_out())
    assert "(VP VB NP-ARG)" in marked.get_feature_names_out()
    called = FragmentMap(holds=lambda label: label.endswith("-ARG")).fit(X)
    assert called.get_feature_names_out().tolist() == marked.get_feature_names_out().tolist()
    table = {("Q", ("WH", "VP")): 1, ("VP", ("VB", "NP-ARG")): 0, ("NP-ARG", ("DT", "NN")): 1}
    headed = FragmentMap(heads=table).fit(X)
    names = headed.get_feature_names_out().tolist()
    assert "(NP-ARG DT (NN dog))" in names
    assert "(NP-ARG (DT the) NN)" not in names
    assert "(Q WH (VP (VB sees) NP-ARG))" in names
    assert "(VP VB NP-ARG)" not in names
    with pytest.raises(DataError, match=r"heads gives None for .* -> "):
        FragmentMap(heads={}).fit(X)
    with pytest.raises(ParameterError, match="heads must be"):
        hold_head(X, 3, frozenset())


def test_most_frequent_fragments(questions):
    X, _ = questions
    mapped = FragmentMap(n_fragments=4).fit(X)
    assert mapped.scores_.tolist() == [18.0] * 4
    assert len(mapped.fragments_) == 4


@pytest.mark.parametrize(
    "make",
    [lambda: SubtreeMap(decay=0.3, min_df=2), lambda: FragmentMap(decay=0.3, max_size=3, select="chi2", n_fragments=9)],
)
def test_transformer_api(make, questions):
    X, y = questions
    mapped = make()
    with pytest.raises(NotFittedError):
        mapped.transform(X)
    with pytest.raises(NotFittedError):
        mapped.get_feature_names_out()
    assert repr(clone(mapped).get_params()) == repr(mapped.get_params())
    assert mapped.fit(X, y) is mapped
    V = mapped.transform(X)
    assert sparse.issparse(V)
    assert V.format == "csr"
    assert V.shape == (len(X), len(mapped.get_feature_names_out()))
    for kind in (list(X), X.to_strings(), [tree.to_nltk() for tree in X]):
        np.testing.assert_array_equal(clone(mapped).fit(kind, y).transform(kind).toarray(), V.toarray())
    np.testing.assert_array_equal(make().fit_transform(X, y).toarray(), V.toarray())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(mapped)).transform(X).toarray(), V.toarray())
    parts = [mapped.transform(X[i : i + 1]).toarray()[0] for i in range(len(X))]
    np.testing.assert_array_equal(np.array(parts), V.toarray())
    assert mapped.transform(X[:0]).shape == (0, V.shape[1])
    assert mapped.transform(["(unheard (of it))"]).nnz == 0
    assert mapped.transform(["leaf"]).nnz == 0


def test_pipeline_and_search(questions):
    X, y = questions
    pipeline = make_pipeline(FragmentMap(select="chi2", n_fragments=20), Normalizer(), LinearSVC())
    assert cross_val_score(pipeline, X, y, cv=3).mean() == 1.0
    search = GridSearchCV(pipeline, {"fragmentmap__max_size": [1, 2]}, cv=2).fit(X, y)
    assert search.score(X, y) == 1.0
    names = search.best_estimator_[0].get_feature_names_out()
    assert len(names) == search.best_estimator_[-1].coef_.shape[1]


def test_normalizer_gives_the_normalized_kernel(questions):
    X, _ = questions
    V = make_pipeline(FragmentMap(decay=0.4), Normalizer()).fit_transform(X)
    np.testing.assert_allclose((V @ V.T).toarray(), SubsetTree(decay=0.4).normalized()(X), rtol=1e-12)


def test_nystroem_takes_tree_arrays(questions):
    X, y = questions
    kernel = SubsetTree(decay=0.4).normalized()
    mapped = LandmarkMap(kernel, n_components=len(X), random_state=0)
    V = mapped.fit_transform(X)
    np.testing.assert_allclose(V @ V.T, kernel(X), atol=1e-9)
    few = LandmarkMap(kernel, n_components=5, random_state=1).fit(X)
    W = few.transform(few.landmarks_)
    np.testing.assert_allclose(W @ W.T, kernel(few.landmarks_), atol=1e-9)
    # The same numbers as scikit-learn's own class gives on feature vectors with these dot products.
    features = FragmentMap(decay=0.4).fit(X)
    normal = Normalizer().fit_transform(features.transform(X))
    theirs = Nystroem(kernel="linear", n_components=5).fit(Normalizer().transform(features.transform(few.landmarks_)))
    A, B = few.transform(X), theirs.transform(normal)
    np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-9)
    pipeline = make_pipeline(LandmarkMap(kernel, n_components=12, random_state=0), LinearSVC())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    assert few.transform(X[:0]).shape == (0, 5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(few)).transform(X), A)
    with pytest.raises(NotFittedError):
        LandmarkMap().transform(X)
    with pytest.raises(ParameterError, match="kernel must be"):
        LandmarkMap("rbf").fit(X)
    with pytest.raises(DataError, match="no examples"):
        LandmarkMap().fit(X[:0])


def test_documents_are_counted_as_one(questions):
    X, _ = questions
    documents = sw.TreeArray([[X[0], X[1]], [X[2]]])
    mapped = FragmentMap(decay=0.4).fit(documents)
    V = mapped.transform(documents)
    np.testing.assert_allclose((V @ V.T).toarray(), SubsetTree(decay=0.4)(documents), rtol=1e-12)


def test_strange_labels_have_names():
    tree = sw.Tree("a b", [sw.Tree("(", ["<x>"]), sw.Tree(")")])
    names = FragmentMap().fit([tree]).get_feature_names_out()
    assert len(set(names)) == 3
    assert sw.Tree.fromstring(names[0]) is not None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"decay": 0.0}, "decay must be"),
        ({"max_size": 0}, "max_size must be"),
        ({"max_depth": 1.5}, "max_depth must be"),
        ({"min_df": 0}, "min_df must be"),
        ({"min_df": None}, "min_df must be"),
        ({"n_fragments": -1}, "n_fragments must be"),
        ({"select": "luck"}, "select must be None or one of 'chi2'"),
        ({"holds": 3}, "holds must be"),
    ],
)
def test_wrong_parameters_are_refused(questions, wrong, message):
    X, y = questions
    with pytest.raises(ParameterError, match=message):
        FragmentMap(**wrong).fit(X, y)


def test_wrong_data_is_refused(questions):
    X, y = questions
    with pytest.raises(DataError, match="needs classes"):
        FragmentMap(select="chi2").fit(X)
    with pytest.raises(DataError, match="one label per tree"):
        FragmentMap(select="chi2").fit(X, y[:-1])
    with pytest.raises(DataError, match="no trees"):
        SubtreeMap().fit(X[:0])
    with pytest.raises(DataError, match="single leaves"):
        SubtreeMap().fit(["leaf"])
    with pytest.raises(DataError, match="one view"):
        SubtreeMap().fit(sw.Examples(tree=X))
    with pytest.raises(DataError, match="expected trees"):
        FragmentMap().fit(np.eye(3))


@pytest.mark.parametrize("wrap", [lambda trees: trees, lambda trees: sw.Examples(tree=trees)])
def test_landmarks_let_go_of_the_training_trees(wrap):
    trees = sw.TreeArray([f"(S (NP n{i}) (VP v{i}))" for i in range(1000)])
    data = wrap(trees)
    kernel = SubsetTree() if data is trees else SubsetTree().on("tree")
    mapped = LandmarkMap(kernel, n_components=10, random_state=0).fit(data)
    kept = mapped.landmarks_ if data is trees else mapped.landmarks_["tree"]
    assert len(kept) == 10
    assert len(kept._arena) < 100 < len(trees._arena)
    chosen = np.random.RandomState(0).permutation(1000)[:10]
    assert list(kept) == list(trees[chosen])
    V = mapped.transform(data[chosen])
    np.testing.assert_allclose(V @ V.T, kernel(data[chosen]), atol=1e-9)


def test_landmarks_of_plain_numbers():
    mapped = LandmarkMap(sw.kernels.Linear(), n_components=2, random_state=0).fit(np.eye(3))
    assert mapped.landmarks_.shape == (2, 3)


def test_subtree_maps_let_go_of_the_training_trees():
    trees = sw.TreeArray([f"(S (NP (NN dog)) (VP v{i}))" for i in range(1000)])
    mapped = SubtreeMap(min_df=2).fit(trees)
    assert mapped.get_feature_names_out().tolist() == ["(NN dog)", "(NP (NN dog))"]
    assert len(mapped.fragments_._arena) == 3
    assert mapped.transform(trees[:1]).nnz == 2


@pytest.mark.parametrize("name", ["max_size", "max_depth", "n_fragments", "max_fragments"])
@pytest.mark.parametrize("value", [2**31, 2**64, 10**30])
def test_limits_beyond_everything_are_none(questions, name, value):
    trees = questions[0][:20]
    limits = {"max_size": 3, name: value} if name != "max_size" else {"max_depth": 2, name: value}
    free = {key: limit for key, limit in limits.items() if key != name}
    assert (
        FragmentMap(**limits).fit(trees).transform(trees).shape == FragmentMap(**free).fit(trees).transform(trees).shape
    )
    if name != "n_fragments":
        assert HashedFragmentMap(**limits).transform(trees[:2]).shape == (2, 2**18)


def test_more_trees_than_there_are(questions):
    for make in (SubtreeMap, FragmentMap):
        with pytest.raises(DataError, match="no fragment of the training trees fits"):
            make(min_df=10**30).fit(questions[0][:5])


def test_too_many_fragments_are_refused_early():
    tree = sw.Tree("A", ["a"])
    for _ in range(10):
        tree = sw.Tree("A", [tree, tree])
    with pytest.raises(TooLargeError, match="more than 10,000 fragments"):
        FragmentMap(max_fragments=10_000).fit([tree])
    assert len(FragmentMap(max_size=2).fit([tree]).fragments_) == 6


@pytest.mark.slow
def test_deep_trees():
    tree = sw.Tree("a", ["b"])
    for _ in range(100_000):
        tree = sw.Tree("a", [tree])
    mapped = SubtreeMap(decay=0.5).fit([tree])
    assert mapped.transform([tree]).shape == (1, 100_001)
    with pytest.raises(TooLargeError, match="names"):
        mapped.get_feature_names_out()
    few = FragmentMap(max_size=3).fit([tree])
    assert set(few.get_feature_names_out()) == {
        "(a a)",
        "(a (a a))",
        "(a (a (a a)))",
        "(a b)",
        "(a (a b))",
        "(a (a (a b)))",
    }
    assert few.transform([tree]).nnz == 6


TRAIN = ["(S (NP (DT a) (NN dog)) (VP (VB runs)))", "(S (NP (NN cat)) (VP (VB runs)))", "(S (NP (DT a) (NN cat)))"]
STORED = [
    SubtreeMap(decay=0.3, min_df=2),
    FragmentMap(max_size=3, min_df=2),
    FragmentMap(select="chi2", n_fragments=5, holds="N*", heads=sw.trees.HeadTable()),
    FragmentMap(
        heads={
            ("S", ("NP", "VP")): 1,
            ("S", ("NP",)): 0,
            ("NP", ("DT", "NN")): 1,
            ("NP", ("NN",)): 0,
            ("VP", ("VB",)): 0,
        }
    ),
    HashedFragmentMap(decay=0.3, max_size=2, n_features=64),
    LandmarkMap(n_components=2, random_state=3),
    LandmarkMap(GrammarDriven().normalized() + 0.5 * Subtree(), n_components=3, random_state=0),
]


def fitted(mapped):
    return clone(mapped).fit(TRAIN, ["x", "y", "x"])


def dense(values):
    return values.toarray() if sparse.issparse(values) else values


@pytest.mark.parametrize("mapped", STORED, ids=repr)
def test_maps_come_back_from_files(mapped, tmp_path):
    before = fitted(mapped)
    sw.save(before, tmp_path / "map.sap")
    after = sw.load(tmp_path / "map.sap")
    assert type(after) is type(before)
    np.testing.assert_array_equal(dense(after.transform(TRAIN)), dense(before.transform(TRAIN)))
    assert repr(after.get_params(deep=False)) == repr(before.get_params(deep=False))
    if isinstance(before, LandmarkMap):
        assert after.kernel_ == before.kernel_
    elif not isinstance(before, HashedFragmentMap):
        assert after.get_feature_names_out().tolist() == before.get_feature_names_out().tolist()
        np.testing.assert_array_equal(after.weights_, before.weights_)
    if isinstance(before, FragmentMap):
        np.testing.assert_array_equal(after.scores_, before.scores_)
    # What came back can be saved and fitted again.
    sw.save(after, tmp_path / "again.sap")
    assert (tmp_path / "again.sap").read_bytes() == (tmp_path / "map.sap").read_bytes()
    np.testing.assert_array_equal(dense(fitted(after).transform(TRAIN)), dense(before.transform(TRAIN)))


def test_maps_that_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        sw.save(FragmentMap(), tmp_path / "map.sap")
    mapped = fitted(FragmentMap(holds=str.isupper))
    with pytest.raises(ParameterError, match=r"set_params\(holds=\.\.\.\) with text, numbers or None before saving"):
        sw.save(mapped, tmp_path / "map.sap")
    sw.save(mapped.set_params(holds=None), tmp_path / "map.sap")
    assert len(sw.load(tmp_path / "map.sap").fragments_) == len(mapped.fragments_)
    # A generator has been used; what it gave is in the landmarks.
    drawn = fitted(LandmarkMap(random_state=np.random.RandomState(0)))
    sw.save(drawn, tmp_path / "other.sap")
    again = sw.load(tmp_path / "other.sap")
    assert again.random_state is None
    np.testing.assert_array_equal(again.transform(TRAIN), drawn.transform(TRAIN))


@pytest.mark.parametrize("mapped", STORED, ids=repr)
def test_damaged_map_files_are_refused(mapped, tmp_path):
    path = tmp_path / "map.sap"
    sw.save(fitted(mapped), path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    document = json.loads(header["__metadata__"]["sapwood"])
    del document["sha256"], document["minor"]  # or the checksum would be what refuses each file

    def write(changed):
        header["__metadata__"]["sapwood"] = json.dumps(changed)
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])

    names = [name for name in document["object"] if name not in ("class", "kernel", "heads")]
    for name in names:
        for value in (None, 3, "x", [], {"class": "Kernel", "kind": "Subtree", "params": {}}):
            if name == "fitted_kernel" and isinstance(value, dict):
                continue
            changed = json.loads(json.dumps(document))
            changed["object"][name] = value
            write(changed)
            with pytest.raises(ModelFileError):
                sw.load(path)
        changed = json.loads(json.dumps(document))
        del changed["object"][name]
        write(changed)
        with pytest.raises(ModelFileError):
            sw.load(path)
    if "params" in document["object"] and "decay" in document["object"]["params"]:
        document["object"]["params"]["decay"] = -1
        write(document)
        with pytest.raises(ModelFileError, match="decay"):
            sw.load(path)


def test_leaves_and_wrong_numbers_are_no_vocabulary(tmp_path):
    path = tmp_path / "map.sap"
    broken = fitted(SubtreeMap())
    broken.fragments_ = sw.TreeArray(["(a b)", "leaf"])
    sw.save(broken, path)
    with pytest.raises(ModelFileError, match="single leaf"):
        sw.load(path)
    broken = fitted(FragmentMap())
    broken.scores_ = broken.scores_[1:]
    sw.save(broken, path)
    with pytest.raises(ModelFileError, match="scores do not fit"):
        sw.load(path)
    broken = fitted(LandmarkMap(n_components=2))
    broken.normalization_ = np.full((2, 2), np.nan)
    sw.save(broken, path)
    with pytest.raises(ModelFileError, match="not finite"):
        sw.load(path)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(corpora, decays, st.sampled_from([1, 2, 4]), st.sampled_from([None, 2]))
def test_hashed_fragments_are_those_of_the_vocabulary(trees, decay, max_size, max_depth):
    hashed = HashedFragmentMap(decay, max_size=max_size, max_depth=max_depth)
    listed = FragmentMap(decay, max_size=max_size, max_depth=max_depth).fit(trees)
    V, W = hashed.transform(trees), listed.transform(trees)
    columns = {(murmurhash3_32(name, positive=True) >> 1) % 2**18 for name in listed.get_feature_names_out()}
    assume(len(columns) == W.shape[1])
    np.testing.assert_allclose((V @ V.T).toarray(), (W @ W.T).toarray(), rtol=1e-12)
    # Nothing is learnt, so trees can come one by one and in any order.
    parts = [hashed.transform([tree]).toarray()[0] for tree in trees]
    np.testing.assert_array_equal(np.array(parts), V.toarray())


def test_hashed_fragments_in_few_columns_are_right_on_average(questions):
    X, _ = questions
    exact = FragmentMap(max_size=3).fit_transform(X)
    truth = (exact @ exact.T).toarray()
    errors = []
    for n_features in (2**6, 2**10, 2**16):
        V = HashedFragmentMap(max_size=3, n_features=n_features).fit(X).transform(X)
        assert V.shape == (len(X), n_features)
        errors.append(np.linalg.norm((V @ V.T).toarray() - truth) / np.linalg.norm(truth))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05


@pytest.mark.slow
def test_hashed_blocks_leaves_and_bad_input(questions, monkeypatch):
    X, y = questions
    whole = HashedFragmentMap().transform(X)
    monkeypatch.setattr("sapwood.kernels.hashing._BLOCK", 7)
    np.testing.assert_array_equal(HashedFragmentMap().transform(X).toarray(), whole.toarray())
    assert HashedFragmentMap(n_features=8).transform([]).shape == (0, 8)
    assert HashedFragmentMap(n_features=8).transform(["leaf", "(a b)"]).nnz == 1
    model = make_pipeline(HashedFragmentMap(), Normalizer(), LinearSVC())
    assert model.fit(X, y).score(X, y) > 0.8
    assert repr(clone(HashedFragmentMap(0.3)).get_params()) == repr(HashedFragmentMap(0.3).get_params())
    for wrong in ({"n_features": 0}, {"n_features": None}, {"n_features": 2**31}, {"max_size": None}, {"decay": 2}):
        with pytest.raises(ParameterError):
            HashedFragmentMap(**wrong).fit(X)
    with pytest.raises(TooLargeError, match="max_size"):
        HashedFragmentMap(max_fragments=1).transform(X)
