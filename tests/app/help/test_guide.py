"""Parsed pages of the guide."""

from pathlib import Path

import pytest

from app.help.guide import CONTENTS, anchors_of, make_page, plain_text, read_guide
from engine.errors import FormatError

PAGE = """# Gulls & terns

Two [families](birds.md#gulls) of **sea** birds.

![A gull](images/gull.png)

## The `R` key

| key | does |
|---|---|
| `R` | label as… |

```sh
# no heading
ls
```

## The R key

1. first
2. *second*
"""


def test_a_page_is_cut_at_its_headings() -> None:
    """Markup is removed, code is no heading, equal headings get distinct anchors."""
    page = make_page("gulls", PAGE)
    assert page.title == "Gulls & terns"
    assert page.pictures == ("images/gull.png",)
    assert [(section.title, section.anchor, section.text) for section in page.sections] == [
        ("Gulls & terns", "", "Two families of sea birds."),
        ("The R key", "the-r-key", "key does R label as… # no heading ls"),
        ("The R key", "the-r-key-1", "first second"),
    ]


def test_anchors_are_those_of_code_hosts() -> None:
    """Anchors work both on the web and in the program."""
    titles = ["1. Drop a folder", "“{1}” is damaged", "Half-way: what then?", "a_b"]
    assert list(anchors_of(titles)) == [
        "1-drop-a-folder",
        "1-is-damaged",
        "half-way-what-then",
        "a_b",
    ]


def test_plain_words() -> None:
    """Quotes, list markers and emphasis are removed, also the asterisk of a file pattern."""
    assert plain_text("> **Tip.** Use *any* name\n\n- `a` b") == "Tip. Use any name a b"


def test_pages_come_in_the_order_of_the_contents(tmp_path: Path) -> None:
    """A page that is not in the contents is not part of the guide."""
    (tmp_path / f"{CONTENTS}.md").write_text(
        "# Guide\n\n[B](b.md), [A](a.md), [B](b.md)\n", encoding="utf-8"
    )
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# {name.upper()}\n", encoding="utf-8")
    guide = read_guide(tmp_path)
    assert list(guide.pages) == [CONTENTS, "b", "a"]
    assert guide.pages["b"].title == "B"


def test_a_guide_with_a_hole_is_refused(tmp_path: Path) -> None:
    """The error names the missing file and the remedy."""
    with pytest.raises(FormatError, match=r"README\.md.*Install Protoleaf again"):
        read_guide(tmp_path)
    (tmp_path / f"{CONTENTS}.md").write_text("no heading", encoding="utf-8")
    with pytest.raises(FormatError, match="no heading"):
        read_guide(tmp_path)


def test_pages_of_a_language_stand_in_place_of_the_english_ones(tmp_path: Path) -> None:
    """Translated pages keep the anchors of the English ones; missing pages stay English."""
    (tmp_path / "README.md").write_text(
        "# Guide\n\n1. [Labelling](labelling.md)\n2. [Map](map.md)\n", encoding="utf-8"
    )
    (tmp_path / "labelling.md").write_text(
        "# Labelling\n\n## The keys\n\nEnter.\n\n## Undo\n\nCtrl+Z.\n", encoding="utf-8"
    )
    (tmp_path / "map.md").write_text("# The map\n\nPoints.\n", encoding="utf-8")
    (tmp_path / "de").mkdir()
    (tmp_path / "de" / "labelling.md").write_text(
        "# Labeln\n\n## Die Tasten\n\n[Karte](../map.md) ![Bild](../images/a.png)\n\n"
        "## Rückgängig\n\nStrg+Z.\n",
        encoding="utf-8",
    )
    guide = read_guide(tmp_path, "de")
    page = guide.pages["labelling"]
    assert [(section.title, section.anchor) for section in page.sections] == [
        ("Labeln", ""),
        ("Die Tasten", "the-keys"),
        ("Rückgängig", "undo"),
    ]
    assert page.pictures == ("images/a.png",)
    assert "](map.md)" in page.markdown
    assert guide.pages["map"].title == "The map"
    assert read_guide(tmp_path).pages["labelling"].title == "Labelling"
