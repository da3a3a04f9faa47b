"""`protoleaf images`: search results.

And `embed`, which reads image metadata.
"""

import json
from datetime import datetime
from pathlib import Path

import pytest

from engine.collection.details import read_missing_details
from engine.collection.importing.import_images import import_images
from engine.project import Project
from tests.support.collections import Collection
from tests.support.command_line import done, refused
from tests.support.photos import save_photo
from tests.support.projects import connection_of, new_project

TAKEN = datetime.fromisoformat("2024-05-03T06:30:00")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two photos with date and place, a file that is no photo, and a missing one."""
    for name in ("deer.jpg", "fox.jpg", "gone.jpg"):
        save_photo(tmp_path / name, taken_at=TAKEN, latitude=-3.5, longitude=37.25)
    (tmp_path / "text.jpg").write_text("no image")
    with new_project(tmp_path) as opened:
        import_images(opened, [tmp_path])
        opened.notes.set_comment([1], "blurred")
        (tmp_path / "gone.jpg").unlink()
        read = read_missing_details(opened)
        assert (read.read, read.missing) == (3, 1)
        return opened.path


def test_details_of_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(
        done(capsys, "images", str(project), "--search", "date:2024-05 has:place", "--json").out
    )
    assert [image["image"] for image in answer["images"]] == ["deer.jpg", "fox.jpg"]
    assert (
        answer["images"][0] | {"comment": "blurred", "width": 32, "longitude": 37.25}
        == answer["images"][0]
    )
    assert (
        "fox.jpg  2024-05-03 06:30" in done(capsys, "images", str(project), "--search", "fox").out
    )


def test_search_as_text_and_json(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels need no embeddings; predictions are included on request."""
    with Project.open(collection.project) as opened:
        opened.notes.set_stars([1], 5)
    assert (
        "1 image found."
        in done(capsys, "images", str(collection.project), "--search", "stars:5").out
    )
    answer = json.loads(
        done(capsys, "images", str(collection.project), "--search", "labelled", "--json").out
    )
    assert answer["found"] == len(answer["images"]) > 0
    assert all(image["labelled"] and image["class"] for image in answer["images"])
    everything = json.loads(done(capsys, "images", str(collection.project), "--json").out)
    unlabelled = json.loads(
        done(capsys, "images", str(collection.project), "--search", "-labelled", "--json").out
    )
    assert everything["found"] == answer["found"] + unlabelled["found"]


def test_a_search_that_is_not_understood(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, "images", str(collection.project), "--search", "fox colour:red")
    assert 'there is no field "colour" to search in, at character 5' in message


@pytest.mark.slow
def test_embed_reads_details_once(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of cached files, as in projects of earlier versions."""
    done(capsys, "embed", str(collection.project), "--one-view")
    with Project.open(collection.project) as opened:
        assert opened.details.missing_count() == 0  # read with the embeddings
        with (connection := connection_of(opened)).transaction():
            connection.write_many("DELETE FROM image_detail WHERE image_id > ?", [(3,)])
        missing = opened.details.missing_count()
    first = json.loads(done(capsys, "embed", str(collection.project), "--one-view", "--json").out)
    assert first["details_read"] == missing > 0
    with Project.open(collection.project) as opened:
        assert opened.details.missing_count() == 0
        assert all(each.width > 0 for each in opened.details.each())
    again = json.loads(done(capsys, "embed", str(collection.project), "--one-view", "--json").out)
    assert again["details_read"] == 0
