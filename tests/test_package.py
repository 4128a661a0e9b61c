"""The package as such: quick to import, nothing heavy, the public names in place."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

import sapwood as sw

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_import_loads_nothing_heavy(fresh: Run) -> None:
    code = """
        import sys
        import sapwood
        heavy = {"sklearn", "nltk", "scipy", "numpy", "pandas", "tqdm", "safetensors", "matplotlib"}
        print(sorted(heavy & set(sys.modules)))
    """
    assert fresh(code).stdout == "[]\n"


@pytest.mark.timing
def test_import_is_quick(fresh: Run) -> None:
    code = "import time; start = time.process_time(); import sapwood; print(time.process_time() - start)"
    # The least of three: other work on the machine must not decide.
    assert min(float(fresh(code).stdout) for _ in range(3)) < 0.2


@pytest.mark.slow
def test_using_trees_and_kernels_loads_no_other_toolkit(fresh: Run) -> None:
    done = fresh(
        """
        import sys
        import sapwood as sw
        sw.kernels.SubsetTree().normalized()(["(a b)", "(a c)"])
        sw.Tree.fromstring("(a b)")
        print(sorted({"sklearn", "nltk", "pandas", "tqdm", "safetensors"} & set(sys.modules)))
        """
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "Tree",
        "TreeArray",
        "Examples",
        "read_trees",
        "write_trees",
        "save",
        "load",
        "options",
        "kernels",
        "trees",
        "errors",
    ],
)
def test_public_names(name: str) -> None:
    assert name in sw.__all__
    assert name in dir(sw)
    assert getattr(sw, name) is not None


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'sapwood' has no attribute 'nope'") as caught:
        _ = sw.nope  # type: ignore[attr-defined]
    # What Python makes its "Did you mean" of.
    assert (caught.value.name, caught.value.obj) == ("nope", sw)


def test_every_error_is_ours_and_also_built_in() -> None:
    for name in sw.errors.__all__:
        kind = getattr(sw.errors, name)
        assert issubclass(kind, sw.SapwoodError)
        if kind is not sw.SapwoodError:
            assert issubclass(kind, (ValueError, ArithmeticError, MemoryError, OSError))


def test_errors_survive_a_trip_to_another_process() -> None:
    import pickle

    for error in (sw.BracketError("f", 2, 3, "why", "    x\n    ^"), sw.errors.TooLargeError("big")):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
    for name in sw.errors.__all__:
        kind = getattr(sw.errors, name)
        assert type(kind.__new__(kind)) is kind  # how Dask's tblib makes them again


@pytest.mark.slow
def test_exit_with_trees_in_globals_is_silent(fresh: Run) -> None:
    done = fresh(
        """
        import sapwood as sw, functools
        @functools.cache
        def keep(): return sw.TreeArray(["(a b)"])
        sw.kept = keep()
        class Loop: pass
        loop = Loop(); loop.me = loop; loop.trees = keep()
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_completion_shows_public_names_and_nothing_internal():
    for module in (sw, sw.tasks, sw.parse):
        shown = {name for name in dir(module) if not name.startswith("__")}
        assert shown == set(module.__all__)
    assert sw.tasks.roles.RoleLabeler.__name__ == "RoleLabeler"
    assert sw.draw.outline(sw.Tree.fromstring("(NP (NN rain))"))
