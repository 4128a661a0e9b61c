"""Training twice gives the same files, also in processes that order sets and dictionaries of text in other ways."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TRAIN = {
    "parser": "from sapwood.parse import PCFGParser; model = PCFGParser().fit(corpus.trees)",
    "roles": (
        "from sapwood.tasks.roles import RoleLabeler; model = RoleLabeler(nouns=True).fit(corpus.role_sentences())"
    ),
    "frames": (
        "from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames; "
        "lexicon, data = nursery_frames(corpus); "
        "model = FrameParser(labeler=FrameLabeler(bits=14, epochs=2)).fit(data, lexicon=lexicon)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _TRAIN)
def test_two_processes_train_the_same_model(kind: str, tmp_path: Path) -> None:
    code = f"""
import sapwood as sw
from sapwood.corpora import nursery
corpus = nursery.generate(size=120)
{_TRAIN[kind]}
sw.save(model, "plain.sap")
sw.save(model, "compact.sap", compact=True)
"""
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path / seed, env=environment)
    for name in ("plain.sap", "compact.sap"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
