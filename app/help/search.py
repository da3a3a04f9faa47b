"""Search in the user guide: every typed word begins a word of a section; headings come first. No Qt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.help.guide import Guide, GuidePage, GuideSection

SNIPPET_LETTERS: Final = 110  # about two lines of the narrow list that shows them
QUOTED_WORDS: Final = 4  # fewer words of a heading may stand in a long text by chance
_BEFORE: Final = 32  # letters of a snippet before its first hit
_SMALL: Final = frozenset(
    {
        "a",
        "an",
        "and",
        "can",
        "do",
        "does",
        "how",
        "i",
        "is",
        "my",
        "of",
        "the",
        "to",
        "what",
        "why",
    }
)
"""Words of a question that say nothing of what it is about."""
_WORD: Final = re.compile(r"\w+")

Span = tuple[int, int]  # first letter, and the one behind the last


@dataclass(frozen=True)
class Hit:
    """A section that has every typed word."""

    page: GuidePage  # that it stands on
    section: GuideSection  # it
    snippet: str  # some of its words around the first one that was typed
    marks: tuple[Span, ...]  # where typed words begin words of the snippet
    title_marks: tuple[Span, ...]  # the same of its heading


def search(guide: Guide, text: str) -> list[Hit]:
    """The sections that have all typed words: those with all in their heading, then with some, then in their text.

    Before them come headings that stand in what was typed: a person who pastes a message pastes names and numbers, too.
    A word of the page's own heading counts for each of its sections that has another one. A heading with nothing but
    other headings below it is left out, for these are found.
    """
    typed = words_of(text)
    words = [word for word in typed if word not in _SMALL] or typed
    if not words:
        return []
    ranked = [
        (_quoted_rank(section, typed) or _rank(section, words), _hit(page, section, words))
        for page in guide.pages.values()
        for section in page.sections
        if (section.text or not section.anchor)
        and (_quoted_rank(section, typed) or _has_all(page, section, words))
    ]
    return [hit for _, hit in sorted(ranked, key=lambda entry: entry[0])]


def words_of(text: str) -> list[str]:
    """The words that were typed, in small letters."""
    return list(dict.fromkeys(_WORD.findall(text.lower())))


def marks_in(text: str, words: Sequence[str]) -> tuple[Span, ...]:
    """Where words of a text begin with one of `words`, the longest of these first; spans do not overlap."""
    if not words:
        return ()
    longest_first = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return tuple(
        found.span() for found in re.finditer(rf"(?<!\w)(?:{longest_first})", text.lower())
    )


def _has(text: str, word: str) -> bool:
    return bool(marks_in(text, [word]))


def _has_all(page: GuidePage, section: GuideSection, words: Sequence[str]) -> bool:
    own = f"{section.title} {section.text}"
    return any(_has(own, word) for word in words) and all(
        _has(f"{page.title} {own}", word) for word in words
    )


def _quoted_rank(section: GuideSection, typed: Sequence[str]) -> int:
    """Below 0 where all words of a heading were typed, and so many that this is no chance; the longest come first."""
    heading = words_of(section.title)
    return -len(heading) if len(heading) >= QUOTED_WORDS and set(heading) <= set(typed) else 0


def _rank(section: GuideSection, words: Sequence[str]) -> int:
    in_title = sum(_has(section.title, word) for word in words)
    return 0 if in_title == len(words) else 1 if in_title else 2


def _hit(page: GuidePage, section: GuideSection, words: Sequence[str]) -> Hit:
    snippet = _snippet(section.text, words)
    return Hit(page, section, snippet, marks_in(snippet, words), marks_in(section.title, words))


def _snippet(text: str, words: Sequence[str]) -> str:
    """Some words around the first hit, whole, with an ellipsis where some are left out."""
    found = marks_in(text, words)
    first = found[0][0] if found else 0
    starts = [0, *_starts(text)]
    start = min(begin for begin in starts if begin >= first - _BEFORE)
    end = max(
        (begin for begin in [*starts, len(text)] if begin <= start + SNIPPET_LETTERS),
        default=len(text),
    )
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end].strip()}{behind}"


def _starts(text: str) -> Iterator[int]:
    return (found.end() for found in re.finditer(" ", text))
