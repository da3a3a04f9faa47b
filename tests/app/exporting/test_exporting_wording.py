"""Texts of the card."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.exporting.logic import (
    COPY,
    FIRST,
    ExportLook,
    offered_exports,
    renamed_target,
    target_name,
)
from app.exporting.wording import (
    GROUPS,
    done_text,
    lacks_space,
    losses,
    preview_caption,
    target_facts,
    which_hint,
)
from engine.exporting.export import ExportChoice, Which
from engine.exporting.preview import ChosenImages, ExportPreview
from engine.files import FileFailure
from engine.interchange.labelled_images.formats import FORMATS, FormatGroup
from engine.interchange.labelled_images.records import WrittenExport
from engine.new_folder import Placing

OFFERED = offered_exports()
FOLDERS = OFFERED["folders"]


def look(
    *,
    free_bytes: int | None = 10**9,
    size_bytes: int = 10,
    is_taken: bool = False,
    replaced_kind: str = "",
) -> ExportLook:
    """The preview of exporting three images as class folders."""
    chosen = {Which.SURE: ChosenImages(3, size_bytes)}
    choice = ExportChoice("folders", Path("x/out"))
    return ExportLook(
        FOLDERS, choice, is_taken, replaced_kind, "", free_bytes, chosen, ExportPreview()
    )


def test_every_format_is_offered_under_a_heading() -> None:
    """The whole project first, then tables; each format is in a group."""
    assert set(OFFERED) >= set(FORMATS)
    assert list(OFFERED)[:2] == [COPY, FIRST]
    groups = [one.group for one in OFFERED.values()]
    assert groups == sorted(groups, key=list(FormatGroup).index)
    assert set(GROUPS) == set(FormatGroup)
    assert all(
        line[0].isupper() and line.endswith(".") for one in OFFERED.values() for line in losses(one)
    )


@pytest.mark.parametrize(
    ("name", "suffix", "expected"),
    [
        ("csv", ".csv", "birds.csv"),
        ("coco", ".json", "birds-coco.json"),
        ("folders", "", "birds-folders"),
    ],
)
def test_names_tell_formats_apart(name: str, suffix: str, expected: str) -> None:
    assert target_name("birds", name, suffix) == expected


@pytest.mark.parametrize(
    ("name", "now", "then"),
    [
        ("a.csv", "jsonl", "a.jsonl"),
        ("a", "csv", "a.csv"),
        ("a.csv", "folders", "a"),
        ("a.2026", "csv", "a.2026.csv"),
    ],
)
def test_a_name_of_ones_own_keeps_its_stem(name: str, now: str, then: str) -> None:
    assert (
        renamed_target(Path("x") / name, OFFERED[now], tuple(OFFERED.values())) == Path("x") / then
    )


def test_too_little_room_for_copies() -> None:
    assert lacks_space(look(), Placing.COPY) == ""
    full = look(size_bytes=2 * 10**9)
    assert lacks_space(full, Placing.HARD_LINK) == ""
    assert lacks_space(full, Placing.COPY).startswith(
        "The copies need up to 2.0\u00a0GB, and only 1.0\u00a0GB is free there."
    )
    assert (
        target_facts(look(is_taken=True))
        == "out exists and will be replaced. 1.0\u00a0GB free on this disk."
    )
    foreign = look(free_bytes=None, is_taken=True, replaced_kind="a JPEG picture")
    assert (
        target_facts(foreign)
        == "out is a JPEG picture, not an export like this one. It will be lost."
    )
    assert target_facts(look(free_bytes=None)) == ""


@pytest.mark.parametrize(
    ("sure", "seen", "text"),
    [
        (3, "", "The model is not sure of any image yet"),
        (4, "", "Also 1 image the model is sure of"),
        (
            15,
            "3 of 505 classes have examples",
            "Also 12 images the model is sure of. 3 of 505 classes have examples",
        ),
    ],
)
def test_how_many_are_sure(sure: int, seen: str, text: str) -> None:
    """The hint says why there are no more, where classes have no examples."""
    chosen = {Which.VERIFIED: ChosenImages(3, 10), Which.SURE: ChosenImages(sure, 10)}
    assert which_hint(Which.SURE, replace(look(), chosen=chosen, seen=seen)) == text
    assert which_hint(Which.SURE, None) == "Also images the model is sure of"


def test_what_came_of_it() -> None:
    target = Path("x/birds.csv")
    assert done_text(WrittenExport(264), target) == "Exported 264 images to birds.csv"
    failures = (FileFailure(Path("a/b.png"), "No such file"), FileFailure(Path("c.png"), "Gone"))
    assert done_text(WrittenExport(1, {"no class": 12}, failures), target) == (
        "Exported 1 image to birds.csv. 12 images left out: no class. "
        "2 images could not be copied, the first is b.png: No such file"
    )


def test_what_the_preview_is_made_of() -> None:
    assert preview_caption(ExportPreview(images=8), 264) == "8 of 264 images are shown"
    assert preview_caption(ExportPreview(images=3), 3) == "All of 3 images"
    assert preview_caption(ExportPreview(), 0) == "No such image yet."
