"""Which sentences are told to be not English, and where that is said."""

from __future__ import annotations

import warnings

import pytest
from tests.paths import DATA

import sapwood as sw
from sapwood.cli import main
from sapwood.corpora import nursery, propbank_columns
from sapwood.parse import FlatParser, PCFGParser, split_sentences
from sapwood.parse.languages import not_english
from sapwood.tasks.frames import FrameLabeler, FrameParser, nursery_frames
from sapwood.tasks.roles import RoleLabeler

# The first article of the Universal Declaration of Human Rights.
OTHERS = {
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "Italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
    "Portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
    "Dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren.",
    "Swedish": "Alla människor är födda fria och lika i värde och rättigheter.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.",
    "Japanese": "すべての人間は、生まれながらにして自由である。",
    "Korean": "모든 인간은 태어날 때부터 자유롭다.",
    "Hebrew": "כל בני אדם נולדו בני חורין ושווים.",
}
ENGLISH = (
    "All human beings are born free and equal in dignity and rights.",
    "Stocks fall as oil hits record",
    "El Niño returns to the coast of Peru.",
    'He said: "c\'est la vie, de rien", and left for Los Angeles.',
    "Vincent van Gogh and Ludwig van Beethoven never met Charles de Gaulle in Rio de Janeiro.",
    "def main(argv): return 0  # TODO",
    "Flour, 500 g; milk; eggs",
    "😀😀 lol",
    "TGF-β1 and IL-1α were measured by ELISA in α-MEM.",
    "λ = 0.4",
    "Ok.",
    "1 2 3",
    "",
)


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_other_languages(text):
    assert all(not_english(words) is not None for words in split_sentences(text))


@pytest.mark.parametrize("text", ENGLISH)
def test_english_of_many_kinds(text):
    assert [not_english(words) for words in split_sentences(text)] == [None] * len(split_sentences(text))


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "ewt-propbank").is_dir(), reason="the English Web Treebank is not there")
def test_sentences_of_the_web_are_english():
    sentences = [one.words for one in propbank_columns.read(str(DATA / "ewt-propbank" / "test.conll.gz"))]
    assert sum(not_english(words) is not None for words in sentences) <= 2


TEXT = f"The dog chased the cat.\n{OTHERS['Russian']}\n\nIt barked. {OTHERS['German']}\n"


@pytest.fixture(scope="module")
def models():
    corpus = nursery.generate(size=60)
    parser = PCFGParser().fit(corpus.trees)
    roles = RoleLabeler(parser=parser).fit(corpus.role_sentences())
    lexicon, data = nursery_frames(corpus)
    frames = FrameParser(labeler=FrameLabeler(bits=12), parser=parser).fit(data, lexicon=lexicon)
    return {"parse": parser, "roles": roles, "frames": frames}


@pytest.mark.slow
def test_only_models_with_a_language_warn(models):
    asked = {"parse": "parse_text", "roles": "label_text", "frames": "parse_text"}
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answers = getattr(model, asked[name])(TEXT)
            assert len(answers) == 4
            model.language = "en"
            try:
                getattr(model, asked[name])("The dog chased the cat.")
                with pytest.warns(UserWarning, match=r"2 of 4 sentences .* sentences 1, 3\. .*100 % .* Cyrillic"):
                    assert len(getattr(model, asked[name])(TEXT)) == 4
            finally:
                del model.language


@pytest.mark.slow
def test_commands_name_lines(models, tmp_path, monkeypatch, capsys):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    for name, model in models.items():
        file = str(tmp_path / f"{name}.sap")
        sw.save(model, file)
        first = ["parse", file, str(path)] if name == "parse" else [name, str(path), "--model", file]
        assert main(first) == 0
        assert "English" not in capsys.readouterr().err
        monkeypatch.setattr(type(model), "language", "en")
        assert main(first) == 0
        shown = capsys.readouterr()
        assert "2 of 4 sentences do not look like English, which the model is for: lines 2, 4." in shown.err
        monkeypatch.undo()


def test_a_parser_for_english():
    parser = FlatParser()
    parser.language = "en"
    with pytest.warns(UserWarning, match=r"1 of 1 sentences .* sentence 0"):
        parser.parse_text(OTHERS["Greek"])


def test_a_parser_for_english_has_no_trees_for_other_scripts():
    parser = FlatParser()
    parser.language = "en"
    sentences = [["Ja", "hoor", "."], *split_sentences(f"{OTHERS['Russian']} The dog barked. {OTHERS['Chinese']}")]
    found = list(parser.parse_sentences(sentences))
    assert [one.how for one in found] == ["parser", "flat", "parser", "flat"]
    assert found[1].problem == "100 % of its letters are Cyrillic, and the parser is for English"
    assert [one.tree.leaves() for one in found] == [tuple(words) for words in sentences]
