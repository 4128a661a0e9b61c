"""FrameNet's lexicon: frames, their roles (frame elements), what these exclude and require, and lexical units.

Reads the files ``frame/*.xml`` and ``frRelation.xml`` of FrameNet 1.5 and 1.7. Definitions are skipped: they are prose
for people. Annotated texts belong to ``fulltext``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sapwood.corpora.xml_stream import Element, elements
from sapwood.errors import DataError
from sapwood.notebook import HtmlTable
from sapwood.sources import Sources, Stream, open_all

__all__ = [
    "CORE_TYPES",
    "Frame",
    "FrameElement",
    "FrameRelation",
    "LexicalUnit",
    "Lexicon",
    "read_frame",
    "read_frames",
    "read_relations",
    "relations_in",
]

CORE_TYPES = ("Core", "Core-Unexpressed", "Peripheral", "Extra-Thematic")
"""How closely a role belongs to its frame."""

_PROSE = ("definition", "semType", "frameRelation", "sentenceCount", "header")


@dataclass(frozen=True)
class FrameElement(HtmlTable):
    """A role of a frame.

    Attributes
    ----------
    name : str
        Such as ``Donor``.
    core_type : str
        One of ``CORE_TYPES``.
    excludes, requires : tuple of str
        Roles of the same frame that may not be overt beside it, and that must be, as the lexicon lists them.
    """

    name: str
    core_type: str = "Core"
    excludes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()

    @property
    def is_core(self) -> bool:
        """Whether the type is ``Core`` and nothing else."""
        return self.core_type == "Core"


@dataclass(frozen=True)
class LexicalUnit(HtmlTable):
    """A word, or several, in the sense that evokes a frame: ``name`` such as ``give_up.v``, and its words."""

    name: str
    lexemes: tuple[str, ...] = ()

    @property
    def lemma(self) -> str:
        """The name without part of speech and remarks, in lower case, words separated by spaces.

        >>> LexicalUnit("similarity_((mass)).n").lemma, LexicalUnit("give_up.v").lemma, LexicalUnit("U.S..n").lemma
        ('similarity', 'give up', 'u.s.')
        """
        stem = self.name.rpartition(".")[0] or self.name
        for opening in ("((", "(", "["):
            at = stem.find(opening)
            if at > 0:
                stem = stem[:at]
        return stem.replace("_", " ").strip().lower()

    @property
    def pos(self) -> str:
        """The part of speech: ``v``, ``n``, ``a``, ``adv``, ``prep`` and so on."""
        return self.name.rpartition(".")[2].lower()


@dataclass(frozen=True)
class Frame(HtmlTable):
    """A frame with its roles in the order of the lexicon.

    Examples
    --------
    >>> roles = (FrameElement("Entities", excludes=("Entity_1",)), FrameElement("Entity_1", requires=("Entity_2",)),
    ...          FrameElement("Entity_2", requires=("Entity_1",)))
    >>> frame = Frame("Similarity", roles)
    >>> frame.excludes, frame.requires
    (((0, 1),), ((1, 2),))
    """

    name: str
    elements: tuple[FrameElement, ...]
    core_sets: tuple[tuple[str, ...], ...] = ()
    lexical_units: tuple[LexicalUnit, ...] = ()

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The number of each role."""
        return {element.name: number for number, element in enumerate(self.elements)}

    @cached_property
    def excludes(self) -> tuple[tuple[int, int], ...]:
        """Pairs of role numbers that exclude each other; either may have listed it, and each pair stands once."""
        return self._pairs([element.excludes for element in self.elements])

    @cached_property
    def requires(self) -> tuple[tuple[int, int], ...]:
        """Pairs of role numbers that require each other, likewise."""
        return self._pairs([element.requires for element in self.elements])

    def _pairs(self, named: Sequence[Sequence[str]]) -> tuple[tuple[int, int], ...]:
        found = {
            (min(one, other), max(one, other))
            for one, names in enumerate(named)
            for name in names
            if (other := self.index.get(name, one)) != one
        }
        return tuple(sorted(found))


@dataclass(frozen=True)
class FrameRelation:
    """How one frame comes from another: the kind (``Inheritance``, ``Using``, ...), and which role is which."""

    kind: str
    child: str
    parent: str
    elements: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Lexicon(HtmlTable):
    """All frames and how they are related.

    Attributes
    ----------
    frames : mapping of str to Frame
    relations : tuple of FrameRelation

    Examples
    --------
    >>> lexicon = Lexicon.of([Frame("Giving", (FrameElement("Donor"),), (), (LexicalUnit("give.v"),))])
    >>> lexicon["Giving"].elements[0].name, [frame.name for frame in lexicon.evoked_by("give", "v")]
    ('Donor', ['Giving'])
    """

    frames: Mapping[str, Frame]
    relations: tuple[FrameRelation, ...] = field(default=())

    @classmethod
    def of(cls, frames: Iterable[Frame], relations: Iterable[FrameRelation] = ()) -> Lexicon:
        """Make a lexicon of frames, which must have different names."""
        named: dict[str, Frame] = {}
        for frame in frames:
            if frame.name in named:
                raise DataError(f"the frame {frame.name!r} comes twice; name each file of the lexicon once.")
            named[frame.name] = frame
        return cls(named, tuple(relations))

    def __getitem__(self, name: str) -> Frame:
        found = self.frames.get(name)
        if found is None:
            raise DataError(
                f"the lexicon has no frame {name!r}; it has {len(self.frames):,} others. Use the lexicon of the same "
                "FrameNet release as the annotation."
            )
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.frames

    def __len__(self) -> int:
        return len(self.frames)

    def evoked_by(self, lemma: str, pos: str | None = None) -> list[Frame]:
        """Return the frames with a lexical unit of this lemma, and of this part of speech if one is given."""
        units = self._by_lemma.get(lemma.lower(), ())
        return [self.frames[name] for name, tag in units if pos is None or tag == pos]

    @property
    def lemmas(self) -> Iterable[str]:
        """The lemmas of all lexical units."""
        return self._by_lemma.keys()

    @cached_property
    def _by_lemma(self) -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, dict[tuple[str, str], None]] = {}
        for frame in self.frames.values():
            for unit in frame.lexical_units:
                found.setdefault(unit.lemma, {})[frame.name, unit.pos] = None
        return {lemma: tuple(units) for lemma, units in found.items()}

    @cached_property
    def ancestors(self) -> Mapping[tuple[str, str], tuple[tuple[str, str], ...]]:
        """For each role, as (frame, role), those that it comes from by inheritance, nearest first."""
        parents: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for relation in self.relations:
            if relation.kind == "Inheritance":
                for child, parent in relation.elements:
                    parents.setdefault((relation.child, child), []).append((relation.parent, parent))
        result: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {}
        for role in parents:
            above: dict[tuple[str, str], None] = {}
            queue = list(parents[role])
            for each in queue:
                if each not in above and each != role:
                    above[each] = None
                    queue.extend(parents.get(each, ()))
            result[role] = tuple(above)
        return result


def read_frames(source: Sources) -> Iterator[Frame]:
    """Yield the frames of ``frame/*.xml`` files, one per file.

    Parameters
    ----------
    source : path, pattern, open file, or a list of these
        Also members of archives: ``"fndata-1.5-core.tar.xz/fndata-1.5/frame/*.xml"``.

    Raises
    ------
    FormatError
        With file, line and column: broken XML, a document type, or a file that holds no frame.
    """
    for stream in open_all(source):
        yield read_frame(stream)


def read_frame(stream: Stream) -> Frame:
    """Read one frame from an opened file."""
    (element,) = elements(stream, "frame", "frame", skip=lambda name, _: name in _PROSE)
    # A few frames of the release define a role twice; one role with what both definitions say is meant.
    named: dict[str, FrameElement] = {}
    for role in map(_role, element.all("FE")):
        first = named.setdefault(role.name, role)
        if first is not role:
            excludes, requires = (*first.excludes, *role.excludes), (*first.requires, *role.requires)
            named[role.name] = FrameElement(role.name, role.core_type, excludes, requires)
    core_sets = tuple(_names(one, "memberFE") for one in element.all("FEcoreSet"))
    units = tuple(map(_lexical_unit, element.all("lexUnit")))
    return Frame(element.needed("name"), tuple(named.values()), core_sets, units)


def _role(element: Element) -> FrameElement:
    kind = element.attributes.get("coreType", "")
    if kind not in CORE_TYPES:
        raise element.fault(f"a role whose coreType is {kind!r}; expected one of {', '.join(CORE_TYPES)}")
    return FrameElement(element.needed("name"), kind, _names(element, "excludesFE"), _names(element, "requiresFE"))


def _lexical_unit(element: Element) -> LexicalUnit:
    lexemes = [
        (one.number("order") if one.attributes.get("order") else 1, one.attributes.get("name", ""))
        for one in element.all("lexeme")
    ]
    return LexicalUnit(element.needed("name"), tuple(word for _, word in sorted(lexemes)))


def _names(element: Element, name: str) -> tuple[str, ...]:
    return tuple(child.needed("name") for child in element.all(name))


def read_relations(source: Sources) -> tuple[FrameRelation, ...]:
    """Read the relations between frames from ``frRelation.xml``."""
    return tuple(relation for stream in open_all(source) for relation in relations_in(stream))


def relations_in(stream: Stream) -> Iterator[FrameRelation]:
    """Yield the relations of one opened file."""
    for kind in elements(stream, "frameRelations", "frameRelationType"):
        for one in kind.all("frameRelation"):
            pairs = tuple((pair.needed("subFEName"), pair.needed("superFEName")) for pair in one.all("FERelation"))
            frames = one.needed("subFrameName"), one.needed("superFrameName")
            yield FrameRelation(kind.needed("name"), *frames, pairs)
