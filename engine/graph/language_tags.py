"""Synonyms with language tags (BCP 47), such as "Schleie@de".

The form is that of a text with a language in Turtle and SPARQL. An "@" that no known language
follows is a part of the name.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

_MARK = "@"
_OF_SCIENCE = "la"
UNDETERMINED = "und"
"""Tag of a vernacular name of unknown language (RFC 5646)."""
_LONGEST = 35  # characters of a tag, which RFC 5646 recommends to have room for
_MOST_KNOWN = 4_096  # tags that are remembered; there are 200 in the taxonomies that we know
_FARTHEST = 10
"""Distance of languages that still match, as CLDR measures it: those of other countries do (5 for
"pt-PT" where "pt-BR" is wanted), those in another script (54 for "zh-Hant" where "zh-CN" is wanted)
do not."""


def with_language(name: str, language: str) -> str:
    """Append a language's standard tag ("deu" becomes "de") to a name; none for no language."""
    tag = _standard(language)
    return f"{name}{_MARK}{tag}" if tag and name else name


def split_language(synonym: str) -> tuple[str, str]:
    """The name of a synonym, and its language tag; "" where it has none."""
    name, mark, language = synonym.rpartition(_MARK)
    if not mark or not name.strip():
        return synonym, ""
    tag = _standard(language)
    return (name.rstrip(), tag) if tag else (synonym, "")


def without_language(synonym: str) -> str:
    """The name of a synonym."""
    return split_language(synonym)[0] if _MARK in synonym else synonym


def name_in(language: str, synonyms: Iterable[str]) -> str:
    """The first synonym in a language, preferring the same country; "" without any."""
    best, name = _FARTHEST + 1, ""
    for synonym in synonyms:
        if _MARK not in synonym:
            continue
        text, tag = split_language(synonym)
        if tag and (distance := _distance(language, tag)) < best:
            best, name = distance, text
    return name


def with_name_in(language: str, name: str, synonyms: Sequence[str]) -> tuple[str, ...]:
    """Replace the synonym from `name_in` by a name in a language, or append it; "" removes it."""
    before = name_in(language, synonyms)
    at = next(
        (
            place
            for place, each in enumerate(synonyms)
            if before and _is_name_in(language, before, each)
        ),
        None,
    )
    if at is None:
        return (*synonyms, with_language(name, language)) if name else tuple(synonyms)
    news = (with_language(name, split_language(synonyms[at])[1]),) if name else ()
    return (*synonyms[:at], *news, *synonyms[at + 1 :])


def _is_name_in(language: str, name: str, synonym: str) -> bool:
    text, tag = split_language(synonym)
    return text == name and bool(tag) and _distance(language, tag) <= _FARTHEST


def is_for(language: str, synonym: str) -> bool:
    """Whether a name is in a language or in none, and so is shown to people who read it."""
    tag = split_language(synonym)[1] if _MARK in synonym else ""
    return tag in {"", _OF_SCIENCE} or _distance(language, tag) <= _FARTHEST


@lru_cache(_MOST_KNOWN)
def _standard(language: str) -> str:
    """Standardise a language tag ("de" for "deu" and "ger"); "" where it is not registered."""
    from langcodes import (
        standardize_tag,
        tag_is_valid,
    )  # only where there are languages: the window shows first

    tag = language.strip()
    is_one = 0 < len(tag) <= _LONGEST and tag.isascii() and tag_is_valid(tag)
    return standardize_tag(tag) if is_one else ""


@lru_cache(_MOST_KNOWN)
def _distance(wanted: str, there: str) -> int:
    if there == UNDETERMINED:
        return _FARTHEST  # better than none, and no better than one in a language that is known
    from langcodes import tag_distance

    return tag_distance(wanted, there)
