"""Every estimator and transformer does what ``conformance`` asks of its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

import conformance
from specimens import ESTIMATORS

CASES = [
    pytest.param(name, check, id=f"{name}-{check.__name__.removeprefix('check_')}")
    for name, specimen in ESTIMATORS.items()
    for check in conformance.checks_of(specimen)
]


def test_every_estimator_has_a_specimen() -> None:
    missing = set(conformance.estimators()) - {name.split(",")[0] for name in ESTIMATORS}
    assert not missing, f"say in tests/specimens.py how to fit {sorted(missing)}"
    for name, specimen in ESTIMATORS.items():
        assert type(specimen.make()).__name__ == name.split(",")[0]


@pytest.mark.parametrize(("name", "check"), CASES)
def test_conforms(name: str, check: conformance.Check, tmp_path: Path) -> None:
    check(ESTIMATORS[name], tmp_path)
