"""The frames of the nursery: what its verbs evoke, and which phrases fill which roles.

Frames have the form of FrameNet's, core and other roles, exclusions and requirements included: where a theme is two
things joined by "and", each fills a numbered role of its own, the two require each other, and both exclude the role
for a single theme.
"""

from __future__ import annotations

from functools import cache

from sapwood.corpora.framenet.fulltext import AnnotatedSentence, Filler, FrameTarget
from sapwood.corpora.framenet.lexicon import Frame, FrameElement, LexicalUnit, Lexicon
from sapwood.corpora.nursery.corpus import Nursery, NurserySentence
from sapwood.corpora.nursery.lexicon import lexicon

__all__ = ["frame_lexicon", "frames"]

# Frame, the verbs that evoke it (the first of each group of synonyms stands for all), agent, theme, recipient.
_FRAMES = """
Perceiving  see,watch  Perceiver  Phenomenon
Pursuing    chase      Pursuer    Quarry
Ingesting   eat        Ingestor   Food
Cutting     cut        Agent      Item
Hitting     hit        Agent      Victim
Decorating  paint      Decorator  Surface
Repairing   repair     Repairer   Fault
Giving      give       Donor      Gift        Recipient
Sending     send       Sender     Message     Addressee
Showing     show       Presenter  Display     Audience
Buying      buy        Buyer      Goods
Finding     find       Finder     Find
Carrying    carry      Carrier    Load
Building    build      Builder    Result
Owning      own        Owner      Possession
Knowing     know       Cognizer   Acquaintance
Liking      like,admire  Experiencer  Content
Feeding     feed       Feeder     Animal
"""


@cache
def frame_lexicon() -> Lexicon:
    """Return the frames of the nursery.

    >>> giving = frame_lexicon()["Giving"]
    >>> [role.name for role in giving.elements][:5], giving.requires
    (['Donor', 'Gift', 'Gift_1', 'Gift_2', 'Recipient'], ((2, 3),))
    """
    made = []
    verbs = lexicon().verbs
    for name, evoking, agent, theme, recipient in _lines():
        one, two = f"{theme}_1", f"{theme}_2"
        elements = [
            FrameElement(agent),
            FrameElement(theme, excludes=(one, two)),
            FrameElement(one, requires=(two,)),
            FrameElement(two, requires=(one,)),
        ]
        elements += [FrameElement(recipient)] if recipient else []
        elements += [FrameElement(each, "Peripheral") for each in ("Instrument", "Place", "Time")]
        units = [LexicalUnit(f"{form}.v", (form,)) for verb in evoking for form in verbs[verb].synonyms]
        made.append(Frame(name, tuple(elements), ((theme, one),), tuple(units)))
    return Lexicon.of(made)


def frames(corpus: Nursery) -> list[AnnotatedSentence]:
    """Return the sentences of a nursery with the frame of each verb and what fills its roles.

    Positions are characters of the words joined by single spaces.

    Examples
    --------
    >>> from sapwood.corpora import nursery
    >>> sentence = frames(nursery.generate(size=30))[0]
    >>> sentence.text, sentence.targets[0].frame
    ('The injured grower feeds this pussycat and the rabbit with the kitchen fork .', 'Feeding')
    >>> [(filler.role, sentence.text[filler.start : filler.end + 1]) for filler in sentence.targets[0].fillers]
    [('Feeder', 'The injured grower'), ('Animal_1', 'this pussycat'), ('Animal_2', 'the rabbit'),
     ('Instrument', 'with the kitchen fork')]
    """
    return [_annotated(sentence, number) for number, sentence in enumerate(corpus.sentences)]


def _annotated(sentence: NurserySentence, number: int) -> AnnotatedSentence:
    offsets, start = [], 0
    for word in sentence.words:
        offsets.append((start, start + len(word) - 1))
        start += len(word) + 1
    name, roles = _by_verb()[sentence.event.verb.base]
    spans: list[tuple[str, int, int]] = []
    for slot, (first, last) in sentence.spans.items():
        role = roles.get(slot)
        phrase = sentence.event.slots.get("theme")
        if role is None:
            continue
        if slot == "theme" and phrase is not None and phrase.also is not None:
            before = bool(phrase.determiner) + len(phrase.modifiers)
            after = len(phrase.also.tree().leaves())
            spans.append((f"{role}_1", first, first + before))
            spans.append((f"{role}_2", first + before + 2, first + before + 1 + after))
        else:
            spans.append((role, first, last))
    spans.sort(key=lambda span: span[1])
    fillers = tuple(Filler(role, offsets[first][0], offsets[last][1]) for role, first, last in spans)
    target = FrameTarget(name, (offsets[sentence.predicate],), fillers, (), f"{sentence.event.verb.base}.v")
    tree_tags = tuple(node.label for node in sentence.tree.preorder() if node.children and node.children[0].is_leaf)
    return AnnotatedSentence("nursery", str(number), " ".join(sentence.words), tuple(offsets), tree_tags, (target,))


def _lines() -> list[tuple[str, list[str], str, str, str]]:
    rows = [line.split() for line in _FRAMES.strip().splitlines()]
    return [(row[0], row[1].split(","), row[2], row[3], row[4] if len(row) > 4 else "") for row in rows]


@cache
def _by_verb() -> dict[str, tuple[str, dict[str, str]]]:
    """For each verb its frame, and the role of each slot."""
    found = {}
    verbs = lexicon().verbs
    for name, evoking, agent, theme, recipient in _lines():
        roles = {"agent": agent, "theme": theme, "instrument": "Instrument", "place": "Place", "time": "Time"}
        roles |= {"recipient": recipient, "receiver": recipient} if recipient else {}
        for verb in evoking:
            for form in verbs[verb].synonyms:
                found[form] = name, roles
    return found
