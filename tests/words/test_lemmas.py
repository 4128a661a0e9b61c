"""Base forms by rule: irregular verbs against WordNet's list of exceptions, verbs that share a form, contractions."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from sapwood.errors import DataError
from sapwood.words.lemmas import lemma
from sapwood.words.wordnet_files import find_wordnet

IRREGULAR = """
abide abode, arise arisen, awake awoke, bear bore borne, beget begot, bend bent, beseech besought, bid bade, bind bound,
bite bit bitten, bleed bled, blow blown, breed bred, cleave cloven, cling clung, creep crept, deal dealt, dig dug, dive
dove, draw drew, dwell dwelt, feed fed, fight fought, flee fled, fling flung, forbid forbade, forsake forsook, freeze
frozen, grind ground, hang hung, hew hewn, hide hid, kneel knelt, lead led, leap leapt, lend lent, lie lay lain, light
lit, mow mown, partake partook, plead pled, rend rent, ride ridden, ring rung, saw sawn, seek sought, sew sewn, shake
shook, shear shorn, shine shone, shoe shod, shrink shrank shrunk, sink sank, slay slew slain, slide slid, sling slung,
slink slunk, smite smote, sneak snuck, sow sown, speed sped, spell spelt, spin spun, spit spat, spring sprang, steal
stole, stick stuck, sting stung, stink stank, strew strewn, stride strode, strike struck, string strung, strive strove,
swear sworn, sweep swept, swell swollen, swim swum, swing swung, tear torn, thrive throve, throw threw, tread trod,
wake woken, wear wore, weave wove woven, weep wept, win won, wind wound, wring wrung, overthrow overthrew, rewrite
rewrote, withhold withheld, undergo underwent, mislead misled, foresee foresaw, repay repaid, outgrow outgrown, undo
undid, befall befell, uphold upheld, co-write co-wrote
"""


@pytest.mark.parametrize("line", [" ".join(line.split()) for line in IRREGULAR.split(",")])
def test_irregular_verbs(line):
    base, *forms = line.split()
    assert {lemma(form, tag) for form in forms for tag in ("VBD", "VBN")} == {base}
    assert lemma(base, "VB") == base


@pytest.mark.parametrize(
    ("word", "tag", "base"),
    [
        # One form, two verbs: only the tag can tell.
        ("lay", "VB", "lay"),
        ("lay", "VBP", "lay"),
        ("laid", "VBD", "lay"),
        ("found", "VB", "found"),
        ("founded", "VBD", "found"),
        ("found", "VBD", "find"),
        ("saw", "VB", "saw"),
        ("saw", "VBD", "see"),
        ("wounded", "VBN", "wound"),
        ("resent", "VBP", "resent"),
        ("resent", "VBD", "resend"),
        ("relying", "VBG", "rely"),
        ("underlying", "VBG", "underlie"),
        ("red", "VBN", "red"),
        # Contractions, and how they are written on the web.
        ("'d", "VBD", "have"),
        ("'d", "MD", "'d"),
        ("'ve", "VBP", "have"),
        ("ai", "VBP", "be"),
        ("of", "VB", "have"),
        ("could", "MD", "can"),
        ("n't", "RB", "not"),
        # A final e, a doubled letter.
        ("plunged", "VBD", "plunge"),
        ("alleging", "VBG", "allege"),
        ("hanged", "VBD", "hang"),
        ("cancelled", "VBD", "cancel"),
        ("spelled", "VBD", "spell"),
        ("called", "VBD", "call"),
        ("favored", "VBD", "favor"),
        ("restored", "VBD", "restore"),
        ("evaluating", "VBG", "evaluate"),
        ("conceded", "VBD", "concede"),
        ("needed", "VBD", "need"),
        ("scheduled", "VBD", "schedule"),
        ("panicking", "VBG", "panic"),
        # Plurals, and third persons, of words in -e.
        ("warehouses", "NNS", "warehouse"),
        ("refuses", "VBZ", "refuse"),
        ("horseshoes", "NNS", "horseshoe"),
        ("viruses", "NNS", "virus"),
        ("heroes", "NNS", "hero"),
    ],
)
def test_base_forms(word, tag, base):
    assert lemma(word, tag) == base


def test_wordnet_agrees():
    try:
        lines = Path(find_wordnet(None), "verb.exc").read_text(encoding="utf-8").splitlines()
    except (DataError, OSError) as error:
        pytest.skip(str(error))
    bases: defaultdict[str, set[str]] = defaultdict(set)
    for form, *rest in map(str.split, lines):
        if form.isalpha() and not form.endswith(("ed", "ing")):
            bases[form].update(rest)
    wrong = {form: lemma(form, "VBD") for form in bases if lemma(form, "VBD") not in bases[form]}
    assert len(bases) > 400
    # Those not known come out as they are: archaic ones ("clept", "shent"), and compounds such as "floodlit".
    assert len(wrong) < len(bases) / 5
    assert all(form == found for form, found in wrong.items())
