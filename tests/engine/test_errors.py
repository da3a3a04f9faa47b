"""Common properties of error messages."""

import pytest

from engine.errors import LONGEST_MESSAGE, FormatError, reason_of
from engine.texts import Message


def test_a_message_that_quotes_megabytes_stays_a_line() -> None:
    """Start and end of a message are kept, however long the value between."""
    text = str(
        FormatError("the class is unknown", found="x" * 5_000_000 + "\n", remedy="correct the file")
    )
    assert text.startswith("the class is unknown: found xxx")
    assert text.endswith("Correct the file")
    assert len(text) < LONGEST_MESSAGE + 10
    assert "\n" not in text


@pytest.mark.parametrize(
    ("error", "words", "template"),
    [
        (
            FormatError("{name} is  empty", remedy="fill it", name="a.csv"),
            "a.csv is empty. Fill it",
            "{what}. {remedy:capital}",
        ),
        (
            PermissionError(13, "Permission denied", "a.csv"),
            "Permission denied",
            "Permission denied",
        ),
        (OSError("{x} is gone"), "{x} is gone", "{x} is gone"),
        (
            ValueError(Message("{text} is not a time", {"text": "ada"})),
            "ada is not a time",
            "{text} is not a time",
        ),
        (ValueError(), "", ""),
    ],
)
def test_what_an_error_says_can_be_translated_later(
    error: Exception, words: str, template: str
) -> None:
    """In English it equals the error's text; of system errors the reason only."""
    reason = reason_of(error)
    assert (str(reason), reason.template) == (words, template)
