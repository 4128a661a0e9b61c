"""What fuzzing found before must not come back, and a little damage to every kind of file does no harm."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz.damage import damaged, damaged_model
from fuzz.targets import TARGETS, attempt
from sapwood.errors import SapwoodError

CASES = sorted(path for path in (Path(__file__).parent / "cases").glob("*/*") if path.is_file())


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_found_cases(case: Path) -> None:
    attempt(case.parent.name, case.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_light_damage(name: str) -> None:
    dice = random.Random(name)
    target = TARGETS[name]
    seeds = list(target.seeds)
    # The first seed of each is a good file: a target that refuses everything would prove nothing.
    assert attempt(name, seeds[0])
    change = damaged_model if target.structured else damaged
    for _ in range(150):
        data = change(dice.choice(seeds), dice)
        try:
            attempt(name, data)
        except SapwoodError:
            raise
        except Exception as error:
            raise AssertionError(f"{name} ended in {error!r} for {data[:2000]!r}") from error
