"""The attributes of a class besides its name and its parents.

Project file, journal, copied classes, formats, search, merging and the comparison with a source's
new version read one table. A new attribute is a field of `ClassAttributes` and a row of
`ATTRIBUTES`.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from engine.errors import GraphError, InputError
from engine.graph.language_tags import (
    is_for,
    name_in,
    split_language,
    with_language,
    without_language,
)
from engine.graph.limits import LONGEST_NAME, LONGEST_NOTE, LONGEST_SOURCE_ID, MOST_SYNONYMS
from engine.graph.names import clean_name

_COLOUR = re.compile(r"#[0-9a-f]{6}")
_SHORT_COLOUR = re.compile(r"#[0-9a-f]{3}")
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
LAST_LABEL_KEY = 9  # of the digits that a class can have as its key
_CUT = " […]"  # end of a note that was too long


@dataclass(frozen=True, slots=True)
class ClassAttributes:
    """The attributes of one class."""

    # Its id in the source that it came from ("n01440764"); "" where it has none
    source_id: str = ""
    # Other names of it ("Tinca tinca"), perhaps with their language ("Schleie@de")
    synonyms: tuple[str, ...] = ()
    note: str = ""  # what people note about it, some lines of text
    colour: str = ""  # "#rrggbb" in lower case; "" for none
    # Confidence threshold for predicting the class, 0..1; None inherits that of the parents
    bar: float | None = None
    is_deepest: bool = False  # never predict anything below it
    rank: str = ""  # Taxonomic rank ("species"), or any other word; "" without one
    is_broadest: bool = False  # never predict anything above it
    label_key: int = 0  # the digit that labels images as it together with Alt, 1..9; 0 for none

    @property
    def names(self) -> tuple[str, ...]:
        """What else the class is called, the source id first; without languages."""
        return (self.source_id, *self.other_names) if self.source_id else self.other_names

    @property
    def other_names(self) -> tuple[str, ...]:
        """The synonyms without their languages."""
        return tuple(map(without_language, self.synonyms))

    def name_in(self, language: str) -> str:
        """The first synonym in a language, such as "pt-BR"; "" without one, and for no language."""
        return name_in(language, self.synonyms) if language and self.synonyms else ""

    def names_for(self, language: str) -> tuple[str, ...]:
        """The synonyms without a language, and those in a language; in "" all of them."""
        return tuple(
            without_language(each)
            for each in self.synonyms
            if not language or is_for(language, each)
        )

    def __bool__(self) -> bool:
        return bool(self.source_id or self.synonyms) or self != NO_ATTRIBUTES

    def name_with(self, text: str) -> str:
        """The shortest other name that contains a typed text; empty without one."""
        wanted = text.strip().casefold()
        return min((each for each in self.names if wanted in each.casefold()), key=len, default="")

    def filled_in(self, news: "ClassAttributes") -> "ClassAttributes":
        """Fill missing attributes from another class, as when merging or completing."""
        return ClassAttributes(*(each.merged(each.of(self), each.of(news)) for each in ATTRIBUTES))

    def updated(self, was: "ClassAttributes", now: "ClassAttributes") -> "ClassAttributes":
        """Update to a source's new version: its new values, where the old ones were not edited."""
        kept = (
            each.of(now)
            if each.is_compared and each.of(self) == each.of(was) and each.of(now)
            else each.of(self)
            for each in ATTRIBUTES
        )
        return ClassAttributes(*kept).filled_in(now)

    def cleaned(self, name: str) -> "ClassAttributes":
        """The same as the class of this name can have it.

        Raises:
            InputError: an attribute is invalid; a GraphError for a name.
        """
        news: dict[str, Any] = {}
        for each in ATTRIBUTES if self is not NO_ATTRIBUTES else ():  # 82,000 classes come this way
            value = getattr(self, each.name)
            if value != each.default and (clean := each.clean(value, name)) != value:
                news[each.name] = clean
        return replace(self, **news) if news else self

    def differences(self, other: "ClassAttributes") -> dict[str, Any]:
        """Values of the other one that are not the same here, by attribute."""
        return {each.name: each.of(other) for each in ATTRIBUTES if each.of(self) != each.of(other)}


NO_ATTRIBUTES = ClassAttributes()


@dataclass(frozen=True)
class Attribute:
    """One attribute of classes."""

    name: str
    """Field of `ClassAttributes`, column in project file and tables, key in JSON and GraphML."""
    title: str  # in sentences
    table: str  # of the project file, that holds its column
    column: str  # its kind and its limits, for the project file
    clean: Callable[[Any, str], Any] = lambda value, _name: value
    """Normalises a value for a class of this name, or refuses it; not called for the default."""
    # Makes a foreign file's value one that is not refused for its form
    fit: Callable[[Any], Any] = lambda value: value
    since: int = 1  # version of the project file that brought it
    # Whether lists and drawings are rebuilt when it changes; it is one of `names`
    is_name: bool = False
    # Whether a class that another one is merged into gets it where it has none
    is_shared: bool = True
    # Whether it follows a source's new version where no person changed it
    is_compared: bool = False
    concerns_fit: bool = False  # whether predictions depend on it
    is_in_files: bool = True  # whether taxonomies have it
    read_as: tuple[str, ...] = ()  # other names that programs give it
    skos: tuple[str, ...] = ()  # predicates that it is read from, in order of preference
    skos_written: str = ""  # the one that is written
    darwin_core: tuple[str, ...] = ()  # terms of Darwin Core
    obo: tuple[str, ...] = ()  # tags of OBO

    @cached_property
    def default(self) -> Any:
        """Its value where none is given."""
        return self.of(NO_ATTRIBUTES)

    def field_in(self, fields: Mapping[str, Any]) -> str:
        """The one of its names under which a file has a value; its own where none is."""
        return next((name for name in (self.name, *self.read_as) if fields.get(name)), self.name)

    def of(self, attributes: ClassAttributes) -> Any:
        """Its value among the attributes of a class."""
        return getattr(attributes, self.name)

    def cleaned(self, value: Any, name: str) -> Any:
        """See `clean`."""
        return value if value == self.default else self.clean(value, name)

    def merged(self, own: Any, other: Any) -> Any:
        """Of two classes that become one: the own value, completed."""
        if isinstance(own, tuple):
            return tuple(dict.fromkeys((*own, *other)))
        return other if self.is_shared and own == self.default else own

    def stored(self, value: Any) -> str | float | None:
        """The value as stored in the project file; synonyms are separated by line breaks."""
        return (
            "\n".join(value)
            if isinstance(value, tuple)
            else int(value)
            if isinstance(value, bool)
            else value
        )

    def loaded(self, stored: Any) -> Any:
        """The value from its stored form."""
        if isinstance(self.default, tuple):
            return tuple(stored.split("\n")) if stored else ()
        return bool(stored) if isinstance(self.default, bool) else stored

    def accepts(self, value: Any) -> bool:
        """Whether a value of JSON is of its kind."""
        if self.default is None:
            return value is None or (type(value) in (int, float) and 0 <= value <= 1)
        if isinstance(self.default, tuple):
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        return type(value) is type(self.default)


def _clean_source_id(source_id: str, _name: str) -> str:
    source_id = source_id.strip()
    return clean_name(source_id, noun="source id", longest=LONGEST_SOURCE_ID) if source_id else ""


def _clean_synonyms(synonyms: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Clean synonyms, without blanks, repetitions, untagged duplicates and the class's name."""
    cleaned: dict[str, None] = {}
    plain = [name]
    for synonym in filter(str.strip, synonyms):
        bare, language = split_language(synonym)
        cleaned[
            clean_name(with_language(bare, language) if language else synonym, noun="synonym")
        ] = None
        plain += [bare] if language else []
    for each in plain:
        cleaned.pop(each, None)
    if len(cleaned) > MOST_SYNONYMS:
        raise GraphError(
            'the class "{name}" has too many synonyms',
            expected="at most {limit:,}",
            found=f"{len(cleaned):,}",
            remedy="remove some of them",
            name=name,
            limit=MOST_SYNONYMS,
        )
    return tuple(cleaned)


def _clean_note(note: str, _name: str) -> str:
    """With plain line breaks, and without blanks around it."""
    note = note.strip()
    if len(note) > LONGEST_NOTE:
        raise InputError(
            "a note is too long",
            expected="at most {limit:,} characters",
            found=f"{len(note):,}",
            remedy="shorten it",
            limit=LONGEST_NOTE,
        )
    note = _LINE_ENDS.sub("\n", note)
    if not note.isprintable() and (
        strange := next((each for each in note if _is_control(each)), None)
    ):
        raise InputError(
            "a note cannot contain control characters",
            found=f"{strange!a}",
            remedy="delete that character",
        )
    return note


def fitting_note(text: str) -> str:
    """Fit a text to a note: without control characters, truncated where it is too long."""
    if text.isprintable() and len(text) <= LONGEST_NOTE:
        return text.strip()  # nearly all of them
    plain = "".join(each for each in _LINE_ENDS.sub("\n", text) if not _is_control(each)).strip()
    return (
        plain if len(plain) <= LONGEST_NOTE else plain[: LONGEST_NOTE - len(_CUT)].rstrip() + _CUT
    )


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\t"


def _clean_colour(colour: str, _name: str) -> str:
    cleaned = colour.strip().lower()
    if cleaned and not _COLOUR.fullmatch(cleaned):
        raise InputError(
            "this is not a colour", expected='"#rrggbb", or nothing for none', found=cleaned[:40]
        )
    return cleaned


def hex_colour(text: str) -> str:
    """A colour as "#rrggbb"; "" for other notations, for which no file is refused."""
    colour = text.strip().casefold()
    if _SHORT_COLOUR.fullmatch(colour):
        return "#" + "".join(2 * digit for digit in colour[1:])
    return colour if _COLOUR.fullmatch(colour) else ""


def _clean_rank(rank: str, _name: str) -> str:
    return clean_name(rank, noun="rank") if rank.strip() else ""


def _clean_label_key(digit: int, _name: str) -> int:
    if not 0 <= digit <= LAST_LABEL_KEY:
        raise InputError(
            "this is not a key for a class",
            expected="1 to {last}, or 0",
            found=str(digit),
            last=LAST_LABEL_KEY,
        )
    return digit


def _clean_bar(bar: float, _name: str) -> float:
    if not 0 <= bar <= 1:
        raise InputError(
            "a confidence threshold must be a probability", expected="0 to 1", found=str(bar)
        )
    return float(bar)


ATTRIBUTES = (
    Attribute(
        name="source_id",
        title="source id",
        table="class",
        column=f"TEXT NOT NULL DEFAULT '' CHECK (length(source_id) <= {LONGEST_SOURCE_ID})",
        clean=_clean_source_id,
        since=4,
        is_name=True,
        is_compared=True,
    ),
    Attribute(
        name="synonyms",
        title="synonyms",
        table="class",
        column="TEXT NOT NULL DEFAULT '' "
        f"CHECK (length(synonyms) <= {MOST_SYNONYMS * (LONGEST_NAME + 1)})",
        clean=_clean_synonyms,
        since=4,
        is_name=True,
        skos=("skos:altLabel", "skos:hiddenLabel"),
        skos_written="skos:altLabel",
        obo=("synonym",),
    ),
    Attribute(
        name="note",
        title="note",
        table="class_detail",
        column=f"TEXT NOT NULL CHECK (length(note) <= {LONGEST_NOTE})",
        clean=_clean_note,
        fit=fitting_note,
        since=5,
        read_as=("description", "definition"),
        skos=("skos:definition", "skos:scopeNote", "skos:note"),
        skos_written="skos:note",
        darwin_core=("taxonRemarks",),
        obo=("def",),
    ),
    Attribute(
        name="colour",
        title="colour",
        table="class_detail",
        column=f"TEXT NOT NULL CHECK (colour = '' OR colour GLOB '#{'[0-9a-f]' * 6}')",
        clean=_clean_colour,
        fit=hex_colour,
        since=5,
        read_as=("color",),
        skos=("schema:color",),
        skos_written="schema:color",
    ),
    Attribute(
        name="bar",
        title="minimum confidence",
        table="class_policy",
        column="REAL CHECK (bar BETWEEN 0 AND 1)",
        clean=_clean_bar,
        is_shared=False,
        concerns_fit=True,
        is_in_files=False,
    ),
    Attribute(
        name="is_deepest",
        title="level at which predictions stop",
        table="class_policy",
        column="INTEGER NOT NULL CHECK (is_deepest IN (0, 1))",
        is_shared=False,
        concerns_fit=True,
        is_in_files=False,
    ),
    Attribute(
        name="rank",
        title="rank",
        table="class",
        column=f"TEXT NOT NULL DEFAULT '' CHECK (length(rank) <= {LONGEST_NAME})",
        clean=_clean_rank,
        since=6,
        is_compared=True,
        read_as=("taxonRank", "taxonrank"),
        skos=("dwc:taxonRank",),
        skos_written="dwc:taxonRank",
        darwin_core=("taxonRank",),
        obo=("has_rank",),
    ),
    Attribute(
        name="is_broadest",
        title="level at which predictions begin",
        table="class_policy",
        column="INTEGER NOT NULL DEFAULT 0 CHECK (is_broadest IN (0, 1))",
        since=13,
        is_shared=False,
        concerns_fit=True,
        is_in_files=False,
    ),
    Attribute(
        name="label_key",
        title="key",
        table="class_detail",
        column=f"INTEGER NOT NULL DEFAULT 0 CHECK (label_key BETWEEN 0 AND {LAST_LABEL_KEY})",
        clean=_clean_label_key,
        since=13,
        is_in_files=False,
    ),
)
"""In the order of the fields of `ClassAttributes`."""

ATTRIBUTE = {each.name: each for each in ATTRIBUTES}  # by name

IN_FILES = tuple(each for each in ATTRIBUTES if each.is_in_files)
"""Those that taxonomies have."""

assert [each.name for each in ATTRIBUTES] == [each.name for each in fields(ClassAttributes)]
