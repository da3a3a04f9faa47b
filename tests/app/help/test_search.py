"""Hits and ranking of the guide's search."""

from pathlib import Path

from app.help.guide import Guide, make_page
from app.help.search import SNIPPET_LETTERS, Hit, marks_in, search

LONG = (
    "Many words go before. " * 10 + "Undo works after a restart, too. " + "Many words follow. " * 10
)
GUIDE = Guide(
    Path(),
    {
        page.name: page
        for page in (
            make_page(
                "keys",
                "# Keys\n\nAll keys.\n\n## Accept\n\nPress Enter to label. Undo is `Ctrl+Z`.\n",
            ),
            make_page(
                "keeping",
                f"# Keeping\n\n{LONG}\n\n## Undo and redo\n\nGo back.\n\n"
                "## Labels\n\n### More labels\n\nThey stay.\n",
            ),
        )
    },
    {},
)


def places(hits: list[Hit]) -> list[str]:
    return [f"{hit.page.name}#{hit.section.anchor}" for hit in hits]


def marked(hit: Hit) -> list[str]:
    return [hit.snippet[start:end] for start, end in hit.marks]


def test_headings_come_first() -> None:
    """Matching headings precede matching texts, which are in the order of the pages."""
    assert places(search(GUIDE, "undo")) == ["keeping#undo-and-redo", "keys#accept", "keeping#"]


def test_what_is_typed_begins_words() -> None:
    """Case-insensitive; infixes do not match."""
    assert places(search(GUIDE, "LAB")) == ["keeping#more-labels", "keys#accept"]
    assert search(GUIDE, "abel") == []


def test_every_word_must_be_there() -> None:
    """A word of the page's title counts for its sections; alone it finds only the page."""
    assert places(search(GUIDE, "enter undo")) == ["keys#accept"]
    assert places(search(GUIDE, "keeping go")) == ["keeping#", "keeping#undo-and-redo"]
    assert places(search(GUIDE, "keys")) == ["keys#"]
    assert search(GUIDE, "enter restart") == []


def test_a_question_is_understood() -> None:
    """Stop words need not match, unless there are no other words."""
    assert places(search(GUIDE, "How do I undo?")) == places(search(GUIDE, "undo"))
    assert places(search(GUIDE, "to")) == ["keys#accept", "keeping#"]


def test_keys_are_found() -> None:
    """Keys match as they are written on the page."""
    assert places(search(GUIDE, "ctrl+z")) == ["keys#accept"]


def test_a_pasted_message_is_found_among_its_names_and_numbers() -> None:
    """The longest heading that it contains comes first; a short one does not match."""
    page = make_page(
        "messages",
        "# Messages\n\n## the project file is damaged\n\nA.\n\n"
        "## … is damaged. The backup of … can take its place\n\nB.\n\n## The disk\n\nC.\n",
    )
    guide = Guide(Path(), {"messages": page}, {})
    pasted = "birds is damaged. The backup of 22/11/2026 can take its place: 3 classes"
    assert places(search(guide, pasted)) == [
        "messages#-is-damaged-the-backup-of--can-take-its-place"
    ]
    pasted = "The project file is damaged: found page 7 of /data/birds.protoleaf on the disk"
    assert places(search(guide, pasted)) == ["messages#the-project-file-is-damaged"]


def test_nothing_typed_finds_nothing() -> None:
    """Neither an empty text nor punctuation finds anything."""
    assert search(GUIDE, "  ?! ") == []


def test_a_snippet_shows_the_words_that_were_typed() -> None:
    """Around the first match, in whole words, with ellipses where it is cut."""
    (hit,) = (found for found in search(GUIDE, "undo") if not found.section.anchor)
    assert marked(hit) == ["Undo"]
    assert len(hit.snippet) <= SNIPPET_LETTERS + 2
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert set(hit.snippet.strip("…").split()) <= set(LONG.split())


def test_a_heading_is_marked_and_its_text_shown_from_the_start() -> None:
    """The text may have no match."""
    hit = search(GUIDE, "redo")[0]
    assert [hit.section.title[start:end] for start, end in hit.title_marks] == ["redo"]
    assert (hit.snippet, hit.marks) == ("Go back.", ())


def test_marks_do_not_overlap() -> None:
    """Where matches overlap, the longer word wins."""
    assert marks_in("Labels label", ["lab", "labels"]) == ((0, 6), (7, 10))
