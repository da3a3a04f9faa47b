"""Typesetting of the guide's pages."""

from itertools import pairwise

from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from app.help.typesetting import blocks_of, typeset
from app.theme.tokens import tokens


def test_lines_of_code_leave_no_gap_between_them(qtbot: QtBot) -> None:
    """Lines of a code block share one background; only its ends have a margin."""
    document = QTextDocument()
    document.setMarkdown("Before.\n\n```python\none = 1\n\ntwo = 2\n```\n\nAfter.\n")
    typeset(document, tokens())
    blocks = [block.blockFormat() for block in blocks_of(document)]
    lines = [block for block in blocks if block.hasProperty(block.Property.BlockCodeFence)]
    assert len(lines) == 3
    assert lines[0].topMargin() > 0
    assert lines[-1].bottomMargin() > 0
    assert all(above.bottomMargin() == below.topMargin() == 0 for above, below in pairwise(lines))
