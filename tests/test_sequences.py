"""Random sequences of public calls: trees, kernels, estimators and files agree with plain lists all the way."""

from __future__ import annotations

import contextlib
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

import sapwood as sw
import strategies
from sapwood.errors import SapwoodError
from sapwood.kernels import PartialTree, SubsetTree, Subtree
from sapwood.learn import KernelSVC, VotedPerceptron

KERNELS = {
    "subtree": lambda: Subtree(0.5),
    "subset": lambda: SubsetTree(0.4).normalized(),
    "partial": lambda: PartialTree(),
    "sum": lambda: 0.5 * SubsetTree(0.3) + Subtree() ** 2,
}


class Sequences(RuleBasedStateMachine):
    """Arrays of trees beside the lists they stand for, kernels, and models trained on them."""

    arrays = Bundle("arrays")
    kernels = Bundle("kernels")
    models = Bundle("models")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.known: list[tuple[Any, list[str]]] = []

    def teardown(self) -> None:
        self.folder.cleanup()

    def keep(self, array: Any, texts: list[str]) -> Any:
        self.known.append((array, texts))
        del self.known[:-6]
        return array, texts

    @initialize(target=arrays, trees=st.lists(strategies.internal_trees(), min_size=2, max_size=5))
    def begin(self, trees: list[Any]) -> Any:
        return self.make(trees)

    @rule(target=arrays, trees=st.lists(strategies.internal_trees(), max_size=5))
    def make(self, trees: list[Any]) -> Any:
        return self.keep(sw.TreeArray(trees), [str(tree) for tree in trees])

    @rule(target=arrays, pair=arrays, data=st.data())
    def select(self, pair: Any, data: st.DataObject) -> Any:
        array, texts = pair
        if not texts:
            return multiple()
        places = data.draw(st.lists(st.integers(-len(texts), len(texts) - 1), max_size=6))
        return self.keep(array[np.array(places, dtype=np.intp)], [texts[at] for at in places])

    @rule(target=arrays, pair=arrays, begin=st.integers(-3, 6), step=st.sampled_from([1, 2, -1]))
    def cut(self, pair: Any, begin: int, step: int) -> Any:
        array, texts = pair
        return self.keep(array[begin::step], texts[begin::step])

    @rule(target=arrays, pair=arrays)
    def detach(self, pair: Any) -> Any:
        return self.keep(pair[0].detach(), pair[1])

    @rule(target=arrays, first=arrays, second=arrays)
    def join(self, first: Any, second: Any) -> Any:
        return self.keep(sw.TreeArray([*first[0], *second[0]]), first[1] + second[1])

    @rule(target=arrays, pair=arrays, way=st.sampled_from(["file", "pickle", "text"]))
    def store(self, pair: Any, way: str) -> Any:
        array, texts = pair
        path = Path(self.folder.name, "x.sap")
        match way:
            case "file":
                sw.save(array, path)
                array = sw.load(path)
            case "pickle":
                array = pickle.loads(pickle.dumps(array))
            case _:
                try:
                    array = sw.TreeArray(array.to_strings(escape=True))
                except SapwoodError:
                    return multiple()
                if [str(tree) for tree in array] != texts:
                    # Escapes of brackets are not taken back here.
                    return multiple()
        return self.keep(array, texts)

    @rule(target=kernels, name=st.sampled_from(sorted(KERNELS)))
    def kernel(self, name: str) -> Any:
        return KERNELS[name]()

    @rule(target=kernels, kernel=kernels)
    def store_kernel(self, kernel: Any) -> Any:
        path = Path(self.folder.name, "k.sap")
        sw.save(kernel, path)
        return sw.load(path)

    @rule(kernel=kernels, first=arrays, second=arrays)
    def compare(self, kernel: Any, first: Any, second: Any) -> None:
        """A matrix is what the single values are, and the same seen from the other side."""
        K = kernel(first[0], second[0])
        assert K.shape == (len(first[1]), len(second[1]))
        np.testing.assert_allclose(K, kernel(second[0], first[0]).T, rtol=1e-12)
        for i in range(min(2, len(first[1]))):
            for j in range(min(2, len(second[1]))):
                np.testing.assert_allclose(
                    K[i, j], kernel([first[1][i]], [second[1][j]])[0, 0], rtol=1e-12, atol=1e-300
                )

    @rule(target=models, kernel=kernels, pair=arrays, kind=st.sampled_from([KernelSVC, VotedPerceptron]))
    def train(self, kernel: Any, pair: Any, kind: Any) -> Any:
        array, texts = pair
        labels = [("odd", "even")[at % 2] for at in range(len(texts))]
        try:
            return kind(kernel).fit(array, labels), array
        except SapwoodError:
            assert len(texts) < 2
            return multiple()

    @rule(target=models, model=consumes(models))
    def store_model(self, model: Any) -> Any:
        fitted, array = model
        before = fitted.decision_function(array)
        path = Path(self.folder.name, "m.sap")
        sw.save(fitted, path)
        again = sw.load(path)
        np.testing.assert_array_equal(again.decision_function(array), before)
        return again, array

    @rule(model=models, pair=arrays)
    def predict(self, model: Any, pair: Any) -> None:
        found = model[0].predict(pair[0])
        assert set(found.tolist()) <= {"odd", "even"}
        assert len(found) == len(pair[1])

    @rule(model=models, wrong=st.sampled_from([None, 3, "(a", [1], {"x": 1}, ["(a b) (c"]]))
    def misuse(self, model: Any, wrong: Any) -> None:
        """What makes no sense is refused, and changes nothing."""
        fitted, array = model
        before = fitted.decision_function(array)
        with contextlib.suppress(SapwoodError, TypeError):
            fitted.predict(wrong)
        np.testing.assert_array_equal(fitted.decision_function(array), before)

    @invariant()
    def arrays_are_what_they_stand_for(self) -> None:
        for array, texts in self.known[-2:]:
            assert [str(tree) for tree in array] == texts


# Trees that share nothing are welcome here.
TestSequences = pytest.mark.filterwarnings("ignore:.*share nothing")(Sequences.TestCase)
TestSequences.settings = settings(settings.default, max_examples=25, stateful_step_count=15)
