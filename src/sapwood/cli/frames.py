"""``sapwood frames``: which frames words evoke, and who fills their roles."""

from __future__ import annotations

from sapwood.cli.labeling import labeling_command
from sapwood.cli.options import choice, flag

__all__ = ["COMMAND"]

COMMAND = labeling_command(
    "frames",
    "which frames words evoke in text, and what fills their roles",
    "Find the words of each sentence that evoke a frame of FrameNet, and what fills the roles of the frame.",
    choice(
        "--format",
        ("text", "jsonl", "brackets", "html"),
        "text: for reading; jsonl: everything, one sentence per line; brackets: one line per frame; html: a page",
    ),
    [flag("--margins", "say how sure each filler is, with --format jsonl")],
)
