"""Compact columns."""

from array import array

import pytest

from engine.project.packed import PackedHashes, PackedTexts, RareTexts, packed_text, unpacked_text
from engine.texts import Message

NAMES = ["", "a/b.jpg", "鳥/鴎.jpg", "طائر.png", "🦜" * 60, "\udcff broken"]


def test_texts_come_back_in_any_script() -> None:
    """Including empty ones and names of invalid Unicode."""
    packed = PackedTexts()
    for name in NAMES:
        packed.append(name)
    assert list(packed) == NAMES
    assert (packed[-1], packed[1:3]) == (NAMES[-1], NAMES[1:3])
    with pytest.raises(IndexError):
        packed[len(NAMES)]


def test_hashes_and_gaps_come_back() -> None:
    """None is stored at any position."""
    packed = PackedHashes()
    values = [None, b"\x00\x01", None, b"\xff" * 16]
    for value in values:
        packed.append(value)
    assert list(packed) == values
    assert packed[1:] == values[1:]


def test_rare_texts_come_back() -> None:
    """Nearly all are None."""
    packed = RareTexts()
    for number in range(100):
        packed.append("broken" if number == 7 else None)
    assert packed[7] == "broken"
    assert [text for text in packed if text is not None] == ["broken"]
    assert (packed[-93], packed[6:8]) == ("broken", [None, "broken"])
    with pytest.raises(IndexError):
        packed[100]


def test_a_longer_copy_leaves_the_texts_as_they_were() -> None:
    """A snapshot may still use them."""
    packed = PackedTexts()
    packed.append("a")
    longer = packed.extended(["b", "c"])
    assert (list(packed), list(longer)) == (["a"], ["a", "b", "c"])


def test_a_replaced_hash_is_read_from_either_end() -> None:
    """Adjacent values are unchanged, and the length is limited."""
    packed = PackedHashes()
    for value in (b"\x01", None, b"\x03"):
        packed.append(value)
    packed.replace(1, b"\x02\x02")
    packed.replace(2, None)
    assert list(packed) == [b"\x01", b"\x02\x02", None]
    assert packed[-1] is None
    with pytest.raises(IndexError):
        packed[4]


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        '{"text": no message',
        '{"text": "other"}',
        Message("{path} is empty", {"path": "a\udcf6"}),
        None,
    ],
)
def test_a_stored_message_keeps_its_template(text: str | None) -> None:
    """Old messages are plain texts, even those that look like a template."""
    back = unpacked_text(None if text is None else packed_text(text, 1000))
    assert back == text
    assert getattr(back, "template", "") == getattr(text, "template", "")


def test_a_message_that_is_too_long_is_stored_as_text() -> None:
    assert packed_text(Message("{name} is empty", {"name": "a" * 20}), 10) == "a" * 10


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None, None],
        [b"\x01\x00", b"\x03\x04"],
        [b"\x01", None, b"\x03\x04"],
        [b"\x01", b"\x02\x03\x04"],
    ],
)
@pytest.mark.parametrize("replaced", [{}, {0: None}, {0: b"\x07"}, {1: b"\x05\x06\x07\x08"}])
def test_hashes_in_one_piece(values: list[bytes | None], replaced: dict[int, bytes | None]) -> None:
    """Each is found by its value, whatever its length; an empty list has none."""
    packed = PackedHashes()
    for value in values:
        packed.append(value)
    for place, value in replaced.items():
        if place < len(values):
            packed.replace(place, value)
    whole, length = packed.padded()
    assert length == max([1, *(len(value or b"") for value in packed)])
    found = [whole[start : start + length] for start in range(0, len(whole), length)]
    assert found == [(value or b"").ljust(length, b"\x00") for value in packed]


def test_hashes_of_a_file_are_not_copied() -> None:
    """Nor is an equal value a change.

    Another value makes a copy, and the file stays.
    """
    file, ends = memoryview(b"a" * 16 + b"b" * 16), memoryview(array("Q", [16, 32]))
    packed = PackedHashes(file, ends)
    packed.replace(1, b"b" * 16)
    assert packed.padded()[0] is file
    packed.replace(1, None)
    assert bytes(packed.padded()[0]) == b"a" * 16 + bytes(16)
    assert bytes(file) == b"a" * 16 + b"b" * 16
