"""The base form of English words by rule: without a dictionary, so that models do not depend on what is installed.

Inflection is all that is undone: plurals, tenses, degrees. Rare words may come out a letter short, but all forms of a
word come out the same. Looking words up in WordNet belongs to ``wordnet_files``.
"""

from __future__ import annotations

from functools import lru_cache

from sapwood.penn import ADJECTIVE_TAGS, ADVERB_TAGS, AUXILIARY_TAGS

__all__ = ["lemma", "singular"]

_VOWELS = frozenset("aeiouy")


def _irregular(text: str) -> dict[str, str]:
    return {form: line.split()[0] for line in text.strip().splitlines() for form in line.split()[1:]}


# The base form first, then what it turns into.
_VERBS = _irregular("""
abide abode
add adds added adding
arise arose arisen
awake awoke awoken
babysit babysat babysitting
be is are was were been being am 's 're 'm s re m ai
bear bore borne born
beat beaten
become became becoming
befall befell befallen
beget begat begot begotten
begin began begun beginning
behold beheld
belie belied belying
bend bent
bereave bereft
beseech besought
bid bade bidden
bind bound
bite bit bitten biting
bleed bled
blow blew blown
bore bored boring
bound bounded bounding
break broke broken
breed bred
bring brought
browbeat browbeaten
build built
burn burnt
buy bought
catch caught
choose chose chosen choosing
cleave cleft clove cloven
cling clung
come came coming
compete competed competing
complete completed completing
control controlled controlling
create created creating
creep crept
cringe cringed cringing
cut cutting
deal dealt
delete deleted deleting
deplete depleted depleting
develop developed developing
die died dying
dig dug digging
dive dove
do does did done doing du
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dwell dwelt
eat ate eaten
edit edited editing
err erred erring
excite excited exciting
exhale exhaled exhaling
fall fell fallen
feed fed
feel felt
fell felled felling
fight fought
find found
flee fled
fling flung
fly flew flown
focus focused focusing
forbid forbade forbidden
forget forgot forgotten forgetting
forsake forsook forsaken
found founded founding
freeze froze frozen
gainsay gainsaid
get got gotten getting
give gave given giving
go goes went gone going gon
grind ground
ground grounded grounding
grow grew grown
hamstring hamstrung
hang hung
have has had having 've 'd ve d of
hear heard
heave hove
hew hewn
hide hid hidden
hinge hinged hinging
hit hitting
hold held
house housed
ignite ignited igniting
impede impeded impeding
infringe infringed infringing
inhale inhaled inhaling
inlay inlaid
intervene intervened intervening
invite invited inviting
keep kept
kneel knelt
know knew known
lade laden
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent
let letting
lie lay lain lying
light lit
lose lost losing
make made making
mean meant
meet met
mimic mimicked mimicking
mow mown
owe owed owing
panic panicked panicking
partake partook partaken
paste pasted pasting
patrol patrolled patrolling
pay paid
picnic picnicked picnicking
plead pled
prove proven
put putting
quit quitting
quote quoted quoting
range ranged ranging
read reading
recite recited reciting
rend rent
rent rented renting
ride rode ridden
ring rang rung
rise rose risen
run ran running
saw sawed sawn sawing
say said
see saw seen seeing
seek sought
sell sold
send sent
set setting
sew sewn
shake shook shaken
shave shaven
shear shorn
shine shone
shoe shod
shoot shot
show shown
shrink shrank shrunk shrunken
shut shutting
sing sang sung
sink sank sunk sunken
sit sat sitting
slay slew slain
sleep slept
slide slid
sling slung
slink slunk
smell smelt
smelt smelted smelting
smite smote smitten
sneak snuck
sow sown
speak spoke spoken
speed sped
spell spelt
spend spent
spill spilt
spin spun
spit spat
spoil spoilt
spring sprang sprung
square squared squaring
stand stood
steal stole stolen
stick stuck
sting stung
stink stank stunk
strew strewn
stride strode stridden
strike struck stricken striking
string strung
strive strove striven
suit suited suiting
swear swore sworn
sweep swept
swell swollen
swim swam swum swimming
swing swung
take took taken taking
taste tasted tasting
teach taught
tear tore torn
tell told
think thought
thrive throve thriven
throw threw thrown
tie tied tying
traffic trafficked trafficking
tread trod trodden
underlie underlay underlain underlying
understand understood
unite united uniting
untie untied untying
use used using
vie vied vying
visit visited visiting
wake woke woken
waste wasted wasting
waylay waylaid
wear wore worn
weave wove woven
weep wept
welcome welcomed welcoming
win won winning
wind wound
work wrought
wound wounded wounding
wring wrung
write wrote written writing
""")
_MODALS = _irregular("""
can could ca
will would wo 'll
may might
shall should sha
""")
_BASES = frozenset(_VERBS.values())
# Irregular verbs stay so after these: "rewrote", "misled", "withheld".
_PREFIXES = ("re", "un", "over", "under", "out", "mis", "with", "up", "be", "fore", "for", "inter", "pre")

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
_SINGULAR = frozenset([
    "gas", "lens", "bus", "news", "mathematics", "physics", "politics", "athletics", "gymnastics", "electronics",
    "genetics", "olympics", "headquarters", "odds", "clothes", "rabies", "us", "is", "this",
])  # fmt: skip
# Plurals of words in -e that look like plurals of words in -o, -us or -ch.
_FINAL_E = frozenset(["toes", "hoes", "foes", "uses", "causes", "muses", "ruses", "aches", "headaches", "axes"])


@lru_cache(maxsize=1 << 14)
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
    >>> lemma("flung", "VBD"), lemma("overthrew", "VBD"), lemma("lay", "VBD"), lemma("lay", "VBP")
    ('fling', 'overthrow', 'lie', 'lay')
    """
    form = word.lower()
    return _inflected(form, tag) or form


def _inflected(form: str, tag: str) -> str:
    if tag in ("NNS", "NNPS", "NN"):
        if form in _NOUNS:
            return _NOUNS[form]
        return form if tag == "NN" else singular(form)
    if tag == "MD":
        return _MODALS.get(form, form)
    if tag.startswith("VB") or tag in AUXILIARY_TAGS:
        return _irregular_base(form, tag) or _base(form, tag)
    if tag in (*ADJECTIVE_TAGS[1:], *ADVERB_TAGS[1:]):
        return _DEGREES.get(form) or _positive(form)
    return "not" if form == "n't" else form


def singular(form: str) -> str:
    """Return a form in lower case without the ending of a plural, which is that of the third person as well.

    >>> singular("cities"), singular("prizes"), singular("goes"), singular("is")
    ('city', 'prize', 'go', 'is')
    """
    if form.endswith("men"):
        return form[:-3] + "man"
    if form in _SINGULAR or not form.endswith("s") or form.endswith(("ss", "us", "is")) or len(form) <= 3:
        return form
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes", "uses")):
        return form[:-1] if form in _FINAL_E or form.endswith(("ouses", "fuses", "shoes")) else form[:-2]
    return form[:-2] if form.endswith("'s") else form[:-1]


def _irregular_base(form: str, tag: str) -> str:
    """Return the base form of an irregular verb; nothing if this is none."""
    if tag in ("VB", "VBP") and form in _BASES:
        return form  # "to found", "they lay": another verb than "find" and "lie"
    if form in _VERBS:
        return _VERBS[form]
    if tag in ("VBD", "VBN"):
        for prefix in (form[: form.rfind("-") + 1], *_PREFIXES):
            rest = form[len(prefix) :]
            if prefix and len(rest) > 2 and form.startswith(prefix) and rest in _VERBS:
                return prefix + _VERBS[rest]
    return ""


def _base(form: str, tag: str) -> str:
    if form.endswith("s") and tag in ("VBZ", "AUX"):
        if form.endswith("ies") and len(form) > 4:
            return form[:-3] + "y"
        return form[:-2] if form.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")) else singular(form)
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
    if (last == before and last not in "lszfeo") or (
        stem.endswith("ell") and len(stem) > 5 and not stem.endswith(("spell", "tell", "well", "sell"))
    ):
        return stem[:-1]
    if last in "aeoyxwh" or (last == "l" and before == "l") or (last == "s" and before == "s"):
        return stem + "e" if stem.endswith("th") and before == "t" and stem[-3:-2] in ("a", "o") else stem
    if last in "vcuz" or (last == "s" and before != "s"):
        return stem + "e"
    if last == "g":
        return stem + "e" if before in "draleiu" or (stem.endswith(("ang", "eng", "ung")) and len(stem) > 4) else stem
    if last == "l" and before not in _VOWELS and before not in "rw":
        return stem + "e"
    if before in _VOWELS and before != "y":
        if len(stem) > 2 and stem[-3] in _VOWELS and stem[-3:-1] != "ui":
            return stem + "e" if stem.endswith(("iat", "uat")) else stem
        syllables = sum(
            letter in _VOWELS and (at == 0 or stem[at - 1] not in _VOWELS) for at, letter in enumerate(stem)
        )
        # One short syllable before one consonant ("nam", "hop") had an e; longer stems mostly by their ending.
        if syllables == 1 or stem.endswith(_WITH_E):
            return stem + "e"
    return stem


# Last letters of longer stems that mostly go with an e, as in "provid" or "determin".
_WITH_E = (
    "at", "ir", "ar", "ur", "gnor", "plor", "stor", "ador", "in", "id", "ud", "ad", "ced", "sed", "od", "um", "am",
    "ut", "ot", "ik", "ak", "ok", "uk", "ap", "is", "av", "iv", "ib", "il", "ul",
)  # fmt: skip
