"""The base form of English words by rule: needs no dictionary, so that a model reads words alike on every machine.

Inflection is all that is undone: plurals, tenses, degrees. Rare words may come out a letter short, but all forms of a
word come out the same. Looking lemmas up in a taxonomy belongs to the sources of similarity.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["lemma"]

_VOWELS = frozenset("aeiouy")


def _irregular(text: str) -> dict[str, str]:
    return {form: line.split()[0] for line in text.strip().splitlines() for form in line.split()[1:]}


# The base form first, then what it turns into.
_VERBS = _irregular("""
add adds added adding
arise arises arose arisen
be is are was were been being am 's 're 'm
bear bore borne born
beat beaten
become became becoming
begin began begun beginning
bend bent
bite bit bitten biting
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen choosing
come came coming
create created creating
cut cutting
deal dealt
die died dying
dig dug digging
do does did done doing
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
focus focused focusing
forbid forbade forbidden
forget forgot forgotten forgetting
freeze froze frozen
get got gotten getting
give gave given giving
go goes went gone going
grow grew grown
hang hung
have has had having 've
hear heard
hide hid hidden
hit hitting
hold held
house housed
invite invited inviting
keep kept
know knew known
lay laid
lead led
leave left
lend lent
let letting
lie lying
light lit
lose lost losing
make made making
mean meant
meet met
owe owed owing
pay paid
prove proven
put putting
quit quitting
read reading
ride rode ridden
ring rang rung
rise rose risen
run ran running
say said
see saw seen seeing
seek sought
sell sold
send sent
set setting
shake shook shaken
shoot shot
show shown
shut shutting
sing sang sung
sink sank sunk
sit sat sitting
sleep slept
speak spoke spoken
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
strike struck stricken striking
swear swore sworn
sweep swept
swim swam swum swimming
swing swung
take took taken taking
teach taught
tear tore torn
tell told
think thought
throw threw thrown
tie tied tying
understand understood
unite united uniting
use used using
wake woke woken
wear wore worn
weave wove woven
win won winning
wind wound
write wrote written writing
complete completed completing
edit edited editing
develop developed developing
visit visited visiting
can could ca
will would wo 'll
may might
shall should sha
""")

_NOUNS = _irregular("""
aircraft aircraft
ad ads
analysis analyses
axis axes
bacterium bacteria
bus buses
calf calves
calorie calories
cd cds
child children
crisis crises
criterion criteria
die dice
foot feet
goose geese
half halves
hero heroes
knife knives
leaf leaves
life lives
loaf loaves
louse lice
man men
medium media
mouse mice
movie movies
ox oxen
person people persons
phenomenon phenomena
potato potatoes
series series
shelf shelves
species species
thief thieves
tie ties
tomato tomatoes
tooth teeth
wife wives
wolf wolves
woman women
""")

_DEGREES = _irregular("""
good better best
bad worse worst
far farther farthest further furthest
little less least
much more most
""")

# Singulars that look like plurals.
_SINGULAR = frozenset(
    [
        "gas",
        "lens",
        "bus",
        "news",
        "mathematics",
        "physics",
        "politics",
        "athletics",
        "gymnastics",
        "electronics",
        "genetics",
        "olympics",
        "headquarters",
        "odds",
        "clothes",
        "rabies",
        "us",
        "is",
        "this",
    ]
)
# Plurals of words in -e that look like plurals of words in -o, -us or -ch.
_FINAL_E = frozenset(
    [
        "shoes",
        "toes",
        "hoes",
        "foes",
        "uses",
        "houses",
        "causes",
        "spouses",
        "muses",
        "fuses",
        "ruses",
        "aches",
        "headaches",
        "axes",
    ]
)


@lru_cache(maxsize=1 << 16)
def lemma(word: str, tag: str) -> str:
    """Return the base form of a word in lower case.

    Parameters
    ----------
    word : str
        As it stands in the text.
    tag : str
        Its part of speech in the Penn tag set; only nouns (but no names), verbs, modals and graded words change.

    Examples
    --------
    >>> lemma("countries", "NNS"), lemma("Women", "NNS"), lemma("was", "VBD"), lemma("best", "JJS")
    ('country', 'woman', 'be', 'good')
    >>> lemma("stopped", "VBD"), lemma("invented", "VBD"), lemma("written", "VBN"), lemma("United", "NNP")
    ('stop', 'invent', 'write', 'united')
    """
    form = word.lower()
    return _inflected(form, tag) or form


def _inflected(form: str, tag: str) -> str:
    if tag in ("NNS", "NNPS", "NN"):
        if form in _NOUNS:
            return _NOUNS[form]
        return form if tag == "NN" else _singular(form)
    if tag.startswith("VB") or tag in ("MD", "AUX", "AUXG"):
        return _VERBS.get(form) or _base(form, tag)
    if tag in ("JJR", "JJS", "RBR", "RBS"):
        return _DEGREES.get(form) or _positive(form)
    return form


def _singular(form: str) -> str:
    if form.endswith("men"):
        return form[:-3] + "man"
    if form in _SINGULAR or not form.endswith("s") or form.endswith(("ss", "us", "is")) or len(form) <= 3:
        return form
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes", "uses")) and form not in _FINAL_E:
        return form[:-2]
    return form[:-2] if form.endswith("'s") else form[:-1]


def _base(form: str, tag: str) -> str:
    if form.endswith("s") and tag in ("VBZ", "AUX"):
        if form.endswith("ies") and len(form) > 4:
            return form[:-3] + "y"
        return form[:-2] if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")) else _singular(form)
    if tag in ("VB", "VBP"):
        return form
    if form.endswith("ied"):
        return form[:-3] + "y"
    for ending in ("eed", "ed", "ing"):
        stem = form[: len(form) - len(ending)]
        if form.endswith(ending) and (ending == "eed" or any(letter in _VOWELS for letter in stem)):
            return form if ending == "eed" and len(form) < 6 else _restore(stem + ("ee" if ending == "eed" else ""))
    return form


def _positive(form: str) -> str:
    for ending in ("iest", "ier"):
        if form.endswith(ending):
            return form[: len(form) - len(ending)] + "y"
    for ending in ("est", "er"):
        stem = form[: len(form) - len(ending)]
        if form.endswith(ending) and len(stem) > 2:
            return _restore(stem)
    return form


def _restore(stem: str) -> str:
    """Give a stem back what its ending took: a final e, or the second of a doubled consonant."""
    if len(stem) < 2 or stem.endswith("ee"):
        return stem
    last, before = stem[-1], stem[-2]
    if last == before and last not in "lszfeo":
        return stem[:-1]
    if last in "aeoyxwh" or (last == "l" and before == "l") or (last == "s" and before == "s"):
        return stem + "e" if stem.endswith("th") and before == "t" and stem[-3:-2] in ("a", "o") else stem
    if last in "vcuz" or (last == "s" and before != "s"):
        return stem + "e"
    if last == "g":
        return stem + "e" if before in "dra" or (stem.endswith(("ang", "eng")) and len(stem) > 4) else stem
    if last == "l" and before not in _VOWELS and before not in "rw":
        return stem + "e"
    if before in _VOWELS and before != "y":
        if len(stem) > 2 and stem[-3] in _VOWELS and stem[-3:-1] != "ui":
            return stem + "e" if stem.endswith("iat") else stem
        syllables = sum(
            letter in _VOWELS and (at == 0 or stem[at - 1] not in _VOWELS) for at, letter in enumerate(stem)
        )
        # One short syllable before one consonant ("nam", "hop") had an e; longer stems mostly by their ending.
        if syllables == 1 or stem.endswith(_WITH_E):
            return stem + "e"
    return stem


# Last letters of longer stems that mostly go with an e, as in "provid" or "determin".
_WITH_E = (
    "at", "ir", "ar", "ur", "or", "in", "id", "ud", "ad", "od", "um", "am", "ut", "ot",
    "ik", "ak", "ok", "ap", "is", "av", "iv", "ib", "il",
)  # fmt: skip
