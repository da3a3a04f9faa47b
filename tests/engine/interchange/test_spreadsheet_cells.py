"""Texts that a spreadsheet would run, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.interchange.table_writer import guarded, storable, unguarded


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-40 °C", "@SUM(A1)", "\tx", "\rx", "\n=x", "  =x", "＝1", "'=x", "''-x"],  # noqa: RUF001
)
def test_what_would_run_gets_an_apostrophe(text: str) -> None:
    """One more where there are some, so that taking one away gives the text back."""
    assert guarded(text) == "'" + text
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize(
    "text", ["", "Gull", "'tis", "a=b", "0.5", "/a/-b.png", "3-spined stickleback"]
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    """Nobody sees an apostrophe that is not needed, and none of a name's own is lost."""
    assert guarded(text) == unguarded(text) == text


@given(st.text(st.sampled_from("'=+-@ \t\r\nab＝")))  # noqa: RUF001
def test_every_text_comes_back(text: str) -> None:
    """Whatever the signs and apostrophes; and no guarded cell begins with a sign."""
    assert unguarded(guarded(text)) == text
    assert guarded(text).strip()[:1] not in set("=+-@")


@pytest.mark.parametrize("text", ["海鸥.png", "caf\udce9.png", "half \ud83d.png"])
def test_every_name_can_be_written(text: str) -> None:
    """Bytes of other encodings are preserved; unpaired surrogates become bytes, too."""
    written = storable(text).encode("utf-8", "surrogateescape")
    assert written.decode("utf-8", "surrogateescape") == storable(text)
    assert written.decode("utf-8", "surrogatepass" if "half" in text else "surrogateescape") == text
