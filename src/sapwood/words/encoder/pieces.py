"""Words to the pieces that an encoder knows, and long sentences to windows that it can take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sapwood.errors import DataError, ModelFileError
from sapwood.penn import BRACKETS

__all__ = ["PieceTokenizer", "Window"]

# Spellings of the Penn Treebank that ordinary text does not have.
_PLAIN = {**{penn: mark for mark, penn in BRACKETS.items()}, "``": '"', "''": '"', "\\/": "/", "\\*": "*"}
# Of a word in more pieces than this, as many as that are kept at both ends together.
_MOST_PIECES = 16
_MOST_WORDS = 1 << 16


@dataclass(frozen=True)
class Window:
    """A part of a sentence with its pieces, in which some words are looked at.

    Attributes
    ----------
    ids : list of int
        The pieces, special ones included.
    ends : list of pairs
        Positions of the first and the last piece of each word that is looked at.
    """

    ids: list[int]
    ends: list[tuple[int, int]]


class PieceTokenizer:
    """The tokenizer of an encoder, word by word.

    Parameters
    ----------
    path : path
        A ``tokenizer.json``.
    limit : int
        Pieces that the encoder takes at most.
    """

    def __init__(self, path: Path, limit: int) -> None:
        from sapwood.words.encoder.packages import require

        self._path = path
        try:
            self._tokenizer: Any = require("tokenizers").Tokenizer.from_file(str(path))
            kind = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError, Exception) as error:
            if isinstance(error, (MemoryError, DataError)):
                raise
            raise ModelFileError(f"{path}: this is no tokenizer ({error}).") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._spaced = "ByteLevel" in json.dumps(kind.get("pre_tokenizer"))
        self._known: dict[tuple[str, bool], tuple[int, ...]] = {}
        bare = self._tokenizer.encode("a", add_special_tokens=False).ids
        whole = self._tokenizer.encode("a", add_special_tokens=True).ids
        at = next((k for k in range(len(whole)) if whole[k : k + len(bare)] == bare), 0) if bare else 0
        self._before, self._after = whole[:at], whole[at + len(bare) :]
        self._unknown = self._unknown_id(kind)
        self._room = limit - len(self._before) - len(self._after)
        if self._room < _MOST_PIECES:
            raise ModelFileError(f"{path}: the encoder takes {limit} pieces at most; expected at least 32.")

    def _unknown_id(self, kind: dict[str, Any]) -> int:
        name = kind.get("model", {}).get("unk_token")
        for token in (name, "[UNK]", "<unk>"):
            number = None if token is None else self._tokenizer.token_to_id(token)
            if number is not None:
                return int(number)
        return 0

    def pieces(self, word: str, first: bool) -> tuple[int, ...]:
        """Return the pieces of a word; at least one."""
        key = word, first
        found = self._known.get(key)
        if found is None:
            text = _PLAIN.get(word, word)
            if self._spaced and not first:
                text = " " + text
            # Nobody needs all of a word of ten thousand letters.
            text = text if len(text) <= 400 else text[:200] + text[-200:]
            try:
                ids = self._tokenizer.encode(text, add_special_tokens=False).ids or [self._unknown]
            except Exception as error:
                raise ModelFileError(f"{self._path}: the tokenizer cannot split {word[:60]!r} ({error}).") from None
            if len(ids) > _MOST_PIECES:
                ids = ids[: _MOST_PIECES // 2] + ids[-_MOST_PIECES // 2 :]
            found = tuple(ids)
            if len(self._known) >= _MOST_WORDS:
                self._known.clear()
            self._known[key] = found
        return found

    def windows(self, words: Sequence[str]) -> list[Window]:
        """Return the windows of a sentence: one if it fits, else several that overlap, each word in one of them."""
        pieces = [self.pieces(word, position == 0) for position, word in enumerate(words)]
        windows: list[Window] = []
        margin = self._room // 4
        done = begin = 0
        while done < len(words):
            end, length = begin, 0
            while end < len(words) and length + len(pieces[end]) <= self._room:
                length += len(pieces[end])
                end += 1
            # Words near the end of a window that is not the last are looked at in the next one.
            keep = end
            if end < len(words):
                kept = length
                while keep > done + 1 and length - kept < margin:
                    keep -= 1
                    kept -= len(pieces[keep])
            ids, ends = list(self._before), []
            for at in range(begin, end):
                if done <= at < keep:
                    ends.append((len(ids), len(ids) + len(pieces[at]) - 1))
                ids.extend(pieces[at])
            windows.append(Window(ids + self._after, ends))
            done, begin, back = keep, keep, 0
            while begin > 0 and keep < len(words) and back + len(pieces[begin - 1]) <= margin:
                begin -= 1
                back += len(pieces[begin])
        return windows
