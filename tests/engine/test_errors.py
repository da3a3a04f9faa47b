"""What every message has in common."""

from engine.errors import LONGEST_MESSAGE, FormatError


def test_a_message_that_quotes_megabytes_stays_a_line() -> None:
    """Its beginning says what is wrong and its end what to do, whatever a file holds in between."""
    text = str(FormatError("the class is unknown", found="x" * 5_000_000 + "\n", remedy="correct the file"))
    assert text.startswith("the class is unknown: found xxx")
    assert text.endswith("Correct the file")
    assert len(text) < LONGEST_MESSAGE + 10
    assert "\n" not in text
