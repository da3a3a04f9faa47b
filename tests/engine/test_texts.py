"""Sentences keep their template and values, and can be shown in another language."""

import pickle
from collections.abc import Iterator

import pytest

from engine.errors import (
    CycleError,
    FormatError,
    InputError,
    ProtoleafError,
    StorageError,
    from_data,
)
from engine.full_disk import DiskFullError
from engine.texts import Message, counted, either, enumerated, translate_with, translated
from engine.worker.protocol import Failed, encode, read

GERMAN = {
    "{path} is empty": "{path} ist leer",
    "at least {count:,} bytes": "mindestens {count:,} Byte",
    "{count:,} images": "{count:,} Bilder",
    "expected {expected}": "erwartet {expected}",
    "found {found}": "gefunden {found}",
    "choose another": "ein anderes nehmen",
    "in line {line}: {problem}": "Zeile {line}: {problem}",
}


@pytest.fixture
def german() -> Iterator[None]:
    """A window speaks German."""
    translate_with(lambda text, count: "ein Bild" if count == 1 else GERMAN.get(text, text))
    yield
    translate_with(None)


def an_error() -> FormatError:
    return FormatError(
        "{path} is empty",
        expected="at least {count:,} bytes",
        found=counted(1200, "image"),
        remedy="choose another",
        path="{count}",
        count=1000,
    )


def test_an_error_is_one_english_line_with_its_code_and_fields() -> None:
    error = an_error()
    assert (
        str(error)
        == "{count} is empty: expected at least 1,000 bytes, found 1,200 images. Choose another"
    )
    assert error.code == "is-empty"
    assert error.fields == {"path": "{count}", "count": 1000}
    assert error.translated() == str(error)


@pytest.mark.usefixtures("german")
def test_an_error_is_shown_in_another_language() -> None:
    """Values stay as they are; the log and the command line, which ask for `str`, stay English."""
    error = an_error()
    assert error.translated() == (
        "{count} ist leer: erwartet mindestens 1,000 Byte, gefunden 1,200 Bilder. Ein anderes "
        "nehmen"
    )
    assert str(error).startswith("{count} is empty: expected")


@pytest.mark.usefixtures("german")
def test_an_error_keeps_that_of_another_in_it() -> None:
    error = InputError("in line {line}: {problem}", line=7, problem=an_error().what, code="line")
    assert str(error) == "in line 7: {count} is empty"
    assert error.translated() == "Zeile 7: {count} ist leer"
    assert error.code == "line"


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "error",
    [an_error(), DiskFullError("the disk is full", found="/x"), CycleError(("a", "b", "a"))],
)
def test_an_error_crosses_processes_whole(error: ProtoleafError) -> None:
    """By pickle and by JSON: kind, code, fields and all it says in either language."""
    for copy in (
        pickle.loads(pickle.dumps(error)),  # noqa: S301 (our own)
        read(encode(1, Failed.of(error))).message(Failed).as_error(),
    ):
        assert type(copy) is type(error)
        assert str(copy) == str(error)
        assert (copy.code, dict(copy.fields)) == (error.code, dict(error.fields))
        assert copy.translated() == error.translated()


def test_an_error_of_no_known_kind_is_still_one() -> None:
    data = StorageError("the folder is gone").as_data() | {"kind": "Other"}
    assert type(from_data(data)) is ProtoleafError


@pytest.mark.usefixtures("german")
def test_counts_choose_their_plural() -> None:
    assert (counted(1, "image"), counted(1200, "image"), counted(2, "class", "classes")) == (
        "1 image",
        "1,200 images",
        "2 classes",
    )
    assert translated(counted(1, "image")) == "ein Bild"
    assert translated(counted(1200, "image")) == "1,200 Bilder"
    assert (
        translated(Message("{a} and {b}", {"a": counted(1, "image"), "b": 3})) == "ein Bild and 3"
    )


def test_numbers_of_a_language_stand_in_its_sentences() -> None:
    """Without a translation for it, too; a text that looks like a number stays as it is."""
    message = Message(
        "{count:,} images of {size:.1f} MB in {name}", {"count": 1234, "size": 0.5, "name": "1,000"}
    )
    translate_with(
        lambda _text, _count: "",
        lambda value, form: format(value, form).translate({44: "'", 46: ","}),
    )
    try:
        assert message.translated() == "1'234 images of 0,5 MB in 1,000"
    finally:
        translate_with(None)
    assert message.translated() == str(message) == "1,234 images of 0.5 MB in 1,000"


def test_lists_have_the_marks_of_the_language() -> None:
    """In English a comma, as ever; long lists too."""
    names = [f"class {number}" for number in range(2_000)]
    things, ways = enumerated([Message("a table"), "Fox", "Dog"]), either(["Fox", "Dog"])
    assert (things, ways, enumerated(["Fox"]), enumerated([])) == (
        "a table, Fox, Dog",
        "Fox or Dog",
        "Fox",
        "",
    )
    assert enumerated(names) == ", ".join(names)
    marks = {
        "{before}, {after}": "{before}、{after}",
        "{before} or {text}": "{before}或{text}",
        "a table": "表",
    }
    translate_with(lambda text, _count: marks.get(text, ""))
    try:
        assert (translated(things), translated(ways)) == ("表、Fox、Dog", "Fox或Dog")
        assert translated(enumerated(names)) == "、".join(names)
    finally:
        translate_with(None)


def test_chinese_words_stand_together_and_latin_ones_apart() -> None:
    """Values too, side by side as well; spaces within a value, and of other languages, stay."""
    translate_with(lambda text, _count: {"move {a} to {b}": "将 {a} 移到 {b} 下"}.get(text, ""))
    try:
        pairs = {
            ("雏菊", "花"): "将雏菊移到花下",
            ("Bellis", "花 卉"): "将 Bellis 移到花 卉下",
            ("2", "“花”"): "将 2 移到“花”下",
        }
        for (a, b), text in pairs.items():
            assert translated(Message("move {a} to {b}", {"a": a, "b": b})) == text
        assert translated(Message("{a} {b}, 花 {a} {b}", {"a": "雏", "b": "菊"})) == "雏菊, 花雏菊"
        assert translated(Message("{a} {b}", {"a": "雏", "b": "菊"})) == "雏 菊"
        assert translated(Message("“{a}” {b}", {"a": "x", "b": "“y”"})) == "“x” “y”"
    finally:
        translate_with(None)
