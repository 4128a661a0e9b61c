"""Every public callable, called wrongly: it gives a value or one of Sapwood's errors, whatever it is handed.

Two degrees of wrong. A value of the right type that makes no sense (an empty list, NaN, a negative count, a tree 3,000
levels deep) must end in a value or in a SapwoodError. A value of another type altogether may also end in Python's own
TypeError, AttributeError, ValueError or LookupError, as anywhere
else, but never in a crash, a hang or an internal error.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from inspect import ismodule
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import entries
import sapwood as sw
from fuzz.targets import TARGETS
from sapwood.errors import SapwoodError

# How much work a caller asks for is the caller's business: these are not set to astronomic numbers.
_AMOUNTS = {
    "epochs",
    "samples",
    "size",
    "units",
    "n_components",
    "n_features",
    "dimensions",
    "max_fragments",
    "bits",
    "folds",
    "n",
    "knots",
    "max_length",
    "memory_limit",
    "beam",
    "longest",
    "max_size",
    "width",
    "vertical",
    "horizontal",
    "threads",
    "degree",
    "max_depth",
    "max_subsequence",
    "min_children",
    "batch_size",
    "keep",
    "reduction",
    "at",
}


def deep(levels: int = 3000) -> sw.Tree:
    tree = sw.Tree("x")
    for _ in range(levels):
        tree = sw.Tree("NP", [tree])
    return tree


DEEP = deep()
WIDE = sw.Tree("S", [sw.Tree("NP", [sw.Tree(f"w{n}")]) for n in range(300)])
ODD_TREES = (
    sw.Tree("x"),
    sw.Tree("S", [sw.Tree("x")]),
    DEEP,
    WIDE,
    sw.Tree("(", [sw.Tree("\t")]),
    sw.Tree("-NONE-", ["*"]),
)


def odd(name: str, good: Any) -> list[Any]:
    """Values of the same type as a good one that make little or no sense."""
    if isinstance(good, bool):
        return [not good]
    if isinstance(good, int):
        return [0, -1, 1] if name in _AMOUNTS else [0, -1, 2**31, 2**63, -(2**70)]
    if name == "tol":
        # A tolerance that no double can reach asks for work without end.
        return [0.0, -1.0, float("nan"), float("inf")]
    if isinstance(good, float):
        return [0.0, -1.0, 1.5, float("nan"), float("inf"), -float("inf"), 5e-324, 1e308]
    if isinstance(good, str):
        return [
            "",
            " ",
            "nope",
            "\0",
            "é\u2028",
            "(" * 3000,
            "[" * 3000,
            "(a b",
            "x" * 5000,
            "/nonexistent/folder/x",
            "\t",
        ]
    if isinstance(good, sw.Tree):
        return list(ODD_TREES)
    if isinstance(good, sw.TreeArray):
        return [
            good[:0],
            good[:1],
            sw.TreeArray(ODD_TREES),
            sw.TreeArray([["(a b)"], []]),
            sw.TreeArray([DEEP] * len(good)),
        ]
    if isinstance(good, sw.Examples):
        return [good[:0], good[:1], sw.Examples(other=["(a b)"])]
    if isinstance(good, np.ndarray):
        wrong = [
            good[:0],
            good[:1],
            np.concatenate([good, good]),
            good[None],
            good.astype(float) * np.nan,
            np.zeros_like(good),
        ]
        return [*wrong, good + good.dtype.type(7)] if good.dtype.kind in "iu" else [*wrong, np.full_like(good, np.inf)]
    if type(good) in (list, tuple):
        kind = type(good)
        found = [kind(), kind(good[:1]), kind([*good, *good[:1]]), kind([*good, *good])]
        if good and isinstance(good[0], (int, float)):
            found += [
                kind([float("nan")] * len(good)),
                kind([-1] * len(good)),
                kind([0] * len(good)),
                kind([2**40] * len(good)),
            ]
        if good and isinstance(good[0], str):
            found += [
                kind([""] * len(good)),
                kind(["same"] * len(good)),
                kind(["(" * 500] * len(good)),
                kind(["\t\n"] * len(good)),
            ]
        if good and isinstance(good[0], sw.Tree):
            found += [kind(ODD_TREES), kind([DEEP] * len(good))]
        if good and isinstance(good[0], tuple) and all(isinstance(one, int) for one in good[0]):
            found += [kind([(0, -1)] * len(good)), kind([(0, 2**40)] * len(good)), kind([(-5, -7)] * len(good))]
        return found
    if isinstance(good, dict):
        return [{}]
    return [good]


ALIEN: list[Any] = [
    None,
    True,
    3,
    -1.5,
    float("nan"),
    "",
    "x",
    b"\xff",
    [],
    [None],
    [[]],
    {},
    {1: 2},
    (),
    object(),
    ...,
    np.zeros(0),
    np.zeros((2, 2)),
    np.array(["a", None], dtype=object),
    sw.Tree("a"),
    sw.TreeArray([]),
    int,
    lambda *_: None,
    range(3),
    {"a"},
    1j,
    "\ud800",
]


@pytest.fixture(scope="module", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Some of the senseless values are file names that can be written to.
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield
    os.chdir(before)


def call(name: str, keywords: dict[str, Any]) -> None:
    function, _ = entries.ENTRIES()[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        function(**keywords)


PACKAGES = (*entries.PACKAGES, "sapwood.errors", "sapwood.experiments", "sapwood.scale", "sapwood.tasks")


@pytest.mark.parametrize("name", PACKAGES)
def test_completion_shows_public_names_alone(name: str) -> None:
    module = import_module(name)
    assert [one for one in dir(module) if not one.startswith("__")] == sorted(module.__all__)


def test_public_names_can_be_held_in_mind() -> None:
    """A name that two packages show counts once; modules only lead to names, and do not count."""
    modules = [import_module(name) for name in PACKAGES]
    values = {id(getattr(module, name)): (module, name) for module in modules for name in module.__all__}
    names = [f"{module.__name__}.{name}" for module, name in values.values() if not ismodule(getattr(module, name))]
    assert len(names) <= 250, f"{len(names)} public names: {', '.join(sorted(names))}"


@pytest.mark.slow
def test_packages_need_no_import() -> None:
    """Attributes lead everywhere, in a process that has imported nothing else."""
    program = "import sapwood as sw; sw.tasks.roles.RoleLabeler; sw.draw.span_text; sw.scale; sw.corpora; sw.learn"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_public_name_is_covered() -> None:
    """A new public callable needs an entry, or a fuzz target if it reads files; records need neither."""
    public = entries.public()
    missing = [
        name
        for name, value in public.items()
        if name not in entries.ENTRIES() and name not in entries.READERS and not entries.is_record(value)
    ]
    assert not missing, f"say in tests/entries.py how to call {missing}"
    gone = [
        name for name in (*entries.ENTRIES(), *entries.READERS) if name not in public and name not in entries.INTERNAL
    ]
    assert not gone, f"no longer public: {gone}"
    assert set(entries.READERS.values()) <= set(TARGETS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(entries.ENTRIES()))
def test_good_calls_work_and_senseless_ones_say_so(name: str) -> None:
    _, good = entries.ENTRIES()[name]
    call(name, dict(good))
    for argument, value in good.items():
        for wrong in odd(argument, value):
            try:
                call(name, {**good, argument: wrong})
            except SapwoodError:
                pass
            except Exception as error:
                raise AssertionError(f"{name}({argument}={str(wrong)[:80]!r}) ended in {error!r}") from error


@pytest.mark.slow
@settings(max_examples=2)
@pytest.mark.parametrize("name", sorted(entries.ENTRIES()))
@given(seed=st.integers(0, 2**32))
def test_values_of_other_types(name: str, seed: int) -> None:
    _, good = entries.ENTRIES()[name]
    if not good:
        return
    dice = random.Random(seed)
    for _ in range(4):
        wrong = {
            argument: dice.choice(ALIEN)
            for argument in dice.sample(sorted(good), min(len(good), dice.choice((1, 1, 2))))
        }
        try:
            call(name, {**good, **wrong})
        except (SapwoodError, TypeError, AttributeError, ValueError, LookupError):
            pass
        except Exception as error:
            raise AssertionError(f"{name}({wrong!r}) ended in {error!r}") from error
