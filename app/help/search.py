"""Search in the user guide by prefixes of words; matches in headings rank first. No Qt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.help.guide import Guide, GuidePage, GuideSection

SNIPPET_LETTERS = 110  # about two lines of the result list
QUOTED_WORDS = 4  # minimum number: shorter headings occur in long texts by chance
_BEFORE = 32  # length of a snippet before its first match
_SMALL = frozenset(
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
"""Stop words."""
_WORD = re.compile(r"\w+")

Span = tuple[int, int]  # start, end (exclusive)


@dataclass(frozen=True)
class Hit:
    """A section that contains all search words."""

    page: GuidePage  # of the section
    section: GuideSection  # matching section
    snippet: str  # text around the first match
    marks: tuple[Span, ...]  # matches in the snippet
    title_marks: tuple[Span, ...]  # matches in the heading


def search(guide: Guide, text: str) -> list[Hit]:
    """Sections with all search words, ranked by how many of them are in the heading.

    Headings that occur in the search text rank first, as pasted messages contain names and numbers
    as well. Words of the page's own heading count for all of its sections. Headings without a text
    of their own are omitted.
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
    """Distinct words of a text in lower case."""
    return list(dict.fromkeys(_WORD.findall(text.lower())))


def marks_in(text: str, words: Sequence[str]) -> tuple[Span, ...]:
    """Non-overlapping spans where words of a text start with one of `words`, the longest first."""
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
    """Negative if all words of a long enough heading were typed; longer headings rank first."""
    heading = words_of(section.title)
    return -len(heading) if len(heading) >= QUOTED_WORDS and set(heading) <= set(typed) else 0


def _rank(section: GuideSection, words: Sequence[str]) -> int:
    in_title = sum(_has(section.title, word) for word in words)
    return 0 if in_title == len(words) else 1 if in_title else 2


def _hit(page: GuidePage, section: GuideSection, words: Sequence[str]) -> Hit:
    snippet = _snippet(section.text, words)
    return Hit(page, section, snippet, marks_in(snippet, words), marks_in(section.title, words))


def _snippet(text: str, words: Sequence[str]) -> str:
    """Whole words around the first match, with ellipses."""
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
