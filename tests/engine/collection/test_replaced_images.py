"""A label is outdated when its file has another picture."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.collection.classify import classify_project
from engine.collection.embed import embed_project
from engine.collection.found_images import images_found
from engine.collection.importing.import_images import import_images
from engine.collection.replaced_images import modified_labelled_images
from engine.project import Project
from engine.relink.find import known_images
from engine.review.label_check import check_project
from tests.support.collections import Collection, class_ids, draw_shape, write_shape

LABELLED = "shots/Red/Red disc/0.png"
Write = Callable[[Path], object]


@pytest.fixture
def project(collection: Collection) -> Iterator[Project]:
    """The small collection, open for writing, with one labelled photo."""
    photo(1).save(collection.folder / LABELLED)
    with Project.open(collection.project) as opened:
        embed_project(opened, collection.caches, device="cpu")
        opened.labels.confirm(opened.labels.outdated())
        yield opened


def write_later(path: Path, write: Write) -> None:
    """Write another file under the same name with a later time."""
    before = path.stat().st_mtime_ns
    write(path)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def photo(seed: int) -> Image.Image:
    """A smooth synthetic photo."""
    generator = np.random.default_rng(seed)
    coarse = Image.fromarray(generator.integers(0, 256, (6, 8, 3)).astype(np.uint8))
    return coarse.resize((320, 240), Image.Resampling.BICUBIC)


def another_photo(path: Path) -> None:
    photo(77).save(path)


def saved(image: Image.Image, form: str, **options: object) -> bytes:
    """An image encoded as bytes."""
    out = BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def as_jpeg(path: Path) -> None:
    """The same picture, recompressed."""
    path.write_bytes(saved(Image.open(path).convert("RGB"), "JPEG", quality=85))


def with_metadata(path: Path) -> None:
    """The same pixels with other metadata."""
    picture = Image.open(path).convert("RGB")
    exif = picture.getexif()
    exif[0x010E] = "a note of somebody"
    path.write_bytes(saved(picture, "PNG", exif=exif))


def resized(path: Path) -> None:
    """The same picture, a little smaller."""
    picture = Image.open(path).convert("RGB")
    small = picture.resize(
        (picture.width * 9 // 10, picture.height * 9 // 10), Image.Resampling.LANCZOS
    )
    path.write_bytes(saved(small, "PNG"))


def touched(path: Path) -> None:
    """The same bytes with a newer time."""


def labelled_image(project: Project, collection: Collection) -> tuple[int, Path]:
    """An image with a label, and its file."""
    path = collection.folder / LABELLED
    image_id = project.images.find(path)
    assert image_id is not None
    assert image_id in project.labels.by_image()
    return image_id, path


def shots(project: Project, collection: Collection) -> Sequence[int]:
    """The shots of a fit."""
    found = classify_project(project, collection.caches)
    return found.image_ids[found.labels >= 0].tolist()


@pytest.mark.slow
def test_another_photo_takes_a_label_out_of_force(project: Project, collection: Collection) -> None:
    """It is no shot, not counted or checked, can be searched; the row of the label stays."""
    image_id, path = labelled_image(project, collection)
    red_disc, label = class_ids(project)["Red disc"], project.labels.of(image_id)
    before = project.labels.counts()[red_disc]
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    assert project.labels.outdated() == {image_id: label}
    assert project.labels.of(image_id) is None
    assert image_id not in project.labels.by_image()
    assert image_id not in project.labels.table().image_ids
    assert project.labels.counts()[red_disc] == before - 1
    assert image_id not in shots(project, collection)
    assert check_project(project, collection.caches, 10).labels == sum(
        project.labels.counts().values()
    )
    (found,) = images_found(project, collection.caches, "replaced")
    assert (found.image_id, found.is_labelled) == (image_id, False)
    assert image_id in known_images(project).labelled  # a moved file must not replace it


@pytest.mark.slow
def test_its_size_and_details_follow_the_new_file(project: Project, collection: Collection) -> None:
    """Size and details are updated."""
    image_id, path = labelled_image(project, collection)
    write_later(
        path,
        lambda file: (
            Image.fromarray(draw_shape("Blue stripes", seed=3)).resize((80, 60)).save(file)
        ),
    )
    embed_project(project, collection.caches, device="cpu")
    record, state = project.images.record(image_id), path.stat()
    assert (record.size_bytes, record.modified_ns) == (state.st_size, state.st_mtime_ns)
    table = project.images.table()
    assert table.sizes_bytes[list(table.ids).index(image_id)] == state.st_size
    details = project.details.of(image_id)
    assert details is not None
    assert (details.width, details.height) == (80, 60)


@pytest.mark.slow
@pytest.mark.parametrize("write", [as_jpeg, with_metadata, resized, touched])
def test_the_same_picture_keeps_its_label(
    project: Project, collection: Collection, write: Write
) -> None:
    """Recompressed, resized, touched or with other metadata: it stays valid without a question."""
    image_id, path = labelled_image(project, collection)
    write_later(path, write)
    embed_project(project, collection.caches, device="cpu")
    assert image_id in project.labels.by_image()
    assert not project.labels.outdated()
    assert modified_labelled_images(project) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("write", "is_same"), [(as_jpeg, True), (resized, True), (another_photo, False)]
)
def test_a_box_keeps_its_label_with_its_photo(
    project: Project, collection: Collection, write: Write, *, is_same: bool
) -> None:
    """Although a small box has no usable perceptual hash of its own."""
    photo_id, path = labelled_image(project, collection)
    (box_id,) = project.images.add_parts(
        photo_id, ["xywh=percent:40,40,8,8"], [class_ids(project)["Red disc"]]
    ).images_added
    embed_project(project, collection.caches, device="cpu")
    write_later(path, write)
    embed_project(project, collection.caches, device="cpu")
    assert (box_id in project.labels.by_image()) is is_same
    assert (box_id in project.labels.outdated()) is not is_same


@pytest.mark.slow
def test_a_label_is_confirmed_and_that_is_undone(project: Project, collection: Collection) -> None:
    """The label keeps its author and holds for the new photo; undo makes it outdated again."""
    image_id, path = labelled_image(project, collection)
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    change = project.labels.confirm([image_id], who="grace")
    assert change.labelled == (image_id,)
    label = project.labels.of(image_id)
    assert label is not None
    assert (label.class_id, label.who) == (class_ids(project)["Red disc"], "grace")
    project.history.undo()
    assert set(project.labels.outdated()) == {image_id}
    project.history.redo()
    assert not project.labels.outdated()


@pytest.mark.slow
def test_asking_again_takes_the_label_off_and_is_undone(
    project: Project, collection: Collection
) -> None:
    """Undo restores the outdated label."""
    image_id, path = labelled_image(project, collection)
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    project.labels.remove([image_id])
    assert not project.labels.outdated()
    project.history.undo()
    assert set(project.labels.outdated()) == {image_id}
    assert project.labels.of(image_id) is None


@pytest.mark.slow
def test_the_same_class_again_is_a_decision(project: Project, collection: Collection) -> None:
    """Labelling the new photo with the same class, also by import, makes the label valid."""
    image_id, path = labelled_image(project, collection)
    label = project.labels.of(image_id)
    assert label is not None
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    project.labels.set([image_id], label.class_id, who=label.who, source=label.source)
    assert image_id in project.labels.by_image()
    project.history.undo()
    import_images(project, [path], class_id=class_ids(project)["Blue stripes"])
    renewed = project.labels.of(image_id)
    assert renewed is not None
    assert renewed.class_id == class_ids(project)["Blue stripes"]


@pytest.mark.slow
def test_the_old_photo_comes_back(project: Project, collection: Collection, tmp_path: Path) -> None:
    """The label is valid again, also after a third photo or an unreadable one."""
    image_id, path = labelled_image(project, collection)
    kept = tmp_path / "kept.png"
    shutil.copyfile(path, kept)
    for write in (
        another_photo,
        lambda file: write_shape(file, "Green stripes", seed=5),
        lambda f: f.write_bytes(b"x"),
    ):
        write_later(path, write)
        embed_project(project, collection.caches, device="cpu")
    write_later(path, lambda file: shutil.copyfile(kept, file))
    embed_project(project, collection.caches, device="cpu")
    assert image_id in project.labels.by_image()
    assert not project.labels.outdated()


@pytest.mark.slow
def test_another_photo_after_one_that_cannot_be_read(
    project: Project, collection: Collection
) -> None:
    """A half-written file keeps the label; the next photo is compared with the previous one."""
    image_id, path = labelled_image(project, collection)
    write_later(path, lambda file: file.write_bytes(b"half of a picture"))
    embed_project(project, collection.caches, device="cpu")
    assert image_id in project.labels.by_image()
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    assert set(project.labels.outdated()) == {image_id}


@pytest.mark.slow
def test_a_second_change_after_a_confirmation_asks_again(
    project: Project, collection: Collection
) -> None:
    """After confirmation another replacement makes the label outdated again."""
    image_id, path = labelled_image(project, collection)
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    project.labels.confirm([image_id])
    write_later(path, lambda file: write_shape(file, "Green stripes", seed=5))
    embed_project(project, collection.caches, device="cpu")
    assert set(project.labels.outdated()) == {image_id}


@pytest.mark.slow
def test_a_label_that_comes_back_by_undo_is_of_the_old_photo(
    project: Project, collection: Collection
) -> None:
    """An undone label removal restores it as outdated if the file was replaced."""
    image_id, path = labelled_image(project, collection)
    project.labels.remove([image_id])
    write_later(path, another_photo)
    embed_project(project, collection.caches, device="cpu")
    project.history.undo()
    assert set(project.labels.outdated()) == {image_id}


@pytest.mark.slow
def test_a_file_replaced_before_it_was_read(collection: Collection, tmp_path: Path) -> None:
    """Its size differs from the one at import."""
    photos = tmp_path / "photos"
    file = write_shape(photos / "a.png", "Red disc", seed=1)
    with Project.open(collection.project) as project:
        import_images(project, [photos], class_id=class_ids(project)["Red disc"])
        write_later(
            file,
            lambda path: (
                Image.fromarray(draw_shape("Blue stripes", seed=2)).resize((90, 90)).save(path)
            ),
        )
        embed_project(project, collection.caches, device="cpu")
        assert set(project.labels.outdated()) == {project.images.find(file)}


@pytest.mark.slow
def test_a_clock_that_was_put_right_is_no_other_photo(
    project: Project, collection: Collection
) -> None:
    """A changed time on equal pixels is metadata; on similar pixels it is a second shot."""
    image_id, path = labelled_image(project, collection)
    pixels = np.asarray(Image.open(path).convert("RGB"))

    def shot_at(moment: datetime, picture: Image.Image) -> bytes:
        exif = Image.Exif()
        exif[0x8769] = {0x9003: moment.strftime("%Y:%m:%d %H:%M:%S")}
        return saved(picture, "PNG", exif=exif)

    first = shot_at(datetime(2026, 5, 1, 6), Image.fromarray(pixels))  # noqa: DTZ001 (local)
    write_later(path, lambda file: file.write_bytes(first))
    embed_project(project, collection.caches, device="cpu")
    assert image_id in project.labels.by_image()
    put_right = shot_at(datetime(2026, 5, 1, 7), Image.open(BytesIO(first)))  # noqa: DTZ001
    write_later(path, lambda file: file.write_bytes(put_right))
    embed_project(project, collection.caches, device="cpu")
    assert image_id in project.labels.by_image()
    noisy = np.clip(
        pixels.astype(int) + np.random.default_rng(1).normal(0, 20, pixels.shape), 0, 255
    )
    second = shot_at(datetime(2026, 5, 1, 8), Image.fromarray(noisy.astype(np.uint8)))  # noqa: DTZ001
    write_later(path, lambda file: file.write_bytes(second))
    embed_project(project, collection.caches, device="cpu")
    assert set(project.labels.outdated()) == {image_id}


def test_files_to_be_looked_at_are_named(project: Project, collection: Collection) -> None:
    """Files with a changed size or time are listed before they are read."""
    _image_id, path = labelled_image(project, collection)
    assert modified_labelled_images(project) == []
    write_later(path, another_photo)
    assert modified_labelled_images(project) == [LABELLED]
