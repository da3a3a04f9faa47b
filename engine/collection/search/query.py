"""The search query language: `fox OR deer date:2024-05 -night`; images must match all terms.

A term is a word or "exact words", a field with a value (`name:IMG_01`), or a fact (`unlabelled`);
a minus before it negates it. Of terms joined by OR one must match. A `*` matches any letters of a
word. Field names are not translated; fields of the project are searched by their names without
blanks (`lifestage:adult`).
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from math import inf, nextafter

from engine.errors import InputError
from engine.image_fields import FieldKind, ImageField, expected_of
from engine.images.found_details import rating_text
from engine.search_folding import folded
from engine.texts import Message, enumerated, marked


class Field(StrEnum):
    """Field of a term, as typed before the colon."""

    WORDS = ""
    FACT = "is"
    NAME = "name"
    FOLDER = "folder"
    DATE = "date"
    CAMERA = "camera"
    CLASS = "class"
    KEYWORD = "keyword"
    COMMENT = "comment"
    STARS = "stars"
    SIZE = "size"
    WIDTH = "width"
    HEIGHT = "height"
    SCORE = "score"
    SOURCE = "source"
    COUNT = "count"
    HAS = "has"
    VALUE = "a field of the project"


FACTS = ("unlabelled", "labelled", "unknown", "empty", "flagged", "unreadable", "replaced")
"""Facts that may be typed without `is:`; in quotes they are ordinary words."""
HAS = (
    *("place", "date", "camera", "comment", "stars", "label", "box", "boxes"),
    *("keywords", "title", "description", "count"),
)
"""Values of `has:`, in addition to the project's own fields."""
FIRST_POSITION = 1


@dataclass(frozen=True)
class Term:
    """One condition of a query."""

    field: Field
    text: str  # without quotes; one of `FACTS` or `HAS` where the field has fixed values
    start: int  # position in the query
    end: int  # exclusive
    is_negated: bool = False
    low: float = -inf  # least number, inclusive; dates are seconds of wall time since 1970
    high: float = inf  # highest number, inclusive
    name: str = ""  # of the project's field, where `field` is `VALUE`
    is_alternative: bool = False  # joined to the term before it by OR

    @property
    def typed_field(self) -> str:
        return self.name or self.field.value


class QueryError(InputError):
    """Syntax error in a query; `fields["place"]` is the position, counted from one."""


OR = "OR"  # in capitals: "or" is a word
_TOKEN = re.compile(r'(?P<minus>-?)(?:(?P<field>[^\W\d_]\w*):)?(?P<value>"[^"]*"?|\S*)')
_COMPARED = re.compile(r"(>=|<=|>|<|=)?(.*)", re.DOTALL)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,6})?|\.\d{1,6})")
_UNITS: Mapping[str, float] = {
    **dict.fromkeys(("", "b"), 1),
    **dict.fromkeys(("kb", "k"), 1e3),
    **dict.fromkeys(("mb", "m"), 1e6),
    **dict.fromkeys(("gb", "g"), 1e9),
}
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)\s*([a-z]*)")
_FIELDS: Mapping[str, Field] = {
    field.value: field for field in Field if field.value and field is not Field.VALUE
} | {"keywords": Field.KEYWORD, "path": Field.FOLDER, "star": Field.STARS}
MOST_CHARACTERS = 2_000  # of a query. Chosen.
MOST_STARS = 5

ProjectFields = Sequence[ImageField] | None
"""Fields that the project defines; None where they are unknown, so that any name may be one."""


def parse_query(text: str, own: ProjectFields = ()) -> tuple[Term, ...]:
    """Parse a query; () for an empty one.

    Args:
        text: as typed.
        own: the project's own fields; with None their values are not checked.

    Raises:
        QueryError: syntax error.
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(
            "the search is too long",
            expected="at most {limit} characters",
            limit=MOST_CHARACTERS,
            place=MOST_CHARACTERS,
        )
    return tuple(_terms(text, own))


def _terms(text: str, own: ProjectFields) -> Iterator[Term]:
    at, has_term = 0, False
    pending_or: int | None = None  # position of an OR whose second term comes next
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TOKEN.match(text, at)
        assert found is not None, "the pattern matches every text"
        if found[0] == OR:
            if not has_term or pending_or is not None:
                raise _dangling_or(at)
            pending_or = at
        else:
            yield replace(_term(found, own), is_alternative=pending_or is not None)
            has_term, pending_or = True, None
        at = max(found.end(), at + 1)
    if pending_or is not None:
        raise _dangling_or(pending_or)


def _dangling_or(at: int) -> QueryError:
    return QueryError(
        "OR at character {place} is not between two terms",
        expected="such as {example}",
        remedy='put the word in quotes where it is searched for: "OR"',
        example="fox OR deer",
        place=at + FIRST_POSITION,
    )


def _term(found: re.Match[str], own: ProjectFields) -> Term:
    name, value, start = found["field"], found["value"], found.start()
    is_quoted, is_negated = value.startswith('"'), found["minus"] == "-"
    bare = value.strip('"') if is_quoted else value
    if name is None:
        if not bare.strip():
            raise QueryError(
                "nothing follows the minus sign at character {place}",
                expected="a word, as in -fox",
                place=start + FIRST_POSITION,
            )
        word = bare.casefold()
        if word in FACTS and not is_quoted:
            return Term(Field.FACT, word, start, found.end(), is_negated)
        return Term(Field.WORDS, bare, start, found.end(), is_negated)
    field = _field(name, own, start)
    if not bare.strip():
        raise QueryError(
            "nothing follows {field}: at character {place}",
            expected="such as {example}",
            field=name,
            example=EXAMPLES[field],
            place=start + FIRST_POSITION,
        )
    own_name = name.casefold() if field is Field.VALUE else ""
    term = Term(field, bare.strip(), start, found.end(), is_negated, name=own_name)
    return _with_value(term, own)


def _field(name: str, own: ProjectFields, start: int) -> Field:
    wanted = name.casefold()
    if wanted in _FIELDS:
        return _FIELDS[wanted]
    own_names = [each.search_name for each in own or ()]
    if own is None or wanted in own_names:
        return Field.VALUE
    raise QueryError(
        'there is no field "{field}" to search in, at character {place}',
        expected="one of {fields}",
        remedy="put words with a colon in quotes",
        field=name,
        fields=enumerated(f"{each}:" for each in (*dict.fromkeys(_FIELDS.values()), *own_names)),
        place=start + FIRST_POSITION,
    )


def _with_value(term: Term, own: ProjectFields) -> Term:
    """Validate a term's value by its field; set the bounds of a number."""
    if term.field is Field.FACT:
        return _one_of(term, FACTS)
    if term.field is Field.HAS and own is not None:
        return _one_of(term, (*HAS, *(each.search_name for each in own)))
    if term.field is Field.VALUE and own is not None:
        return _own_value(term, next(each for each in own if each.search_name == term.name))
    if term.field not in _PARSERS:
        return term
    parsed = _in_range(term, _PARSERS[term.field])
    if term.field is Field.SIZE:
        return _rounded(parsed)
    if term.field is Field.STARS:
        is_range = ".." in term.text
        if parsed.low > MOST_STARS or parsed.high < 0 or not (is_range or _is_rating(term.text)):
            raise _invalid(term, EXAMPLES[Field.STARS])
    return parsed


def _own_value(term: Term, own: ImageField) -> Term:
    """Value of a project field: numbers are compared, yes and no are exact, choices prefixes."""
    if own.kind is FieldKind.NUMBER:
        return _in_range(term, _signed_number)
    text = term.text.casefold()
    is_no_choice = own.kind is FieldKind.CHOICE and not any(
        folded(each).startswith(folded(text)) for each in own.choices
    )
    if is_no_choice or (own.kind is FieldKind.YES_NO and text not in {"yes", "no"}):
        raise _invalid(term, expected_of(own))
    return term


def _one_of(term: Term, known: Iterable[str]) -> Term:
    wanted = term.text.casefold()
    for each in known:
        if wanted in {each, each.rstrip("s")}:
            return replace(term, text=each)
    raise _invalid(term, enumerated(f"{term.field}:{each}" for each in known))


def _invalid(term: Term, expected: str | Message) -> QueryError:
    is_message = isinstance(expected, Message)
    return QueryError(
        '"{term}" at character {place} is not understood',
        expected=expected if is_message else Message("{examples}", {"examples": expected}),
        term=f"{term.typed_field}:{term.text}",
        place=term.start + FIRST_POSITION,
    )


Interval = tuple[float, float]
"""The lowest and highest number that a text stands for."""


def _in_range(term: Term, parse: Callable[[str], Interval | None]) -> Term:
    """Parse a number, a comparison with one, or a range of two, either of which may be open."""
    if ".." in term.text:
        first, _, last = term.text.partition("..")
        low = parse(first.strip()) if first else (-inf, -inf)
        high = parse(last.strip()) if last else (inf, inf)
        if low is None or high is None or term.text == "..":
            raise _invalid(term, EXAMPLES[term.field])
        if low[0] > high[1]:
            raise QueryError(
                "the range at character {place} ends before it begins",
                found=term.text,
                place=term.start + FIRST_POSITION,
            )
        return replace(term, low=low[0], high=high[1])
    found = _COMPARED.fullmatch(term.text)
    assert found is not None, "the pattern matches every text"
    named = parse(found[2].strip())
    if named is None:
        raise _invalid(term, EXAMPLES[term.field])
    intervals = {
        ">": (nextafter(named[1], inf), inf),
        ">=": (named[0], inf),
        "<": (-inf, nextafter(named[0], -inf)),
        "<=": (-inf, named[1]),
    }
    bounds = intervals.get(found[1], named)
    return replace(term, low=bounds[0], high=bounds[1])


def _date(text: str) -> Interval | None:
    """First and last second of a year, a month or a day."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = found.groups()
    last_month = int(month or 12)
    try:
        first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
        last_day = int(day or monthrange(int(year), last_month)[1])
        last = datetime(int(year), last_month, last_day, 23, 59, 59, tzinfo=UTC)
    except (ValueError, IndexError):
        return None
    return first.timestamp(), last.timestamp()


def _is_rating(text: str) -> bool:
    """Whether a comparison is with a number of stars."""
    number = text.lstrip("<>=").strip()
    return number == "0" or rating_text(number) == number


def _number(text: str) -> Interval | None:
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None else (float(found[1]), float(found[1]))


def _signed_number(text: str) -> Interval | None:
    number = _number(text.removeprefix("-"))
    if number is None or not text.startswith("-"):
        return number
    return -number[0], -number[0]


def _score(text: str) -> Interval | None:
    """A share, `0.5` or `50%`."""
    share = _number(text.removesuffix("%"))
    if share is None:
        return None
    value = share[0] / 100 if text.endswith("%") else share[0]
    return (value, value) if value <= 1 else None


def _size(text: str) -> Interval | None:
    found = _SIZE.fullmatch(text.strip().casefold())
    if found is None or found[2] not in _UNITS:
        return None
    size_bytes = float(found[1]) * _UNITS[found[2]]
    return size_bytes, size_bytes


def _rounded(term: Term) -> Term:
    """Widen a single size by half of its last digit: sizes are shown rounded."""
    if term.text.startswith(("<", ">")) or ".." in term.text:
        return term
    number = _SIZE.fullmatch(term.text.lstrip("=").strip().casefold())
    assert number is not None, "it was parsed"
    half = 0.5 * _UNITS[number[2]] / 10 ** len(number[1].partition(".")[2])
    return replace(term, low=term.low - half, high=nextafter(term.high + half, -inf))


_PARSERS: Mapping[Field, Callable[[str], Interval | None]] = {
    Field.DATE: _date,
    Field.SIZE: _size,
    Field.SCORE: _score,
    **dict.fromkeys((Field.STARS, Field.WIDTH, Field.HEIGHT, Field.COUNT), _number),
}
EXAMPLES: Mapping[Field, str] = {
    Field.FACT: "is:unlabelled",
    Field.NAME: "name:IMG_01",
    Field.FOLDER: "folder:site3",
    Field.DATE: "date:2024-05, date:2024-01..2024-03, date:>=2024",
    Field.CAMERA: "camera:Reconyx",
    Field.CLASS: 'class:Fox, class:"Red fox"',
    Field.KEYWORD: "keyword:night",
    Field.COMMENT: "comment:blurred",
    Field.STARS: "stars:3, stars:>=3, stars:0",
    Field.SIZE: "size:>2MB, size:100kB..1MB",
    Field.WIDTH: "width:>=1000",
    Field.HEIGHT: "height:<500",
    Field.SCORE: "score:<0.5, score:>=90%",
    Field.SOURCE: "source:import",
    Field.COUNT: "count:3, count:>3, count:2..10",
    Field.HAS: "has:place",
    Field.VALUE: "sex:female, distance:<5, antlers:yes",
}
"""A value of each field, as typed."""
MEANINGS: Mapping[Field, str] = {
    Field.FACT: marked("whether it is true of the image"),
    Field.NAME: marked("part of the file name"),
    Field.FOLDER: marked("part of the folder"),
    Field.DATE: marked("date taken"),
    Field.CAMERA: marked("make or model of the camera"),
    Field.CLASS: marked("label or prediction, with all classes below"),
    Field.KEYWORD: marked("keyword in the file"),
    Field.COMMENT: marked("part of the comment"),
    Field.STARS: marked("stars, 0 to 5"),
    Field.SIZE: marked("size of the file"),
    Field.WIDTH: marked("width in pixels"),
    Field.HEIGHT: marked("height in pixels"),
    Field.SCORE: marked("score of the prediction"),
    Field.SOURCE: marked("where the label came from"),
    Field.COUNT: marked("how many individuals are in it"),
    Field.HAS: marked("what is known of the image"),
    Field.VALUE: marked("value of a field of the project"),
}
"""Values that each field is compared with, for the help of the search bar."""
FACT_MEANINGS: Mapping[str, str] = {
    "unlabelled": marked("images without a label"),
    "labelled": marked("images with a label"),
    "unknown": marked("unlike all classes, or labelled as none of them"),
    "empty": marked("labelled as empty: nothing is there"),
    "flagged": marked("images with a flag"),
    "unreadable": marked("files that could not be read"),
}


def with_term(text: str, field: Field, term: str) -> str:
    """Replace a query's terms of a field by one, or remove them for ""; negated terms stay.

    Raises:
        QueryError: syntax error.
    """
    query = text
    for each in reversed(parse_query(text, None)):
        if each.field is field and not each.is_negated:
            query = _without(query, each)
    return f"{query} {term}".strip()


def without_term(text: str, word: str) -> str:
    """Remove all terms that equal a term from a query.

    Raises:
        QueryError: syntax error.
    """
    (unwanted,) = parse_query(word, None)
    query = text
    wanted = unwanted.typed_field, unwanted.text, unwanted.is_negated
    for each in reversed(parse_query(text, None)):
        if (each.typed_field, each.text, each.is_negated) == wanted:
            query = _without(query, each)
    return query


def _without(text: str, term: Term) -> str:
    """Remove a term, and the OR that joins it to another one."""
    before, after = text[: term.start].rstrip(), text[term.end :].lstrip()
    if term.is_alternative:
        before = before.removesuffix(OR).rstrip()
    elif after.split(maxsplit=1)[:1] == [OR]:
        after = after.removeprefix(OR).lstrip()
    return f"{before} {after}".strip()


def quoted(value: str) -> str:
    """Put a value that has blanks in quotes."""
    bare = value.replace('"', " ").strip()
    return f'"{bare}"' if not bare or any(map(str.isspace, bare)) else bare
