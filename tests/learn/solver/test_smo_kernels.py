"""What the native solver makes of kernels: tables over distinct items, precisions, memory, and KernelSVC."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import sapwood as sw
import strategies
from sapwood import _core
from sapwood.errors import KernelError, ParameterError, TooLargeError
from sapwood.kernels import GrammarDriven, Kernel, Linear, PartialTree, Polynomial, SubsetTree, Subtree
from sapwood.learn import KernelSVC, svm
from sapwood.learn.solver import budget, components, tables
from sapwood.learn.solver.delexicalized import delexicalize

WORDS = ["take", "give", "say", "run", "buy"]


def portions(n, seed=0):
    """Paths that end in a predicate, constituents, features, and roles that depend on them a little."""
    rng = np.random.default_rng(seed)
    paths, constituents, flat, roles = [], [], [], []
    for _ in range(n):
        word, tag = WORDS[rng.integers(5)], ["VBD", "VBZ"][rng.integers(2)]
        before = rng.random() < 0.5
        verb = f"({tag}-PRED {word})"
        deep = f"(VP (MD w) (VP {verb}))" if rng.random() < 0.3 else f"(VP {verb})"
        paths.append(f"(S NP-ARG {deep})" if before else f"(VP {verb} {['NP', 'PP'][rng.integers(2)]}-ARG)")
        kids = " ".join(f"({t} w)" for t in rng.choice(["DT", "JJ", "NN", "NNS"], size=rng.integers(1, 4)))
        constituents.append(f"(NP {kids})")
        flat.append({"before": float(before), "word": word, "length": float(rng.integers(4))})
        roles.append(["A0", "A1", "AM"][int(rng.integers(3))] if rng.random() < 0.3 else ["A1", "A0"][int(before)])
    return sw.Examples(path=paths, constituent=constituents, flat=flat), np.array(roles)


class Letters(Kernel):
    """A kernel that looks into words: the numbers of their letters, multiplied."""

    def _gram(self, X, Y):
        rows, columns = ([sum(map(len, tree.leaves())) for tree in Z] for Z in (X, X if Y is None else Y))
        return np.outer(rows, columns).astype(float)


HYBRID = 0.6 * SubsetTree().normalized().on("path") + 0.4 * SubsetTree().normalized().on("constituent")
KERNELS = [
    HYBRID,
    0.3 * HYBRID + 0.7 * Polynomial(degree=2).normalized().on("flat"),
    (SubsetTree().on("path") + Linear().on("flat")).normalized(),
    SubsetTree().normalized().on("path") * Polynomial(degree=2).on("flat") + 1.0,
    (0.5 * Subtree().normalized().on("path") + PartialTree().normalized().on("constituent")) ** 2,
    (PartialTree().on("path") + Subtree().on("path")).normalized() ** 2 + Linear().on("flat"),
    GrammarDriven().normalized().on("path") + GrammarDriven(lexical="ignore").normalized().on("constituent"),
]


@pytest.fixture(scope="module")
def data():
    return portions(150)


def rows_of(prepared):
    K = np.stack([prepared.native.row(point) for point in range(len(prepared.native))])
    return K[np.ix_(prepared.points, prepared.points)]


def components_of(kernel, X):
    return [component for product in components.decompose(kernel.bind(X), X) for component in product.components]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("layout", ["double", "single", "triangle", "asked"])
def test_points_have_the_kernel_values(kernel, layout, data, monkeypatch):
    """Whatever becomes of a kernel inside, what comes out is its Gram matrix."""
    X, _ = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    if layout != "double":
        monkeypatch.setattr(budget, "_SMALL", -1)
    if layout in ("triangle", "asked"):
        monkeypatch.setattr(budget, "_KINDS", (layout,))
    if layout == "asked":
        # Where rows cannot be computed one by one, nothing is left but to say so.
        monkeypatch.setattr(budget, "_SHARE", 1e-4)
        monkeypatch.setattr(budget, "_SHARE_BESIDE_DOTS", 1e-4)
        monkeypatch.setattr(budget, "_FEWEST_ROWS", 1)
        if not all(budget.is_dot(one) or budget.computes_rows(one) for one in components_of(kernel, X)):
            with pytest.raises(TooLargeError):
                tables.prepare(kernel.bind(X), X, 1000.0, 1)
            return
    bound = kernel.bind(X)
    prepared = tables.prepare(bound, X, 1000.0, 1)
    assert prepared.native.row(0).dtype == (np.float64 if layout == "double" else np.float32)
    expected = bound(X)
    error = 1e-12 if layout == "double" else 2e-6
    np.testing.assert_allclose(rows_of(prepared), expected, rtol=error, atol=error * np.abs(expected).max())


@pytest.mark.parametrize(
    "kernel",
    [
        ((SubsetTree() + Letters()).normalized().on("path") + Linear().on("flat")).normalized(),
        (SubsetTree() + 0.5 * Letters()).normalized().on("path") * (Subtree() + 1.0).normalized().on("constituent"),
    ],
    ids=repr,
)
def test_words_stay_where_a_norm_looks_into_them(kernel, data, monkeypatch):
    X, _ = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    np.testing.assert_allclose(rows_of(tables.prepare(kernel, X, 1000.0, 1)), kernel(X), rtol=1e-12)


def test_kernels_that_are_added_up_share_a_table(data):
    """However often: a normalised sum on one view is one table, and so is each of its powers."""
    X, _ = data
    summed = (SubsetTree() + Subtree()).normalized().on("path")
    assert len(components_of(summed + PartialTree().on("path"), X)) == 1
    (product,) = components.decompose(summed**6 * Linear().on("flat"), X)
    assert len(product.components) == 7
    assert len({id(component) for component in product.components}) == 2
    np.testing.assert_allclose(rows_of(tables.prepare(summed**6, X, 1000.0, 1)), summed(X) ** 6, rtol=1e-11)


def test_blocks_fit_together(data, monkeypatch):
    X, _ = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    expected = rows_of(tables.prepare(HYBRID, X, 1000.0, 1))
    monkeypatch.setattr(budget, "_LARGEST_BLOCK", 4 * 8 * 20)
    np.testing.assert_allclose(rows_of(tables.prepare(HYBRID, X, 1000.0, 1)), expected, rtol=1e-12)
    monkeypatch.setattr(budget, "_SMALL", -1)
    monkeypatch.setattr(budget, "_KINDS", ("triangle",))
    np.testing.assert_allclose(rows_of(tables.prepare(HYBRID, X, 1000.0, 1)), expected, rtol=1e-6)


def test_sixteen_bits_where_nothing_else_fits(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    expected = rows_of(tables.prepare(HYBRID, X, 1000.0, 1))
    monkeypatch.setattr(budget, "_SMALL", -1)
    monkeypatch.setattr(budget, "_KINDS", ("short", "asked"))
    monkeypatch.setattr(svm, "gram_is_quicker", lambda *_: False)
    found = rows_of(tables.prepare(HYBRID, X, 1000.0, 1))
    assert not np.array_equal(found, expected)
    np.testing.assert_allclose(found, expected, atol=1.1 / 131070)
    # What may fall below 0 or rise above 1 is computed when asked for instead, to single precision.
    unbounded = SubsetTree().on("path") + SubsetTree().normalized().on("constituent")
    whole = unbounded(X)
    np.testing.assert_allclose(rows_of(tables.prepare(unbounded, X, 1000.0, 1)), whole, rtol=1e-5, atol=1.1 / 131070)
    margins = KernelSVC(HYBRID, C=2.4, solver="native").fit(X, y).decision_function(X)
    monkeypatch.undo()
    np.testing.assert_allclose(margins, KernelSVC(HYBRID, C=2.4).fit(X, y).decision_function(X), atol=5e-3)


def test_tables_shrink_where_it_saves_most_until_they_fit(data, monkeypatch):
    X, _ = data
    monkeypatch.setattr(budget, "_SMALL", -1)
    monkeypatch.setattr(budget, "available", lambda: 10**12)
    (small,), (large,) = (components_of(SubsetTree().normalized().on(view), X) for view in ("path", "constituent"))
    for part, size in ((small, 20_000), (large, 50_000)):
        part.rows = np.empty((size, 0))
    kinds = {}
    for memory in (20, 13, 7, 4.5, 3, 0.4):
        found = budget.Budget([small, large], 10**5, 1000 * memory, 2)
        kinds[memory] = [found.kinds[id(part)] for part in (small, large)]
        taken = {"square": 4, "triangle": 2, "short": 1, "asked": 0}
        tables_take = sum(taken[k] * p.size**2 for k, p in zip(kinds[memory], (small, large), strict=True))
        assert tables_take + sum(found.cache.values()) + 2 * found.window <= memory * 1e9
    assert kinds == {
        20: ["square", "square"],
        13: ["square", "triangle"],
        7: ["square", "short"],
        4.5: ["short", "short"],
        3: ["short", "asked"],
        0.4: ["asked", "asked"],
    }


def test_features_alone_need_next_to_no_memory(data):
    X, y = data
    kernel = Polynomial(degree=2).normalized().on("flat")
    few, many = (KernelSVC(kernel, solver="native", memory_limit=megabytes).fit(X, y) for megabytes in (1e-3, 1000.0))
    np.testing.assert_allclose(few.decision_function(X), many.decision_function(X), atol=5e-3)


def test_words_of_many_trees_are_compared_within_their_squares(data, monkeypatch):
    X, _ = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    kernel = SubsetTree(0.4).normalized().on("path")
    for chunk in (1, 7, 400):
        monkeypatch.setattr(tables, "_WORTH_A_CALL", chunk)
        prepared = tables.prepare(kernel, X, 1000.0, 1)
        np.testing.assert_allclose(rows_of(prepared), kernel(X), rtol=1e-12)


def test_squares_are_checked():
    values, none = np.ones(5), np.zeros(0, dtype=np.uint32)
    sizes = np.array([2, 1], dtype=np.uint64)
    tags, rows = np.array([1, 0, 2], dtype=np.uint32), np.array([1, 0, 2], dtype=np.uint32)
    same = _core.smo.Same64(sizes, values, tags, rows)
    table = _core.smo.square64(np.eye(3))
    with pytest.raises(ValueError, match="differ in number"):
        _core.smo.Component64(table, np.zeros(2, dtype=np.uint32), same)
    with pytest.raises(ValueError, match="another tag"):
        _core.smo.Same64(sizes, values, tags, np.array([2, 0, 2], dtype=np.uint32))
    with pytest.raises(ValueError, match="differ in size"):
        _core.smo.Same64(sizes, values[:4], none, none)


@pytest.mark.parametrize("size", [1, 3, 4, 5, 17])
def test_half_a_table_gives_whole_rows(size):
    rng = np.random.default_rng(size)
    table = rng.random((size, size))
    table = (table + table.T) / 2
    triangle = _core.smo.Triangle(size, 0)
    for begin in range(0, size, 4):
        triangle.set(begin, np.ascontiguousarray(table[begin : begin + 4, begin:]))
    found = np.stack([triangle.row(item) for item in range(size)])
    np.testing.assert_array_equal(found, table.astype(np.float32))
    with pytest.raises(ValueError, match="tile"):
        triangle.set(1, np.ones((1, size)))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_dot_products_are_those_of_the_kernel(kind):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((80, 30)) < 0.4, np.round(rng.normal(size=(80, 30)), 2), 0.0)
    X[:, 0] = 0.1  # held by all, and no single-precision number
    kernel = Polynomial(degree=3, constant=0.5, scale=0.2)
    given_as = X if kind == "dense" else sparse.csr_array(X)
    for one in (kernel, kernel.normalized(), 2.0 * kernel.normalized(), Linear()):
        np.testing.assert_allclose(rows_of(tables.prepare(one, given_as, 1000.0, 1)), one(X), rtol=1e-10, atol=1e-12)


# Trees whose leaves are words of their own kind, beside leaves that are not.
_words = st.sampled_from(["w1", "w2", "w3"])


@st.composite
def worded(draw):
    tree = draw(strategies.internal_trees(max_leaves=4))
    word = draw(_words)
    return (
        sw.Tree("r", [sw.Tree("p", [word]), tree])
        if draw(st.booleans())
        else sw.Tree("r", [tree, sw.Tree("p", [word])])
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.lists(worded(), min_size=3, max_size=15, unique=True), st.booleans())
def test_delexicalized_trees_and_words_stand_for_the_trees(trees, stray):
    """K of two trees is that of the delexicalized ones, filled alike where the words are the same."""
    if stray:
        trees.append(sw.Tree("r", [sw.Tree("q", ["w1"]), sw.Tree("p", ["w2"])]))
    X = sw.TreeArray(trees)
    found = delexicalize(X, {"w3"})
    if found is None:
        return
    assert "w3" not in {X[int(i)].leaves()[0] for i in np.flatnonzero(found.tags)}
    agree = found.tags[:, None] == found.tags
    for kernel in (SubsetTree(0.7, bag_of_words=True), PartialTree(0.6, 0.8), Subtree(0.5), SubsetTree().normalized()):
        same = kernel(found.filled)[np.ix_(found.items, found.items)]
        other = kernel(found.filled, found.refilled)[np.ix_(found.items, found.items)]
        np.testing.assert_allclose(np.where(agree, same, other), kernel(X), rtol=1e-12)


def test_many_words_few_delexicalize():
    trees = [f"(S NP-ARG (VP (VBD-PRED verb{i}) {'PP' if i % 2 else 'NP'}))" for i in range(50)]
    found = delexicalize(sw.TreeArray(trees), set())
    assert len(found.filled) == 2
    assert len(set(found.tags.tolist())) == 50
    assert delexicalize(sw.TreeArray([f"(NP (DT a) (NN noun{i}) (PP (NN b{i})))" for i in range(20)]), set()) is None


def test_words_that_do_not_count_tell_nothing_apart(data, monkeypatch):
    X, _ = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    kernel = GrammarDriven(lexical="ignore").normalized().on("path").bind(X)
    prepared = tables.prepare(kernel, X, 1000.0, 1)
    assert len(prepared.native) < len(set(X["path"].to_strings())) / 2


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS[:4], ids=repr)
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("on_gram", [True, False])
def test_classifier_equals_that_of_sklearn(kernel, multi_class, on_gram, data, monkeypatch):
    X, y = data
    monkeypatch.setattr(components, "_FEWEST_TREES", 2)
    monkeypatch.setattr(svm, "gram_is_quicker", lambda *_: on_gram)
    weights = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    # Not finer: scikit-learn's rows are single precision, and below that its solver may go round in circles.
    for class_weight in ("balanced", {"A0": 3.0}):
        ours, theirs = (
            KernelSVC(kernel, C=2.4, class_weight=class_weight, multi_class=multi_class, tol=1e-5, solver=solver).fit(
                X, y, sample_weight=weights
            )
            for solver in ("native", "sklearn")
        )
        margins, expected = ours.decision_function(X), theirs.decision_function(X)
        np.testing.assert_allclose(margins, expected, atol=1e-3)
        # Symmetric problems leave ties, which the last digits decide.
        ahead = np.sort(expected, axis=1)
        clear = ahead[:, -1] - ahead[:, -2] > 1e-3
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


def test_classifier_api(data, tmp_path):
    X, y = data
    clf = KernelSVC(HYBRID, C=2.4, solver="native").fit(X, y)
    assert len(clf.support_) == len(clf.support_examples_) == len(clf.dual_coef_)
    np.testing.assert_allclose(clf.dual_coef_.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(
        clf.decision_function(X), HYBRID(X, X[clf.support_]) @ clf.dual_coef_ + clf.intercept_, atol=1e-9
    )
    sw.save(clf, tmp_path / "m.sap")
    restored = sw.load(tmp_path / "m.sap")
    assert (restored.solver, restored.memory_limit) == ("native", None)
    np.testing.assert_array_equal(restored.predict(X), clf.predict(X))
    explained = clf.explain(X[:1], top=3)
    assert str(explained).startswith(f"score of {clf.predict(X[:1])[0]} ")


def test_what_auto_works_on(data, monkeypatch):
    X, y = data
    called: list[str] = []
    for name in ("_fit_natively", "_fit_with_sklearn"):
        original = getattr(KernelSVC, name)
        monkeypatch.setattr(
            KernelSVC,
            name,
            lambda self, X, K, *a, n=name, f=original: (called.append(f"{n} {K is not None}"), f(self, X, K, *a)),
        )
    KernelSVC(HYBRID).fit(X, y)
    monkeypatch.setattr(svm, "FEW", 100)
    KernelSVC(HYBRID).fit(X, y)
    KernelSVC("precomputed").fit(HYBRID(X), y)
    KernelSVC(HYBRID, solver="sklearn").fit(X, y)
    monkeypatch.setattr(svm, "gram_is_quicker", lambda *_: False)
    KernelSVC(HYBRID).fit(X, y)
    assert called == [
        "_fit_with_sklearn True",
        "_fit_natively True",
        "_fit_natively True",
        "_fit_with_sklearn True",
        "_fit_natively False",
    ]


def test_bags_of_trees(data):
    X, y = data
    documents = sw.TreeArray([[tree, X["path"][0]] for tree in X["constituent"]])
    ours, theirs = (KernelSVC(C=2.0, tol=1e-5, solver=solver).fit(documents, y) for solver in ("native", "sklearn"))
    np.testing.assert_allclose(ours.decision_function(documents), theirs.decision_function(documents), atol=1e-3)


def test_parameters_are_checked(data):
    X, y = data
    with pytest.raises(ParameterError, match="solver must be one of 'auto', 'sklearn', 'native', got 'libsvm'"):
        KernelSVC(solver="libsvm").fit(X["path"], y)
    for limit in (0, -1.0, np.inf, "8"):
        with pytest.raises(ParameterError, match="memory_limit must be a finite number of more than 0"):
            KernelSVC(solver="native", memory_limit=limit).fit(X["path"], y)
    for name, value in (("tol", 0.0), ("tol", -1e-3), ("max_iter", 0), ("max_iter", 1.5)):
        with pytest.raises(ParameterError, match=f"{name} must be"):
            KernelSVC(solver="native", **{name: value}).fit(X["path"], y)
    deep = (HYBRID + HYBRID) ** 6
    KernelSVC(deep, solver="native").fit(X, y)
    with pytest.raises(ParameterError, match="more than the native solver takes"):
        KernelSVC(deep, solver="native", memory_limit=0.1).fit(X, y)


def test_what_does_not_fit_is_refused_before_it_is_taken():
    trees, labels = portions(3000)
    with pytest.raises(TooLargeError, match=r"distinct items need .* MB, but .* Raise memory_limit"):
        KernelSVC(PartialTree().on("path"), solver="native", memory_limit=1e-3).fit(trees, labels)


def test_trees_that_share_nothing_are_named_once(data):
    X, y = data
    trees = sw.TreeArray([*X["path"], "x"])
    with pytest.warns(UserWarning, match=r"1 of 151 elements share nothing .*positions 150") as caught:
        KernelSVC(solver="native").fit(trees, [*y, "A0"])
    assert len([one for one in caught if "share nothing" in str(one.message)]) == 1


def test_values_that_overflow_are_refused():
    deep = "x"
    for _ in range(13):
        deep = f"(A {deep} {deep})"
    trees = ["(A x x)", deep, "(A x (A x x))"]
    with pytest.raises(KernelError, match=r"example 1 (with itself )?is not finite"):
        KernelSVC(SubsetTree(decay=1.0), solver="native").fit(trees, ["a", "b", "a"])
