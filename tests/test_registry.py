"""What model files hold: typed readers refuse what would mislead, and layouts bring estimators back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import sapwood as sw
import specimens
from sapwood.errors import ModelFileError, ParameterError
from sapwood.layouts import COUNT, LABELS, NUMBERS, Field, Layout, array_of, part_of
from sapwood.registry import Reader, Writer, plain_value

U64 = np.uint64


def reader(**arrays: Any) -> Reader:
    return Reader("x.sap", {name: np.asarray(values) for name, values in arrays.items()})


class TestArrays:
    @pytest.mark.parametrize(
        ("ends", "total", "keywords"),
        [
            (np.array([1, 1, 3], U64), 3, {}),
            (np.array([], U64), 0, {"count": 0}),
            (np.array([1, 2, 3], U64), 3, {"empty": False, "count": 3}),
            (np.array([0, 2], np.int64), 2, {"dtype": np.int64}),
        ],
    )
    def test_offsets(self, ends: Any, total: int, keywords: dict[str, Any]) -> None:
        assert reader(a=ends).offsets("a", total, **keywords) is ends

    @pytest.mark.parametrize(
        ("ends", "total", "keywords"),
        [
            # Differences of these wrap: as signed numbers they seem to rise.
            (np.array([1, 2**63, 2**64 - 1, 3], U64), 3, {}),
            (np.array([2**64 - 1], U64), -1, {}),
            (np.array([2, 1, 3], U64), 3, {}),
            (np.array([1, 2], U64), 3, {}),
            (np.array([1, 4], U64), 3, {}),
            (np.array([], U64), 3, {}),
            (np.array([3], U64), 3, {"count": 2}),
            (np.array([0, 3], U64), 3, {"empty": False}),
            (np.array([1, 1, 3], U64), 3, {"empty": False}),
            (np.array([-1, 3], np.int64), 3, {"dtype": np.int64}),
            (np.array([-(2**63), 2**63 - 1, 3], np.int64), 3, {"dtype": np.int64}),
            (np.array([1, 3], np.int64), 3, {}),
            (np.array([[1, 3]], U64), 3, {}),
        ],
    )
    def test_offsets_that_are_none(self, ends: Any, total: int, keywords: dict[str, Any]) -> None:
        with pytest.raises(ModelFileError, match=r"x\.sap: the file is damaged: .*'a'"):
            reader(a=ends).offsets("a", total, **keywords)

    def test_indices(self) -> None:
        one = reader(a=np.array([0, 4], np.uint32), none=np.array([], np.uint32), signed=np.array([-1, 0], np.int64))
        assert one.indices("a", 5, count=2).tolist() == [0, 4]
        assert len(one.indices("none", 0)) == 0
        for name, below, keywords in (
            ("a", 4, {}),
            ("a", 5, {"count": 1}),
            ("signed", 5, {"dtype": np.int64}),
            ("a", 5, {"dtype": np.int64}),
        ):
            with pytest.raises(ModelFileError, match="damaged"):
                one.indices(name, below, **keywords)

    def test_finite(self) -> None:
        one = reader(a=np.ones((2, 3)), nan=np.array([np.nan]), small=np.ones(2, np.float32))
        assert one.finite("a", (2, None)).shape == (2, 3)
        assert one.finite("small", (2,), (np.float32, np.float64)).dtype == np.float32
        for name, shape in (("a", (3, 3)), ("a", (6,)), ("nan", (1,)), ("small", (2,)), ("missing", (1,))):
            with pytest.raises(ModelFileError, match=f"the array '{name}'"):
                one.finite(name, shape)


class TestValues:
    @pytest.mark.parametrize("value", [-1, 2**63, 1.0, True, "3", None, [1]])
    def test_counts(self, value: Any) -> None:
        assert reader().count(2**62 - 1) == 2**62 - 1
        with pytest.raises(ModelFileError, match="count"):
            reader().count(value)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "3", None, [1.0]])
    def test_numbers(self, value: Any) -> None:
        assert reader().number(3) == 3.0
        with pytest.raises(ModelFileError, match="finite number"):
            reader().number(value)

    @pytest.mark.parametrize("value", [None, "text", ["a", ""], ["a", 1], [None], {"a": 1}])
    def test_texts(self, value: Any) -> None:
        assert reader().texts(["a", "b"]) == ["a", "b"]
        with pytest.raises(ModelFileError, match="names"):
            reader().texts(value)

    def test_plain_values(self, tmp_path: Path) -> None:
        assert plain_value([np.int64(3), (1, np.float32(0.5)), tmp_path]) == [3, [1, 0.5], str(tmp_path)]
        assert plain_value(frozenset("ba")) == ["a", "b"]
        for value in (len, {1: 2}, 1j, np.zeros(2), [object()]):
            with pytest.raises(ParameterError, match=r"n=.* cannot be saved, .* set_params\(n=\.\.\.\)"):
                plain_value(value, "n")


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            np.array(["a", "long"]),
            np.array(["a", None, 3], dtype=object),
            np.array([False, True]),
            np.array([-1, 2], np.int32),
            np.array([1, 200], np.uint8),
            np.array([0.5, 2], np.float32),
        ],
    )
    def test_they_come_back(self, labels: Any) -> None:
        again = reader().labels(Writer().labels(labels))
        assert again.dtype == labels.dtype
        assert again.tolist() == labels.tolist()

    def test_width_is_that_of_the_labels(self) -> None:
        """Otherwise a file of a few bytes could ask for gigabytes."""
        again = reader().labels({"classes": ["no", "yes"], "classes_kind": "<U400000000"})
        assert again.dtype == np.dtype("<U3")
        wide = np.array(["no", "yes"], dtype="<U20")
        assert Writer().labels(wide) == Writer().labels(again)

    @pytest.mark.parametrize(
        ("classes", "kind"),
        [
            (["a"], "U"),
            (["a", "a"], "<U1"),
            (["a", 1], "<U1"),
            (["1", "2"], "<i8"),
            ([1, True], "<i8"),
            ([1, 2], "|b1"),
            ([1, 2**70], "<i8"),
            ([1, 2], "<i5"),
            ([1, 2], "M8[s]"),
            ([1, 2], "V99"),
            ([1, 2], ["<i8"]),
            ("ab", "U"),
            ([["a"], ["b"]], "O"),
            ([{}, {}], "O"),
            (None, "O"),
        ],
    )
    def test_what_is_no_label(self, classes: Any, kind: Any) -> None:
        # In a file every error becomes a ModelFileError.
        with pytest.raises((ModelFileError, TypeError, OverflowError)):
            reader().labels({"classes": classes, "classes_kind": kind})

    def test_dates_cannot_be_saved(self) -> None:
        with pytest.raises(ParameterError, match="cannot be saved; use text or numbers"):
            Writer().labels(np.array(["2020-01-01"], dtype="datetime64[D]"))


class Model(BaseEstimator):
    """An estimator with something of each kind."""

    def __init__(self, trees: Any = None, *, sizes: tuple[int, ...] = (1,), class_weight: Any = None, seed: Any = 0):
        self.trees, self.sizes, self.class_weight, self.seed = trees, sizes, class_weight, seed

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def _check(self) -> None:
        if not self.sizes:
            raise ParameterError("sizes must not be empty.")


LAYOUT = Layout(
    Model,
    parameters={"trees": part_of(sw.TreeArray, optional=True)},
    fitted={
        "weights_": array_of(np.float64),
        "n_steps_": COUNT.at("steps"),
        "_curve": NUMBERS,
        "classes_": LABELS,
        "added_": Field(lambda value, writer: value, lambda data, reader: data, absent="nothing"),
    },
)


def model(**parameters: Any) -> Any:
    made = Model(**parameters)
    made.weights_, made.n_steps_, made._curve = np.ones(2), np.int64(3), [np.float64(0.5)]
    made.classes_, made.added_ = np.array([1, 2]), "something"
    return made


class TestLayout:
    def trip(self, value: Any, **changes: Any) -> Any:
        writer = Writer()
        data = {**LAYOUT.write(value, writer), **changes}
        return LAYOUT.read({name: part for name, part in data.items() if part is not ...}, Reader("x", writer.arrays))

    def test_everything_comes_back(self) -> None:
        before = model(trees=sw.TreeArray(["(a b)"]), sizes=(1, 2), class_weight={1: 0.5, 2: 2.0}, seed=np.int64(7))
        after = self.trip(before)
        assert list(after.trees) == list(before.trees)
        assert (after.sizes, after.class_weight, after.seed) == ((1, 2), {1: 0.5, 2: 2.0}, 7)
        assert (after.n_steps_, after._curve, after.added_) == (3, [0.5], "something")
        np.testing.assert_array_equal(after.weights_, before.weights_)
        np.testing.assert_array_equal(after.classes_, before.classes_)
        assert self.trip(model()).trees is None

    def test_older_files(self) -> None:
        assert self.trip(model(), added=...).added_ == "nothing"
        assert self.trip(model(), params=..., parameters={"seed": 5}).seed == 5
        with pytest.raises(KeyError, match="steps"):
            self.trip(model(), steps=...)

    def test_parameters_are_those_of_the_class_and_checked(self) -> None:
        with pytest.raises(ParameterError, match="not those of Model"):
            self.trip(model(), params={"other": 1})
        with pytest.raises(ParameterError, match="sizes must not be empty"):
            self.trip(model(), params={"sizes": []})
        with pytest.raises(ParameterError, match="sizes must not be empty"):
            self.trip(model(sizes=()))
        with pytest.raises(ModelFileError, match="holds a Kernel where TreeArray should be"):
            self.trip(model(), trees={"class": "Kernel", "kind": "Subtree", "params": {}})

    def test_only_fitted_models_are_written(self) -> None:
        with pytest.raises(NotFittedError):
            self.trip(Model())


def test_bags_that_wrap_are_refused(tmp_path: Path) -> None:
    """Trees taken from such bags would be written past the end of an array."""
    from safetensors.numpy import load, save

    from test_files_rules import parts

    path = tmp_path / "x.sap"
    sw.save(sw.TreeArray([["(a b)"], ["c"], ["d"], ["e"]]), path)
    _, document, _ = parts(path.read_bytes())
    name = document["object"]["ends"]
    del document["sha256"], document["minor"]
    arrays = {**load(path.read_bytes()), name: np.array([1, 2**63, 2**64 - 1, 4], U64)}
    path.write_bytes(save(arrays, metadata={"sapwood": json.dumps(document)}))
    with pytest.raises(ModelFileError, match="out of order"):
        sw.load(path)


def test_weights_for_columns_that_the_map_does_not_have(tmp_path: Path) -> None:
    from test_files_rules import parts, whole

    path = tmp_path / "x.sap"
    sw.save(specimens.specimen("ShardClassifier"), path)
    header, document, body = parts(path.read_bytes())
    assert document["object"]["columns"] == 64
    del document["sha256"], document["minor"]
    document["object"]["columns"] = 2**30
    path.write_bytes(whole(header, document, body))
    with pytest.raises(ModelFileError, match="columns"):
        sw.load(path)


def test_steps_that_cannot_be_counted_further_are_refused(tmp_path: Path) -> None:
    """The shares of an averaged perceptron are counted from the step after the last one."""
    from test_files_rules import parts, whole

    path = tmp_path / "x.sap"
    sw.save(specimens.specimen("VotedPerceptron, averaged"), path)
    header, document, body = parts(path.read_bytes())
    del document["sha256"], document["minor"]
    document["object"]["steps"] = 2**63 - 1
    path.write_bytes(whole(header, document, body))
    with pytest.raises(ModelFileError, match="count"):
        sw.load(path)
