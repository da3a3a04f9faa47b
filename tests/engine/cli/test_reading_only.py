"""Commands on read-only projects, and on those open in the window, write nothing to them."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ProjectReadOnlyError
from engine.project import Project
from tests.support.collections import Collection, write_shape
from tests.support.command_line import done, protoleaf, refused


@pytest.fixture(params=["open in the window", "read-only"])
def kept(request: pytest.FixtureRequest, collection: Collection) -> Iterator[Collection]:
    """A project with two unembedded images, writable only for its owner."""
    write_shape(collection.unsorted / "new 1.png", "Red disc", seed=91)
    write_shape(collection.unsorted / "new 2.png", "Blue stripes", seed=92)
    with Project.open(collection.project) as project:
        from engine.collection.importing.import_images import import_images

        assert import_images(project, [collection.unsorted]).added == 2
    if request.param == "open in the window":
        with Project.open(collection.project):
            yield collection
    else:
        with pytest.MonkeyPatch.context() as patch:
            _refuse_writing(patch)  # root ignores permission bits
            yield collection


def _refuse_writing(patch: pytest.MonkeyPatch) -> None:
    as_it_is = Project.open

    def refusing(path: Path, *, for_writing: bool = True) -> Project:
        if for_writing:
            raise ProjectReadOnlyError("the project's file or folder is read-only", found=str(path))
        return as_it_is(path, for_writing=False)

    patch.setattr(Project, "open", staticmethod(refusing))


def _facts(collection: Collection) -> tuple[object, ...]:
    """Facts of images and predictions in the project."""
    with Project.open(collection.project, for_writing=False) as project:
        return list(project.images.table().content_hashes), project.models.predictions("ppn+")


def _classes(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["image"]: row["class"] for row in csv.DictReader(file)}


@pytest.mark.slow
def test_everything_that_only_reads(
    kept: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Embedding writes to the cache only, which classification uses; one line says so."""
    before = _facts(kept)
    embedded = protoleaf(capsys, "embed", kept.project, "--device", "cpu", "--json")
    assert (embedded.status, embedded.fields["embedded"], embedded.fields["from_cache"]) == (
        0,
        2,
        64,
    )
    assert embedded.err.count("\n") == 1
    assert "so it is only read; the embeddings are kept in the cache alone" in embedded.err
    again = protoleaf(capsys, "embed", kept.project, "--device", "cpu", "--json")
    assert (again.fields["embedded"], again.fields["from_cache"]) == (0, 66)

    out = tmp_path / "out.csv"
    classified = protoleaf(capsys, "classify", kept.project, "-o", out, "--json")
    assert (classified.status, classified.fields["predictions"], classified.fields["waiting"]) == (
        0,
        42,
        0,
    )
    assert "so it is only read; the predictions are kept in the file alone" in classified.err
    assert {"unsorted/new 1.png", "unsorted/new 2.png"} <= _classes(out).keys()

    figures = done(capsys, "evaluate", kept.project, "--truth", out, "--json").fields
    assert (figures["images"], figures["top1"], figures["not_found"]) == (42, 1, 0)
    assert done(capsys, "versions", kept.project, "--json").fields["versions"]
    assert done(capsys, "check", kept.project, "--json").fields["sound"]
    assert _facts(kept) == before


@pytest.mark.slow
def test_files_that_changed(
    kept: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newest embedding counts, not the project's older hash.

    For a missing file, the project's.
    """
    changed, gone = kept.unsorted / "024.png", kept.unsorted / "025.png"
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    protoleaf(capsys, "classify", kept.project, "-o", old)
    write_shape(changed, "Blue stripes", seed=93)
    os.utime(changed, ns=(1, 1))
    gone.unlink()
    protoleaf(capsys, "embed", kept.project, "--device", "cpu")
    protoleaf(capsys, "classify", kept.project, "-o", new)
    assert _classes(old)["unsorted/024.png"].startswith("Red")
    assert _classes(new)["unsorted/024.png"].startswith("Blue")
    assert _classes(new)["unsorted/025.png"] == _classes(old)["unsorted/025.png"]
    # differs from the embedded file, so only the project's hash is left
    os.utime(changed, ns=(2, 2))
    protoleaf(capsys, "classify", kept.project, "-o", new)
    assert _classes(new)["unsorted/024.png"].startswith("Red")


def test_what_must_write_is_refused(kept: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """Importing says why it is refused."""
    line = refused(capsys, "import-images", kept.project, kept.unsorted)
    assert "open in another window or program" in line or "read-only" in line
