"""The Brown corpus, from text and from the archive that NLTK ships."""

from __future__ import annotations

import io

import pytest

from sapwood import corpora
from sapwood.errors import FormatError


def test_files_are_documents(tmp_path):
    for name, text in (("ca01", "\n\n\tThe/at dog/nn\n\n\tbarks/vbz ./.\n"), ("ca02", "1/2/cd\n")):
        (tmp_path / name).write_text(text)
    found = list(corpora.brown.read(str(tmp_path / "c???")))
    assert found == [[("The", "at"), ("dog", "nn"), ("barks", "vbz"), (".", ".")], [("1/2", "cd")]]


@pytest.mark.parametrize("token", ["dog", "/nn", "dog/"])
def test_tokens_without_word_or_tag_are_named(token):
    with pytest.raises(FormatError, match=r":2:5: expected tokens such as dog/nn"):
        list(corpora.brown.read(io.StringIO(f"a/at\nb/b {token}")))


@pytest.mark.slow
def test_the_corpus_itself(data):
    path = data / "nltk-zips" / "brown.zip"
    if not path.exists():
        pytest.skip("the Brown corpus is not on this machine")
    sizes = [len(document) for document in corpora.brown.read(f"{path}/brown/c???")]
    assert (len(sizes), sum(sizes)) == (500, 1_161_192)
