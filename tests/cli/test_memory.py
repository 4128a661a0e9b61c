"""Long texts go through the commands in memory that does not grow with them."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import sapwood as sw
from sapwood.corpora import nursery
from sapwood.parse import PCFGParser
from sapwood.tasks.questions import QuestionClassifier, plain_kernel
from sapwood.tasks.roles import RoleLabeler

# Answers between which memory is measured: after all words have been met, and later.
_FIRST, _LAST = 512, 1536
# How many more objects there may be, of which every sentence has dozens, and how many more bytes: the allocator keeps
# some, and has less to say about the bytes of native code.
_OBJECTS, _BYTES = (_LAST - _FIRST) // 2, 6 << 20

_CHILD = """
import gc, os, sys
from sapwood.cli import main
from sapwood.parse import Token

class Output:
    lines, found = 0, []
    def write(self, text):
        self.lines += text.count("\\n")
        if self.lines in ({first}, {last}):
            gc.collect()
            pages = int(open("/proc/self/statm").read().split()[1])
            # Sentences of the text are split in blocks, of which there may be one or two now.
            objects = sum(not isinstance(one, (Token, list)) for one in gc.get_objects())
            self.found += objects, pages * os.sysconf("SC_PAGE_SIZE")
    def flush(self):
        pass

real, sys.stdout = sys.stdout, Output()
assert main(sys.argv[1:]) == 0
print(*sys.stdout.found, file=real)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("memory")
    corpus = nursery.generate(size=200)
    parser = PCFGParser(vertical=1, splits=()).fit(corpus.trees)
    sw.save(parser, found / "parser.sap")
    sw.save(RoleLabeler(parser=parser).fit(corpus.role_sentences()[:60]), found / "roles.sap")
    asked = [one for one in corpus.sentences if one.label is not None][:30]
    model = QuestionClassifier(plain_kernel(), parser=parser)
    sw.save(model.fit([one.tree for one in asked], [one.label[0] for one in asked]), found / "questions.sap")
    # No sentence twice, so that what is kept of sentences shows; what is kept of words has limits of its own.
    chance = random.Random(0)
    words = [f"{chance.randrange(1 << 60):x}" for _ in range(100)]
    pairs = chance.sample([*product(words, words)], _LAST + 64)
    lines = [f"The {first} saw the {second} .\n" for first, second in pairs]
    (found / "lines.txt").write_text("".join(lines))
    (found / "text.txt").write_text("\n".join(lines))
    return found


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process is not to be read here")
@pytest.mark.parametrize(
    "command",
    [
        ["parse", "parser.sap", "text.txt"],
        ["predict", "roles.sap", "text.txt"],
        ["predict", "questions.sap", "lines.txt"],
    ],
    ids=["parse", "roles", "questions"],
)
def test_memory_does_not_grow_with_the_text(command, folder):
    child = _CHILD.format(first=_FIRST, last=_LAST)
    found = subprocess.run(
        [sys.executable, "-c", child, *command, "--threads", "1"], cwd=folder, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    objects, size, more_objects, more_size = map(int, found.stdout.split())
    assert more_objects - objects < _OBJECTS
    assert more_size - size < _BYTES
