"""The query language: meaning of terms, and errors of invalid ones."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.collection.search.query import (
    EXAMPLES,
    MEANINGS,
    Field,
    QueryError,
    Term,
    parse_query,
    quoted,
    with_term,
    without_term,
)
from engine.image_fields import FieldKind, ImageField

OWN = (
    ImageField("sex", FieldKind.CHOICE, ("female", "male")),
    ImageField("distance", FieldKind.NUMBER),
    ImageField("antlers", FieldKind.YES_NO),
    ImageField("Life stage", FieldKind.CHOICE, ("adult", "juvenile")),
)


def only(text: str) -> Term:
    (term,) = parse_query(text)
    return term


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_terms_in_their_order() -> None:
    terms = parse_query('fox  name:IMG_01 -class:"Red fox" unlabelled "exact words"')
    assert [(term.field, term.text, term.is_negated) for term in terms] == [
        (Field.WORDS, "fox", False),
        (Field.NAME, "IMG_01", False),
        (Field.CLASS, "Red fox", True),
        (Field.FACT, "unlabelled", False),
        (Field.WORDS, "exact words", False),
    ]
    assert parse_query("  ") == ()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("date:2024", "2024-01-01T00:00:00", "2024-12-31T23:59:59"),
        ("date:2024-02", "2024-02-01T00:00:00", "2024-02-29T23:59:59"),
        ("date:2024-5-3", "2024-05-03T00:00:00", "2024-05-03T23:59:59"),
        ("date:2024-01..2024-03", "2024-01-01T00:00:00", "2024-03-31T23:59:59"),
        ("date:1899-12-31", "1899-12-31T00:00:00", "1899-12-31T23:59:59"),
    ],
)
def test_dates(text: str, low: str, high: str) -> None:
    term = only(text)
    assert (term.low, term.high) == (seconds(low), seconds(high))


def test_open_and_compared_dates() -> None:
    assert only("date:2024-05..").low == seconds("2024-05-01")
    assert only("date:..2024-05").high == seconds("2024-05-31T23:59:59")
    assert only("date:>2024-05").low > seconds("2024-05-31T23:59:59")
    assert only("date:<2024-05").high < seconds("2024-05-01")
    assert only("date:<=2024-05").high == seconds("2024-05-31T23:59:59")


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("stars:3", 3, True),
        ("stars:3", 4, False),
        ("stars:>=3", 5, True),
        ("stars:>3", 3, False),
        ("stars:2..4", 2, True),
        ("stars:0", 0, True),
        ("size:>2MB", 2_000_001, True),
        ("size:>2MB", 2_000_000, False),
        ("size:2MB", 2_400_000, True),
        ("size:2.0MB", 2_400_000, False),
        ("size:100kB..1MB", 500_000, True),
        ("size:<1kB", 999, True),
        ("score:<0.5", 0.5, False),
        ("score:<=50%", 0.5, True),
        ("score:>=90%", 0.95, True),
        ('size:"= 5mb"', 5_000_000, True),
        ('size:"=5 MB"', 5_600_000, False),
        ('size:"> 5 mb"', 5_000_000, False),
        ('stars:"= 3"', 3, True),
        ('stars:">= 3"', 5, True),
        ('stars:" 2 .. 4 "', 2, True),
        ('width:"< 7"', 7, False),
        ('score:"<= 50%"', 0.5, True),
        ("width:>=1000", 1000, True),
        ("height:<500", 500, False),
    ],
)
def test_numbers(text: str, value: float, fits: bool) -> None:
    term = only(text)
    assert (term.low <= value <= term.high) is fits


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fox colour:red", 5),
        ("date:yesterday", 1),
        ("date:2024-13", 1),
        ("date:2024-02-30", 1),
        ("  stars:6", 3),
        ("stars:2.5", 1),
        ("date:2024..2023", 1),
        ("date:..", 1),
        ("size:2PB", 1),
        ("score:2", 1),
        ("name:", 1),
        ("date:2024-00", 1),
        ("date:2024-05-00", 1),
        ("date:2023..2024-00", 1),
        ("date:>=0000-01", 1),
        ('size:"="', 1),
        ('size:"== 5mb"', 1),
        ('stars:"= 6"', 1),
        ("size:..", 1),
        ("-", 1),
        ("is:red", 1),
        ("has:fleas", 1),
        ('name:""', 1),
        ("date:>", 1),
        ("width:wide", 1),
    ],
)
def test_what_is_not_understood_is_reported_with_its_place(text: str, place: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert caught.value.fields["place"] == place
    assert str(place) in str(caught.value)


def test_words_that_stand_for_facts_are_words_in_quotes() -> None:
    assert only('"unknown"').field is Field.WORDS
    assert only("is:Unknown") == Term(Field.FACT, "unknown", 0, 10)
    assert only("has:keyword").text == "keywords"


def test_a_quote_that_is_still_open_reaches_to_the_end() -> None:
    assert only('class:"Red fo').text == "Red fo"
    assert only('"red fox').text == "red fox"


def test_a_time_of_day_is_no_field() -> None:
    assert only("12:30").text == "12:30"


def test_every_field_has_an_example_that_is_understood() -> None:
    for field in Field:
        if field is not Field.WORDS:
            examples = EXAMPLES[field].split(", ")
            assert all(term.field is field for each in examples for term in parse_query(each, OWN))
            assert MEANINGS[field]


def test_terms_of_a_field_are_replaced() -> None:
    text = "fox camera:Reconyx -class:Deer date:2023 date:2024"
    assert with_term(text, Field.DATE, "date:2022") == "fox camera:Reconyx -class:Deer date:2022"
    assert with_term(text, Field.CAMERA, "") == "fox -class:Deer date:2023 date:2024"
    assert with_term("", Field.FOLDER, f"folder:{quoted('site 3')}") == 'folder:"site 3"'


def test_a_search_that_is_too_long_is_refused() -> None:
    with pytest.raises(QueryError):
        parse_query("fox " * 1_000)


@pytest.mark.slow
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(QueryError):
        terms = parse_query(text)
        assert all(text[term.start : term.end].strip() for term in terms)
        assert all(term.low <= term.high for term in terms)


@pytest.mark.parametrize("query", ["OR", "fox OR", "OR fox", "fox OR OR hare"])
def test_or_stands_between_two_terms(query: str) -> None:
    with pytest.raises(QueryError, match="is not between two terms"):
        parse_query(query)


def test_alternatives_differ_from_words() -> None:
    """`OR` is an operator in capitals only, and not in quotes."""
    assert [(term.text, term.is_alternative) for term in parse_query('a OR b or "OR" c')] == [
        ("a", False),
        ("b", True),
        ("or", False),
        ("OR", False),
        ("c", False),
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("flagged OR fox", "fox"),
        ("fox OR flagged", "fox"),
        ("fox OR flagged OR hare", "fox OR hare"),
        ("hare flagged", "hare"),
    ],
)
def test_a_term_is_taken_out_with_its_or(query: str, expected: str) -> None:
    assert without_term(query, "flagged") == expected
