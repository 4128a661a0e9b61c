"""The words of the nursery: a small taxonomy with nouns on its branches, and verbs with what they go with.

Everything is written out below as text, to be read and changed by hand. How words become sentences is in
``grammar``; nothing here is random.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

from sapwood.notebook import HtmlTable
from sapwood.words import Folded, Table, WordSimilarity

__all__ = ["Lexicon", "Noun", "Verb", "lexicon"]

# Indentation is "kind of". After "=", the nouns by which questions ask for the concept; after ":", the nouns under it,
# synonyms joined by "|". A plural that is not regular follows "/".
_TAXONOMY = """
entity
  living
    person = person/people|individual
      adult: farmer|grower, teacher|instructor, doctor|physician, lawyer|attorney, sailor|seaman/seamen
      adult: baker, guard|watchman/watchmen, painter, woman/women|lady, man/men|gentleman/gentlemen
      young: child/children|kid, girl, boy|lad
    animal = animal|creature
      pet: dog|hound, cat|pussycat, rabbit|bunny
      farm animal: horse|steed, sheep/sheep, goat, cow
      wild animal: fox, wolf/wolves, bear, deer/deer
  thing = thing|object
    tool = tool|implement
      optic: telescope|spyglass, camera, magnifier
      blade: knife/knives|cutter, saw, axe|hatchet
      beater: hammer|mallet, stick|rod, club
      applicator: brush|paintbrush, roller
      cutlery: fork, spoon, ladle
    food = food|foodstuff
      baked: loaf/loaves, cake|pastry, pie
      fruit: apple, pear, plum
      dish: soup|broth, stew|casserole, salad
    furniture: table|desk, chair|seat, bench, shelf/shelves
    vehicle: car|automobile, truck|lorry, boat|vessel, bicycle|bike
    message: letter|note, parcel|package, book|volume, picture|photograph
    structure: fence, gate, wall, roof
    accessory: hat|cap, scarf/scarves, collar, bell, coat|jacket, basket
  place = place|location
    city = city|town
    building = building
      premises: house|home, barn, school, shop|store, church, museum
    outdoors: park, garden|yard, field|meadow, forest|wood, harbour|port
"""

_PERSONS = "Anna Ben Clara David Elena Felix Greta Hugo"
_CITIES = "Lisbon Oslo Prague Vienna Dublin Geneva"

# One verb per line: base forms (synonyms joined by "|"; irregular past and participle after "/"), then which concepts
# may fill agent, theme, recipient ("to") and instrument ("with"); "low" marks verbs after which a place belongs to the
# theme, not to the event.
_VERBS = """
see/saw/seen|spot|notice      agent=living theme=living,furniture,vehicle,structure with=optic
watch|observe                 agent=living theme=living,vehicle with=optic
chase|pursue                  agent=living theme=animal,person
eat/ate/eaten|devour          agent=living theme=food with=cutlery
cut/cut/cut|slice             agent=person theme=baked,fruit with=blade
hit/hit/hit|strike/struck/struck  agent=person theme=furniture,vehicle,structure with=beater
paint|decorate                agent=person theme=furniture,structure,premises with=applicator
repair|fix                    agent=person theme=furniture,vehicle,structure with=beater
give/gave/given|hand          agent=person theme=message,food,tool to=person
send/sent/sent|mail           agent=person theme=message to=person
show/showed/shown|present     agent=person theme=message,animal to=person
buy/bought/bought|purchase    agent=person theme=vehicle,food,furniture,accessory
find/found/found|discover     agent=living theme=accessory,message,pet,tool
carry|haul                    agent=person theme=message,food,furniture
build/built/built|construct   agent=person theme=structure,furniture with=beater
own|possess                   agent=person theme=animal,premises,vehicle low
know/knew/known|recognize     agent=person theme=person,animal low
like|love                     agent=living theme=animal,person,food low
admire|respect                agent=person theme=person,premises low
feed/fed/fed                  agent=person theme=animal with=cutlery
"""

_ADJECTIVES = {
    "living": "old young tired hungry quiet friendly famous careful",
    "thing": "old new heavy small broken expensive wooden large",
    "food": "fresh warm sweet small",
    "place": "old large quiet famous",
}
_PARTICIPLES = {"living": "sleeping/VBG injured/VBN", "thing": "painted/VBN missing/VBG", "food": "baked/VBN"}
# Adjectives of one meaning, for paraphrases.
_SAME_ADJECTIVES = "large|big small|little quiet|silent expensive|costly famous|renowned careful|cautious tired|weary"
_COMPOUNDS = {"tool": "kitchen", "furniture": "garden", "structure": "farm", "premises": "village"}


@dataclass(frozen=True)
class Noun:
    """A noun with its forms, its concept and its synonyms (itself among them, in the order of the lexicon)."""

    singular: str
    plural: str
    concept: str
    synonyms: tuple[str, ...]
    name: bool = False

    @property
    def tag(self) -> str:
        """Its Penn tag in the singular."""
        return "NNP" if self.name else "NN"


@dataclass(frozen=True)
class Verb:
    """A verb with its forms and the concepts that may fill its slots."""

    base: str
    present: str
    past: str
    participle: str
    synonyms: tuple[str, ...]
    slots: Mapping[str, tuple[str, ...]]
    low: bool

    def __hash__(self) -> int:
        return hash(self.base)


@dataclass(frozen=True)
class Lexicon(HtmlTable):
    """All words of the nursery.

    Attributes
    ----------
    nouns : dict of str to Noun
        By their singular; names of persons and cities included.
    verbs : dict of str to Verb
        By their base form.
    parents : dict of str to str
        The taxonomy: the parent of each noun and concept; ``entity`` has none.
    kinds : dict of str to tuple of Noun
        The nouns by which questions ask for a concept.
    adjectives : dict of str to tuple of (str, str)
        Words with tags that may stand before nouns of a concept.
    same_adjectives : dict of str to str
        An adjective of the same meaning, where there is one.
    compounds : dict of str to str
        A noun that may stand before nouns of a concept.
    """

    nouns: Mapping[str, Noun]
    verbs: Mapping[str, Verb]
    parents: Mapping[str, str]
    kinds: Mapping[str, tuple[Noun, ...]]
    adjectives: Mapping[str, tuple[tuple[str, str], ...]]
    same_adjectives: Mapping[str, str]
    compounds: Mapping[str, str]

    def ancestors(self, word: str) -> tuple[str, ...]:
        """Return the concepts above a noun or concept, nearest first.

        >>> lexicon().ancestors("dog")
        ('pet', 'animal', 'living', 'entity')
        """
        above = []
        while word in self.parents:
            word = self.parents[word]
            above.append(word)
        return tuple(above)

    @cached_property
    def _above(self) -> dict[str, frozenset[str]]:
        """Each concept with all above it, itself included."""
        concepts = {"entity", *self.kinds, *(noun.concept for noun in self.nouns.values())}
        return {concept: frozenset((concept, *self.ancestors(concept))) for concept in concepts}

    def is_a(self, noun: Noun, *concepts: str) -> bool:
        """Tell whether a noun falls under one of the concepts."""
        return not self._above[noun.concept].isdisjoint(concepts)

    def under(self, *concepts: str) -> tuple[Noun, ...]:
        """Return the nouns under any of the concepts, one per group of synonyms, in the order of the lexicon."""
        if concepts not in self._drawn:
            self._drawn[concepts] = tuple(
                noun for noun in self.nouns.values() if noun.singular == noun.synonyms[0] and self.is_a(noun, *concepts)
            )
        return self._drawn[concepts]

    @cached_property
    def _drawn(self) -> dict[tuple[str, ...], tuple[Noun, ...]]:
        """What ``under`` has found before."""
        return {}

    def similarity(self, value: float = 0.6) -> WordSimilarity:
        """Return a similarity that knows the synonyms, form by form, and nothing else.

        Parameters
        ----------
        value : float
            How similar two of them are.

        Examples
        --------
        >>> similarity = lexicon().similarity()
        >>> similarity("dog", "hound"), similarity("dog", "cat")
        (0.6, 0.0)
        """
        groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for noun in self.nouns.values():
            groups.setdefault(noun.synonyms, []).append((noun.singular, noun.plural))
        for verb in self.verbs.values():
            groups.setdefault(verb.synonyms, []).append((verb.base, verb.present, verb.past, verb.participle))
        groups |= {pair: [(pair[0],), (pair[1],)] for pair in self.same_adjectives.items()}
        return Folded(
            Table(
                {
                    (one, other): value
                    for forms in groups.values()
                    for first, second in combinations(forms, 2)
                    for one, other in zip(first, second, strict=True)
                    if one != other
                }
            )
        )

    def sisters(self, noun: Noun) -> tuple[Noun, ...]:
        """Return the nouns of the same concept that are no synonyms of it."""
        return tuple(other for other in self.under(noun.concept) if other.synonyms != noun.synonyms)


@cache
def lexicon() -> Lexicon:
    """Return the lexicon of the nursery."""
    nouns: dict[str, Noun] = {}
    parents: dict[str, str] = {}
    kinds: dict[str, tuple[Noun, ...]] = {}
    path: list[str] = []
    for line in _TAXONOMY.strip().splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        head, _, listed = line.strip().partition(":")
        concept, _, asked = (part.strip() for part in head.partition("="))
        path[depth:] = [concept]
        if depth:
            parents[concept] = path[depth - 1]
        if asked:
            kinds[concept] = _group(asked, concept)
        for group in filter(None, (part.strip() for part in listed.split(","))):
            for noun in _group(group, concept):
                if noun.singular in parents:
                    raise ValueError(f"{noun.singular!r} stands twice in the taxonomy")
                nouns[noun.singular] = noun
                parents[noun.singular] = concept
    for names, concept in ((_PERSONS, "person"), (_CITIES, "city")):
        for name in names.split():
            nouns[name] = Noun(name, name, concept, (name,), name=True)
            parents[name] = concept
    verbs: dict[str, Verb] = {}
    for line in _VERBS.strip().splitlines():
        forms, *slots = line.split()
        fillers = {key: tuple(value.split(",")) for key, _, value in (slot.partition("=") for slot in slots) if value}
        groups = [form.split("/") for form in forms.split("|")]
        for base, *irregular in groups:
            past, participle = irregular or (_past(base), _past(base))
            synonyms = tuple(group[0] for group in groups)
            verbs[base] = Verb(base, _ending(base, "s"), past, participle, synonyms, fillers, "low" in slots)
    adjectives = {
        concept: tuple((word, "JJ") for word in words.split())
        + tuple((word, tag) for word, _, tag in (pair.partition("/") for pair in _PARTICIPLES.get(concept, "").split()))
        for concept, words in _ADJECTIVES.items()
    }
    same = dict(pair.split("|") for pair in _SAME_ADJECTIVES.split())
    return Lexicon(nouns, verbs, parents, kinds, adjectives, same, _COMPOUNDS)


def _group(text: str, concept: str) -> tuple[Noun, ...]:
    forms = [form.partition("/") for form in text.split("|")]
    synonyms = tuple(singular for singular, _, _ in forms)
    return tuple(Noun(singular, plural or _ending(singular, "s"), concept, synonyms) for singular, _, plural in forms)


def _ending(word: str, ending: str) -> str:
    """Add -s to a noun or verb by the rules of English spelling."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ie{ending}"
    return f"{word}e{ending}" if word.endswith(("s", "sh", "ch", "x", "o")) else f"{word}{ending}"


def _past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}ted" if base == "spot" else f"{base}ed"
