"""What a person types to find images: `fox OR deer date:2024-05 -night`. Read into terms; all of them must fit.

A term is a word or "exact words", a field with a value (`name:IMG_01`), or one of a few facts (`unlabelled`); a minus
before it negates it. Of terms with OR between them one must fit. A `*` matches any letters of a word. Field names are
the same in every language; fields of the project are searched by their names without blanks (`lifestage:adult`).
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from math import inf, nextafter
from typing import Final

from engine.errors import InputError
from engine.image_fields import FieldKind, ImageField, expected_of
from engine.images.found_details import rating_text
from engine.search_folding import folded
from engine.texts import Message, enumerated, marked


class Field(StrEnum):
    """What a term is about, by the name that is typed."""

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


FACTS: Final = ("unlabelled", "labelled", "unknown", "empty", "flagged", "unreadable", "replaced")
"""Words that say something of an image when they stand alone; in quotes they are words like others."""
HAS: Final = (
    "place", "date", "camera", "comment", "stars", "label", "box", "boxes", "keywords", "title", "description", "count",
)  # fmt: skip
"""What `has:` knows in addition to the project's own fields."""
FIRST_POSITION: Final = 1


@dataclass(frozen=True)
class Term:
    """One condition. `low` and `high` bound numbers, both included; dates are seconds of wall time since 1970."""

    field: Field
    text: str  # as typed, without quotes; of a fact, one of `FACTS`; of `has`, one of `HAS` or a field of the project
    start: int  # where it begins in the query
    end: int  # behind its last character
    is_negated: bool = False
    low: float = -inf
    high: float = inf
    name: str = ""  # of `VALUE`, the name of the project's field
    is_alternative: bool = False  # to the term before it: one of them must fit

    @property
    def typed_field(self) -> str:
        """What stands before the colon."""
        return self.name or self.field.value


class QueryError(InputError):
    """A term is not understood; `fields["place"]` is the place of its first character, counted from one."""


OR: Final = "OR"  # in capitals: "or" is a word
_TOKEN: Final = re.compile(r'(?P<minus>-?)(?:(?P<field>[^\W\d_]\w*):)?(?P<value>"[^"]*"?|\S*)')
_COMPARED: Final = re.compile(r"(>=|<=|>|<|=)?(.*)", re.DOTALL)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_NUMBER: Final = re.compile(r"(\d{1,15}(?:\.\d{1,6})?|\.\d{1,6})")
_UNITS: Final[Mapping[str, float]] = {
    "": 1,
    "b": 1,
    "kb": 1e3,
    "k": 1e3,
    "mb": 1e6,
    "m": 1e6,
    "gb": 1e9,
    "g": 1e9,
}
_SIZE: Final = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)\s*([a-z]*)")
_FIELDS: Final[Mapping[str, Field]] = {
    field.value: field for field in Field if field.value and field is not Field.VALUE
} | {"keywords": Field.KEYWORD, "path": Field.FOLDER, "star": Field.STARS}
MOST_CHARACTERS: Final = 2_000  # of a query. Chosen.


Own = Sequence[ImageField] | None
"""The fields that a project has of its own; None where they are not known, so that any name may be one."""


def parse_query(text: str, own: Own = ()) -> tuple[Term, ...]:
    """Read a query into terms; () for an empty one.

    Args:
        own: the project's own fields. None leaves their values unread.

    Raises:
        QueryError: a term is not understood.
    """
    if len(text) > MOST_CHARACTERS:
        limit = MOST_CHARACTERS
        raise QueryError(
            "the search is too long",
            expected="at most {limit} characters",
            limit=limit,
            place=limit,
        )
    return tuple(_terms(text, own))


def _terms(text: str, own: Own) -> Iterator[Term]:
    at, has_term = 0, False
    awaited: int | None = None  # place of an OR whose second term is to come
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _TOKEN.match(text, at)
        assert found is not None  # every text fits
        if found[0] == OR:
            if not has_term or awaited is not None:
                raise _or_alone(at)
            awaited = at
        else:
            yield replace(_term(found, own), is_alternative=awaited is not None)
            has_term, awaited = True, None
        at = max(found.end(), at + 1)
    if awaited is not None:
        raise _or_alone(awaited)


def _or_alone(at: int) -> QueryError:
    return QueryError(
        "OR at character {place} is not between two terms",
        expected="such as {example}",
        remedy='put the word in quotes where it is searched for: "OR"',
        example="fox OR deer", place=at + FIRST_POSITION,
    )  # fmt: skip


def _term(found: re.Match[str], own: Own) -> Term:
    name, value, start, end = found["field"], found["value"], found.start(), found.end()
    is_quoted = value.startswith('"')
    bare = value.strip('"') if is_quoted else value
    if name is None:
        word = bare.casefold()
        is_fact = word in FACTS and not is_quoted
        term = Term(Field.FACT if is_fact else Field.WORDS, word if is_fact else bare, start, end)
        if not bare.strip():
            place = start + FIRST_POSITION
            raise QueryError(
                "nothing follows the minus sign at character {place}",
                expected="a word, as in -fox",
                place=place,
            )
    else:
        field = _field(name, own, start)
        if not bare.strip():
            raise QueryError(
                "nothing follows {field}: at character {place}",
                expected="such as {example}",
                field=name,
                example=EXAMPLES[field],
                place=start + FIRST_POSITION,
            )
        term = _read(
            Term(
                field,
                bare.strip(),
                start,
                end,
                name=name.casefold() if field is Field.VALUE else "",
            ),
            own,
        )
    return replace(term, is_negated=found["minus"] == "-")


def _read(term: Term, own: Own) -> Term:
    """The term with its value read as its field wants it."""
    if term.field is Field.VALUE and own is not None:
        return _as_value(term, next(each for each in own if each.search_name == term.name))
    if term.field is Field.HAS:
        return (
            _one_of(term, (*HAS, *(each.search_name for each in own or ())), "has:")
            if own is not None
            else term
        )
    return _READERS.get(term.field, _as_text)(term)


def _field(name: str, own: Own, start: int) -> Field:
    wanted = name.casefold()
    field = _FIELDS.get(wanted)
    if field is None and (own is None or any(each.search_name == wanted for each in own)):
        return Field.VALUE
    if field is None:
        known_names = (*dict.fromkeys(_FIELDS.values()), *(each.search_name for each in own or ()))
        raise QueryError(
            'there is no field "{field}" to search in, at character {place}',
            expected="one of {fields}",
            remedy="put words with a colon in quotes",
            field=name,
            fields=enumerated(f"{known}:" for known in known_names),
            place=start + FIRST_POSITION,
        )
    return field


def _as_text(term: Term) -> Term:
    return term


def _as_fact(term: Term) -> Term:
    return _one_of(term, FACTS, "is:")


def _as_value(term: Term, own: ImageField) -> Term:
    """A value of a field of the project: a number is compared, yes and no are exact, of a choice the beginning."""
    if own.kind is FieldKind.NUMBER:
        return _in_range(term, _signed_numbers)
    text = term.text.casefold()
    if own.kind is FieldKind.YES_NO and text not in {"yes", "no"}:
        raise _not_understood(term, expected_of(own))
    if own.kind is FieldKind.CHOICE and not any(
        folded(each).startswith(folded(text)) for each in own.choices
    ):
        raise _not_understood(term, expected_of(own))
    return term


def _one_of(term: Term, known: tuple[str, ...], field: str) -> Term:
    wanted = term.text.casefold()
    found = next((each for each in known if wanted in {each, each.rstrip("s")}), None)
    if found is None:
        raise _not_understood(term, enumerated(f"{field}{each}" for each in known))
    return replace(term, text=found)


def _not_understood(term: Term, expected: str | Message) -> QueryError:
    return QueryError(
        '"{term}" at character {place} is not understood',
        expected=expected
        if isinstance(expected, Message)
        else Message("{examples}", {"examples": expected}),
        term=f"{term.typed_field}:{term.text}",
        place=term.start + FIRST_POSITION,
    )


Read = Callable[[str], tuple[float, float] | None]
"""The lowest and highest value that a text names; None where it names none."""


def _in_range(term: Term, read: Read) -> Term:
    """A value, a comparison with one, or a range of two, either of which may be open."""
    if ".." in term.text:
        first, _, last = term.text.partition("..")
        low = read(first.strip()) if first else (-inf, -inf)
        high = read(last.strip()) if last else (inf, inf)
        if low is None or high is None or (not first and not last):
            raise _not_understood(term, EXAMPLES[term.field])
        if low[0] > high[1]:
            raise QueryError(
                "the range at character {place} ends before it begins",
                found=term.text,
                place=term.start + FIRST_POSITION,
            )
        return replace(term, low=low[0], high=high[1])
    found = _COMPARED.fullmatch(term.text)
    named = None if found is None else read(found[2].strip())
    if found is None or named is None:
        raise _not_understood(term, EXAMPLES[term.field])
    low_high = {
        ">": (nextafter(named[1], inf), inf),
        ">=": (named[0], inf),
        "<": (-inf, nextafter(named[0], -inf)),
        "<=": (-inf, named[1]),
    }.get(found[1] or "=", named)
    return replace(term, low=low_high[0], high=low_high[1])


def _as_date(term: Term) -> Term:
    return _in_range(term, _dates)


def _dates(text: str) -> tuple[float, float] | None:
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


def _as_stars(term: Term) -> Term:
    read = _in_range(term, _numbers)
    if read.low > 5 or read.high < 0 or (".." not in term.text and not rating_like(term.text)):  # noqa: PLR2004 (stars)
        raise _not_understood(term, EXAMPLES[Field.STARS])
    return read


def rating_like(text: str) -> bool:
    """Whether a number of stars stands in a comparison."""
    number = text.lstrip("<>=").strip()
    return number == "0" or rating_text(number) == number


def _as_number(term: Term) -> Term:
    return _in_range(term, _numbers)


def _numbers(text: str) -> tuple[float, float] | None:
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None else (float(found[1]), float(found[1]))


def _signed_numbers(text: str) -> tuple[float, float] | None:
    number = _numbers(text.removeprefix("-"))
    if number is None or not text.startswith("-"):
        return number
    return -number[0], -number[0]


def _as_score(term: Term) -> Term:
    return _in_range(term, _scores)


def _scores(text: str) -> tuple[float, float] | None:
    """A share, `0.5` or `50%`."""
    share = _numbers(text.removesuffix("%"))
    if share is None:
        return None
    value = share[0] / 100 if text.endswith("%") else share[0]
    return (value, value) if value <= 1 else None


def _as_size(term: Term) -> Term:
    read = _in_range(term, _sizes)
    if (
        not term.text.startswith(("<", ">")) and ".." not in term.text
    ):  # a size is named as it is shown, rounded
        number = _SIZE.fullmatch(term.text.lstrip("=").strip().casefold())
        assert number is not None, "it was read above"
        half = 0.5 * _UNITS[number[2]] / 10 ** len(number[1].partition(".")[2])
        read = replace(read, low=read.low - half, high=nextafter(read.high + half, -inf))
    return read


def _sizes(text: str) -> tuple[float, float] | None:
    found = _SIZE.fullmatch(text.strip().casefold())
    if found is None or found[2] not in _UNITS:
        return None
    size_bytes = float(found[1]) * _UNITS[found[2]]
    return size_bytes, size_bytes


_READERS: Final[Mapping[Field, Callable[[Term], Term]]] = {
    Field.FACT: _as_fact,
    Field.DATE: _as_date,
    Field.STARS: _as_stars,
    Field.SIZE: _as_size,
    Field.SCORE: _as_score,
    **dict.fromkeys((Field.WIDTH, Field.HEIGHT, Field.COUNT), _as_number),
}
EXAMPLES: Final[Mapping[Field, str]] = {
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
MEANINGS: Final[Mapping[Field, str]] = {
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
"""What each field looks at."""
FACT_MEANINGS: Final[Mapping[str, str]] = {
    "unlabelled": marked("images without a label"),
    "labelled": marked("images with a label"),
    "unknown": marked("unlike all classes, or labelled as none of them"),
    "empty": marked("labelled as empty: nothing is there"),
    "flagged": marked("images with a flag"),
    "unreadable": marked("files that could not be read"),
}
