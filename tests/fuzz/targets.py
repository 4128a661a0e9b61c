"""What is fuzzed: every function that reads bytes from elsewhere.

A target takes bytes. It may return, or raise one of Sapwood's own errors; anything else is a finding. What it reads
must also survive being used: records are written again, trees and models are asked something. ``run.py`` lets atheris
choose the bytes, ``test_cases.py`` repeats what was found before.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sapwood as sw
import sapwood.draw
import sapwood.files
from sapwood.errors import SapwoodError

__all__ = ["TARGETS", "Target", "attempt"]

# More than this many records from one input show nothing new.
_MOST = 200


@dataclass(frozen=True)
class Target:
    """A door, and what it is fed to begin with."""

    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    real: tuple[str, ...] = ()
    """Names of corpora in the catalog whose first bytes are seeds too, where they are on the machine."""
    longest: int = 4096
    structured: bool = False
    """Whether the input is a model file, which is damaged part by part instead of byte by byte."""


def attempt(name: str, data: bytes) -> bool:
    """Run a target; True if the input was accepted, False if it was refused the way it should be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TARGETS[name].run(data)
    except SapwoodError as error:
        # A message that cannot be shown is no message.
        str(error).encode("utf-8", "backslashreplace")
        return False
    return True


@cache
def _scratch() -> Path:
    # In memory where there is such a place: a disk would be what decides how many inputs are tried.
    folder = Path(tempfile.mkdtemp(prefix="sapwood-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    import atexit
    import shutil

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _file(data: bytes, ending: str = "") -> Path:
    path = _scratch() / f"{os.getpid()}{ending}"
    path.write_bytes(data)
    return path


def _reader(name: str, *, write: bool = True, **options: Any) -> Callable[[bytes], object]:
    """Read with a module of sapwood.corpora, and write what was read."""

    def run(data: bytes) -> object:
        from sapwood import corpora

        module = getattr(corpora, name)
        found = list(itertools.islice(module.read(io.BytesIO(data), **options), _MOST))
        if write and found:
            module.write(found, _scratch() / f"{os.getpid()}.out", **options)
        return repr(found)

    return run


def _whole(room: str, name: str, **options: Any) -> Callable[[bytes], object]:
    """Read everything at once with a function of any room."""

    def run(data: bytes) -> object:
        from importlib import import_module

        found = getattr(import_module(room), name)(io.BytesIO(data), **options)
        return repr(list(itertools.islice(found, _MOST)) if hasattr(found, "__next__") else found)

    return run


def _trees(data: bytes) -> object:
    if not data:
        return None
    switches, text = data[0], data[1:]
    names = ("drop_traces", "drop_function_tags", "collapse_unary", "unescape")
    options = {name: bool(switches >> bit & 1) for bit, name in enumerate(names)}
    trees = sw.read_trees(io.BytesIO(text), **options)
    for tree in itertools.islice(trees, 20):
        (again,) = sw.read_trees(io.StringIO(str(tree)), unescape=True)
        assert again == tree or "-" in str(tree) or "\\" in str(tree), "what is written reads back"
        if tree.size() < 200:
            sw.trees.binarize(tree), sw.trees.collapse_unary(tree), sw.draw.outline(tree)
    return sw.kernels.SubsetTree(0.4).normalized()(trees[:20]) if trees.node_count() < 2000 else None


def _questions(data: bytes) -> object:
    from sapwood.tasks.questions import find_focus, question_views

    trees = sw.read_trees(io.BytesIO(data))
    for tree in itertools.islice(trees, 5):
        find_focus(tree)
    return question_views(trees[:5])


def _text(data: bytes) -> object:
    from sapwood.parse import split_sentences

    text = data.decode("utf-8", "surrogateescape")
    sentences = split_sentences(text)
    for token in itertools.chain.from_iterable(sentences):
        assert 0 <= token.begin < token.end <= len(text), "a token lies in the text"
    words = [str(token) for token in itertools.chain.from_iterable(sentences)][:10]
    return repr(_parser().parse_nbest(words, 2)) if words else None


@cache
def _parser() -> Any:
    import specimens

    return specimens.specimen("PCFGParser")


def _vectors(data: bytes) -> object:
    from sapwood.words import Vectors

    ending = ".gz" if data[:2] == b"\x1f\x8b" else ".txt"
    return Vectors.read(_file(data, ending)).matrix(["dog", "cat"])


def _table(data: bytes) -> object:
    from sapwood.words import Table

    return Table.from_ppdb(_file(data, ".txt")).matrix(["dog", "cat"])


def _counts(data: bytes) -> object:
    from sapwood.words.wordnet import _read_counts

    return _read_counts(str(_file(data, ".gz" if data[:2] == b"\x1f\x8b" else ".dat")))


def _kernel(data: bytes) -> object:
    from sapwood.kernels import parse_kernel

    kernel = parse_kernel(data.decode("utf-8", "replace"))
    again = repr(kernel)
    if len(again) < 10_000 and "<" not in again:
        assert repr(parse_kernel(again)) == again, "what a kernel prints reads back"
    return again


def _decode(data: bytes) -> object:
    from sapwood.cli.decode import _answer, _read
    from sapwood.decode import decode_roles_batch

    rows, problems = _read(str(_file(data, ".jsonl")))
    for problem in problems:
        # Problems far larger than sentences take time, and that is no fault.
        if problem.scores.size > 2000 or len(problem.scores) > 64:
            return None
    for method in ("exact", "beam", "ad3", "local"):
        results = decode_roles_batch(problems, method=method, time_limit=0.05, max_nodes=50)
        for row, problem, result in zip(rows, problems, results, strict=True):
            json.dumps(_answer(row, problem.null, result), allow_nan=False)
            if method == "exact" and result.status == "optimal":
                assert not any(result.violations.values()), "an optimum breaks no constraint"
    return results


def _corenlp(data: bytes) -> object:
    from sapwood.corpora import corenlp

    found = list(itertools.islice(corenlp.read(io.BytesIO(data)), _MOST))
    corenlp.write([one.tree for one in found if one.tree is not None], _scratch() / f"{os.getpid()}.out")
    return repr(found)


def _msr(data: bytes) -> object:
    from sapwood.corpora import pairs

    found = list(itertools.islice(pairs.read(io.BytesIO(data)), _MOST))
    pairs.write(found, _scratch() / f"{os.getpid()}.out", format="msr")
    return repr(found)


def _columns(data: bytes) -> object:
    """Parallel files, one after the other with a form feed between them."""
    from sapwood.corpora import conll05

    parts = [io.BytesIO(part) for part in data.split(b"\f\n", 3)]
    names = ("syntax", "words", "senses")
    found = conll05.read(parts[0], **dict(zip(names, parts[1:], strict=False)))
    return repr(list(itertools.islice(found, _MOST)))


_ENDINGS = (".gz", ".xz", ".bz2", ".zip", ".tar", ".tar.gz", ".tar.xz", ".txt")


def _packed(data: bytes) -> object:
    from sapwood.trees import iter_tree_blocks

    if not data:
        return None
    ending = _ENDINGS[data[0] % len(_ENDINGS)]
    path = _file(data[1:], ending)
    inner: Path | str = path / "*" if ".zip" in ending or ".tar" in ending else path
    return [repr(one) for one in itertools.islice(iter_tree_blocks(str(inner)), _MOST)]


def _model(data: bytes) -> object:
    import specimens

    path = _file(data, ".sap")
    sw.files.describe(path)
    value = sw.load(path)
    repr(value)
    try:
        specimens.use(value)
    except MemoryError:
        raise
    except Exception:
        # A model with wrong numbers may be of no use; it must only do no harm.
        return None
    return None


def _splits(data: bytes) -> object:
    from sapwood.corpora.framenet.release import read_splits

    return read_splits(_file(data, ".json"))


def _release(data: bytes) -> object:
    """A whole FrameNet release: frame, text and relations with a form feed between them."""
    from sapwood.corpora import framenet

    folder = _scratch() / f"release-{os.getpid()}"
    parts = [*data.split(b"\f\n", 2), b"", b""]
    for name, content in zip(("frame/a.xml", "fulltext/b.xml", "frRelation.xml"), parts, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return repr(framenet.read(folder))


_TREE = b"(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP it))) (. .))"
_FRAME = b"""<?xml version="1.0" encoding="UTF-8"?><frame name="Similarity"><FE coreType="Core" name="Entities">
<excludesFE name="Entity_1"/></FE><FE coreType="Core" name="Entity_1"><requiresFE name="Entity_2"/></FE>
<FE coreType="Core" name="Entity_2"/><FE coreType="Peripheral" name="Degree"/><FEcoreSet><memberFE name="Entities"/>
<memberFE name="Entity_1"/></FEcoreSet><lexUnit name="take_after.v"><lexeme order="2" name="after"/>
<lexeme order="1" name="take"/></lexUnit></frame>"""
_FULLTEXT = b"""<?xml version="1.0"?><fullTextAnnotation><sentence ID="7"><text>She gave it up &amp; left</text>
<annotationSet status="UNANN"><layer rank="1" name="PENN"><label start="0" end="2" name="PP"/>
<label start="4" end="7" name="VVD"/></layer></annotationSet><annotationSet frameName="Giving_up" luName="give_up.v"
status="MANUAL"><layer rank="1" name="Target"><label start="4" end="7" name="Target"/></layer><layer rank="1" name="FE">
<label start="0" end="2" name="Agent"/><label itype="INI" name="Time"/></layer></annotationSet></sentence>
</fullTextAnnotation>"""
_RELATIONS = b"""<frameRelations><frameRelationType name="Inheritance"><frameRelation superFrameName="Event"
subFrameName="Giving"><FERelation superFEName="Agent" subFEName="Donor"/></frameRelation></frameRelationType>
</frameRelations>"""
_PROBLEM = (
    b'{"id": 1, "scores": [[0, 2, 1.5], [0.5, 1, -1]], "spans": [[-1, -1], [0, 1], [1, 2]], "excludes": [[0, 1]], '
    b'"requires": [], "allowed": [[true, true, false], [true, true, true]], "n_tokens": 3, "roles": ["A", "B"]}\n'
)


def _archives() -> tuple[bytes, ...]:
    import bz2
    import gzip
    import lzma
    import tarfile
    import zipfile

    text = _TREE + b"\n"
    packed, tape = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.mrg", text)
        archive.writestr("b.mrg.gz", gzip.compress(text, mtime=0))
    with tarfile.open(fileobj=tape, mode="w") as archive:
        member = tarfile.TarInfo("a.mrg")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    whole = tape.getvalue()
    contents = (gzip.compress(text, mtime=0), lzma.compress(text), bz2.compress(text), packed.getvalue(), whole[:2048],
                gzip.compress(whole, mtime=0), lzma.compress(whole), text)  # fmt: skip
    return tuple(bytes([number]) + content for number, content in enumerate(contents))


def _models() -> tuple[bytes, ...]:
    import specimens

    path = _scratch() / "specimen.sap"
    found = []
    for name in specimens.SPECIMENS:
        sw.save(specimens.specimen(name), path)
        found.append(path.read_bytes())
    return tuple(found)


class _Lazy(tuple[bytes, ...]):
    """Seeds that take time to make, made when they are first asked for."""

    def __new__(cls, make: Callable[[], Iterable[bytes]]) -> _Lazy:
        self = super().__new__(cls)
        self.make = cache(make)  # type: ignore[attr-defined]
        return self

    def __iter__(self) -> Any:
        return iter(self.make())  # type: ignore[attr-defined]


_CONLL09 = b"1\tdogs\tdog\tdog\tNNS\tNNS\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\tA0\n2\tbark\tbark\tbark\tVBP\tVBP\t_\t_\t0\t0\tROOT\tROOT\tY\tbark.01\t_\n\n"
_JOINED = (
    b"1\tdogs\t_\t_\tNNS\t_\t_\t_\t(S(NP*)\t-\t-\t(ARG0*)\n2\tbark\t_\t_\tVBP\t_\t_\t_\t(VP*))\tbark\tbark.01\t(V*)\n\n"
)

TARGETS: dict[str, Target] = {
    "trees": Target(_trees, (b"\0" + _TREE, b"\x1f( (S (NP-SBJ-1 (-NONE- *T*-1)) (VP (VBD -LRB-))))"), ("penn-sample",)),
    "allennlp": Target(
        _reader("allennlp"), (b'{"verbs": [{"verb": "bark", "tags": ["B-ARG0", "B-V"]}], "words": ["dogs", "bark"]}\n',)
    ),
    "brown": Target(_whole("sapwood.corpora.brown", "read"), (b"\n\n\tThe/at dog/nn ./.\n",), ("brown",)),
    "conll05": Target(_columns, (b"- (A0*)\nbark (V*)\n\n\f\nNNS (S(NP*)\nVBP (VP*))\n\n\f\ndogs\nbark\n\n\f\n-\n01\n\n",)),
    "props": Target(_reader("conll05"), (b"- (A0*)\nbark (V*)\n\n", b"bark (V* (A1*\nbite *) *)\n\n")),
    "conll09": Target(_reader("conll09", write=False), (_CONLL09, b"1\train" + b"\t_" * 12 + b"\n\n")),
    "conllu": Target(
        _reader("conllu"),
        (b"# text = dogs bark\n1\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_\n2-3\tx\t_\t_\t_\t_\t_\t_\t_\t_\n"
         b"2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t0:root\tSpaceAfter=No\n2.1\ty\t_\t_\t_\t_\t_\t_\t_\t_\n\n",),
        ("gum-dependencies",),
    ),
    "skeletons": Target(
        _reader("propbank_columns", format="skeleton"),
        (b"f 0 0 dogs NNS (S(NP*) - - (ARG0*)\nf 0 1 bark VBP (VP*)) bark 01 (V*)\n\n",),
        ),
    "joined": Target(_reader("propbank_columns", format="joined"), (_JOINED,), ("ewt-propbank",)),
    "pointers": Target(
        _reader("propbank"),
        (b"wsj/00/wsj_0001.mrg 0 8 gold join.01 vf--a 0:2-ARG0 7:0-ARGM-MOD 8:0-rel 9:1*3:0-ARG1 4:0;5:0,6:1-ARGM\n",),
        ("propbank-wsj",),
    ),
    "rolesets": Target(
        _reader("rolesets", write=False), (b'{"id": "bark.01", "name": "make a noise", "roles": [{"n": "0", "descr": "dog"}]}\n',)
    ),
    "role_lines": Target(
        _reader("role_lines"),
        (b'{"words": ["dogs", "bark"], "tree": "(S (NP (NNS dogs)) (VP (VBP bark)))", "propositions": [{"predicate": 1, '
         b'"lemma": "bark", "arguments": [{"role": "A0", "first": 0, "last": 0}]}]}\n', b'{"words": ' + b"[" * 3000),
    ),
    "kelp": Target(
        _reader("kelp"),
        (b"A B |BT:t| (NP(NN(rain))) |ET| |BV:v| a:1.0 b:2 |EV| |BDV:d| 1,2.5 |EDV| |BS:s| text |ES|\n",),
        ("trec-kelp",),
    ),
    "corenlp": Target(
        _corenlp, (b"(ROOT\n  (NP (NN rain)))\n\n(ROOT (S (NP (PRP it))))\n\n",)
    ),
    "corenlp_json": Target(
        _corenlp,
        (b'{"sentences": [{"index": 0, "parse": "(ROOT (NP (NN rain)))", "tokens": [{"index": 1, "word": "rain", "lemma": '
         b'"rain", "pos": "NN"}], "basicDependencies": [{"dep": "ROOT", "governor": 0, "dependent": 1}]}]}', b'{"sentences": ' + b"[" * 3000),
    ),
    "nbest": Target(
        _reader("nbest"),
        (b'{"parses": [[-1.0, "(S (NN rain))"], [-2, "(NP (NN rain))"]], "gold": "(S (NN rain))", "fold": 1}\n',
         b'{"parses": [[-1.0, 0.5, 1, 2, "(S (NN rain))"]], "gold_brackets": 3, "name": "x"}\n', b'{"parses": ' + b"[" * 3000,
         b"2\tx\n-1.0\n(S (NN rain))\n-2.5\n(NP (NN rain))\n\n"),
        ("nbest-wsj",),
    ),
    "questions": Target(
        _reader("questions"),
        (b"DESC:def What is rain ?\nNUM:date When did it rain ?\n", b"DESC\tdef\tWhy rain ?\t(S (WRB Why) (NN rain) (. ?))\t\n"),
        ("trec-train", "trec-trees"),
    ),
    "question_trees": Target(_questions, (b"(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (NN rain))) (. ?))", _TREE)),
    "quora": Target(_reader("pairs"), (b"is_duplicate\tquestion1\tquestion2\n1\train\tmore rain\n",), ("quora",)),
    "msr": Target(
        _msr,
        (b"Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\train\tmore rain\n",),
        ("msr-paraphrase",),
    ),
    "labeled": Target(_whole("sapwood.corpora.labeled", "read"), (b"ask\t(S (WH who) (V runs))\ntell\t(S (N he) (V runs))\n",)),
    "tree_pairs": Target(_whole("sapwood.corpora.tree_pairs", "read"), (b"1\t(S (NN rain))\t(S (NN snow))\n",)),
    "text_pairs": Target(_whole("sapwood.corpora.text_pairs", "read"), (b"yes\tDid rain fall ?\tIs it wet ?\n",)),
    "parsed_texts": Target(_whole("sapwood.corpora.parsed_texts", "read"), (b"rain fell\t(S (NN rain) (VBD fell))\n",)),
    "frame_files": Target(_whole("sapwood.corpora.framenet.lexicon", "read_frames"), (_FRAME,)),
    "fulltext": Target(_whole("sapwood.corpora.framenet.fulltext", "read_fulltext"), (_FULLTEXT,)),
    "relations": Target(_whole("sapwood.corpora.framenet.lexicon", "read_relations"), (_RELATIONS,)),
    "release": Target(_release, (_FRAME + b"\f\n" + _FULLTEXT + b"\f\n" + _RELATIONS,)),
    "sentence_parses": Target(
        _whole("sapwood.corpora.framenet", "read_parses"),
        (b'{"doc": "d", "sent_id": "7", "tree": "(S (NN rain))", "offsets": [[0, 3]]}\n', b'{"doc": ' + b"[" * 3000),
    ),
    "splits": Target(_splits, (b'{"dev": ["b"], "test": ["c"]}\n', b"[" * 3000)),
    "frame_records": Target(
        _whole("sapwood.tasks.frames", "iter_records"),
        (b'{"tree": "(S (NP (NN Rain)) (VP (VBD fell)))", "targets": [{"frame": "Motion", "spans": [[5, 8]], "fillers": '
         b'[["Theme", 0, 3]], "annotated": true}], "name": "x", "offsets": [[0, 3], [5, 8]]}\n', _TREE + b"\n", b'{"tree": ' + b"[" * 3000),
    ),
    "packed": Target(_packed, _archives()),
    "vectors": Target(_vectors, (b"2 3\ndog 1 2 3\ncat 0.5 1e-3 -2\n", b"dog 1 2\n")),
    "ppdb": Target(_table, (b"dog\tcat\t0.5\n",)),
    "counts": Target(_counts, (b"wnver::abc\n1740n 1915712 ROOT\n1930n 859272\n",)),
    "text": Target(_text, (b'Mr. Smith said: "Don\'t go!" He left at 5 p.m. on Jan. 3, 2001 (...).',)),
    "kernel": Target(
        _kernel,
        (b"0.5 * SubsetTree(decay=0.3).normalized().on('x') + Subtree() ** 2 * PartialTree(max_subsequence=3) + 1",
         b"GrammarDriven(Grammar([('NP', ('DT', 'NN'), 1)]), lexical='exact') + Polynomial(degree=2).on(\"flat\")",
         b"SemanticSubsetTree(WordSum(Table({('dog', 'cat'): 0.5}), WordScaled(0.5, Inflected())), leaf_weight=2.0)",
         b"CrossPair(SmoothedPartialTree(Taxonomy([('dog', 'animal')])))"),
        longest=1024,
    ),
    "decode": Target(_decode, (_PROBLEM, b'{"scores": ' + b"[" * 3000)),
    "model": Target(_model, _Lazy(_models), longest=1 << 18, structured=True),
}  # fmt: skip
