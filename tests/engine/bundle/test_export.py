"""An exported model classifies new images as the program does.

Its folder is published atomically.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from PIL import Image

from engine.bundle.export import ExportedModel, export_model
from engine.bundle.opened import classify_files, open_bundle
from engine.collection.classify import classify_project
from engine.collection.models import model_of
from engine.collection.training.trained import adopt
from engine.embedding.views import unit_length, views_of_side
from engine.errors import Cancelled, InputError, ModelError
from engine.events import CancelToken, Progress
from engine.everyday.classifier import Setting
from engine.everyday.prototypical import onnx_export
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from tests.support.collections import LEAVES, Collection, draw_shape, without_its_views
from tests.support.exported_models import (
    largest_gap,
    rows_of_predictions,
    words_of,
    write_program_s_answers,
)
from tests.support.images import encoded, exif_with_orientation, png_of_sixteen_bits, stored_turned
from tests.support.kill_at import run_and_kill
from tests.support.trained import write_tuned

RUNNER_LINES = 120  # with colour profiles, folders, and usage errors
KINDS: dict[str, Callable[[Image.Image], bytes]] = {
    "plain.png": lambda image: encoded(image, "PNG"),
    "photo.jpg": lambda image: encoded(image.resize((731, 517)), "JPEG", quality=90),
    "turned.jpg": lambda image: encoded(
        stored_turned(np.asarray(image.resize((420, 300))), 6),
        "JPEG",
        exif=exif_with_orientation(6),
    ),
    "turned.png": lambda image: encoded(
        stored_turned(np.asarray(image), 8), "PNG", exif=exif_with_orientation(8)
    ),
    "gray.jpg": lambda image: encoded(image.convert("L").resize((300, 400)), "JPEG"),
    "cmyk.jpg": lambda image: encoded(image.convert("CMYK"), "JPEG"),
    "clear.png": lambda image: encoded(half_clear(image), "PNG"),
    "palette.gif": lambda image: encoded(image.convert("P"), "GIF"),
    "web.webp": lambda image: encoded(image, "WEBP", quality=80),
    "scan.tif": lambda image: encoded(
        stored_turned(np.asarray(image), 3), "TIFF", exif=exif_with_orientation(3)
    ),
}


def half_clear(image: Image.Image) -> Image.Image:
    """The same with a gradient of transparency."""
    faded = image.convert("RGBA")
    faded.putalpha(Image.linear_gradient("L").rotate(90).resize(image.size))
    return faded


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    """New images of every class and kind, and one of none of the classes."""
    folder, kinds = tmp_path / "new", list(KINDS)
    folder.mkdir()
    for number in range(2 * len(LEAVES)):
        leaf, kind = LEAVES[number % len(LEAVES)], kinds[number % len(kinds)]
        drawn = Image.fromarray(draw_shape(leaf, seed=100 + number))
        (folder / f"{number:02} {leaf} {kind}").write_bytes(KINDS[kind](drawn))
    noise = np.random.default_rng(0).integers(0, 255, (96, 96, 3), dtype=np.uint8)
    (folder / "noise.png").write_bytes(encoded(noise, "PNG"))
    return sorted(map(str, folder.iterdir()))


def assert_same(found: Path, expected: Path) -> None:
    """Equal labels, and scores within a thousandth."""
    words = [[words_of(row) for row in rows_of_predictions(path)] for path in (found, expected)]
    assert words[0] == words[1]
    assert largest_gap(found, expected) <= 1e-3


@pytest.mark.slow
def test_new_images_are_answered_as_by_the_program(
    ruled: Collection, exported: ExportedModel, images: list[str], tmp_path: Path
) -> None:
    """By `classify --model` and by the runner: every file format and every outcome."""
    expected, found, run = (tmp_path / f"{name}.csv" for name in ("expected", "found", "run"))
    with Project.open(ruled.project, for_writing=False) as project:
        classified = classify_project(project, ruled.caches)
        alone = tmp_path / "alone.onnx"  # without its 8-bit companion
        alone.write_bytes(classified.model.backbone.read_bytes())
        session = BackboneSession(alone, classified.model.card, CPU_CHOICE)
        write_program_s_answers(classified, project.classes.graph, session, images, expected)

    done = classify_files(open_bundle(exported.folder), [Path(image) for image in images], found)
    deep, broken = tmp_path / "deep.png", tmp_path / "broken.jpg"
    deep.write_bytes(png_of_sixteen_bits(np.full((9, 9), 999, dtype=np.uint16)))
    broken.write_bytes(Path(images[0]).read_bytes()[:300])
    runner = [
        sys.executable,
        "-I",
        str(exported.folder / "run.py"),
        str(run),
        str(deep),
        *images,
        str(broken),
    ]
    ran = subprocess.run(runner, capture_output=True, text=True, check=True)

    assert (done.predictions, done.failures) == (len(images), [])
    assert [line.split(" cannot be read: ")[0] for line in ran.stderr.splitlines()] == [
        str(deep),
        str(broken),
    ]
    assert_same(found, expected)
    assert_same(run, expected)
    outcomes = {row["safe_class"] for row in rows_of_predictions(run)}
    assert outcomes == {"", "unknown", "Red", "'=Green disc", "/Green/unknown"}, (
        "every kind: none, unknown, coarse, leaf"
    )


@pytest.mark.slow
def test_a_trained_model_without_the_collection_stage_and_by_one_view(
    collection: Collection, images: list[str], tmp_path: Path
) -> None:
    """Settings of the project apply; a project with one view per image exports one view."""
    without_its_views(collection)
    found, setting = tmp_path / "found.csv", Setting.PPN
    with Project.open(collection.project) as project:
        project.policies.set_setting("collection", False)
        project.models.choose(adopt(project, write_tuned(tmp_path / "tuned", project)))
        exported = export_model(project, collection.caches, tmp_path / "model", setting)
        fitted = classify_project(project, collection.caches, setting).fitted
        pixels = views_of_side(Path(images[0]).read_bytes(), 96, 1.0, 1)
        bundle = open_bundle(exported.folder)
        classify_files(bundle, [Path(images[0])], found)
        embedded = unit_length(
            BackboneSession(
                exported.folder / "backbone.onnx",
                model_of(project, collection.caches).card,
                CPU_CHOICE,
            ).embed(pixels)
        )
        chances = fitted.probabilities(embedded)
    (row,) = rows_of_predictions(found)
    assert row["model"] == "Tuned propagation 1"
    assert "leafnet, which it was trained from" in (exported.folder / "LICENCE.txt").read_text(
        encoding="utf-8"
    )
    assert (bundle.contents.framing.views, row["setting"]) == (1, setting.value)
    assert abs(float(row["score"]) - float(chances.max())) <= 1e-3
    assert row["class"] == project.classes.graph.name(int(fitted.candidate_ids[chances.argmax()]))


@pytest.mark.slow
def test_the_runner_answers_misuse_in_one_line_and_looks_through_folders(
    exported: ExportedModel, images: list[str], tmp_path: Path
) -> None:
    def printed(*arguments: str) -> list[str]:
        runner = [sys.executable, "-I", str(exported.folder / "run.py"), *arguments]
        return subprocess.run(
            runner, capture_output=True, text=True, check=False
        ).stderr.splitlines()

    new, folder = tmp_path / "new.csv", tmp_path / "photos"
    (folder / "below").mkdir(parents=True)
    (folder / "notes.txt").write_text("no image")
    (folder / "below" / "a.png").write_bytes(Path(images[0]).read_bytes())
    assert printed() == ["usage: python run.py NEW.csv IMAGE..."]
    assert len(printed(str(new), str(folder), str(tmp_path / "missing.jpg"))) == 1
    assert [row["image"] for row in rows_of_predictions(new)] == [str(folder / "below" / "a.png")]
    assert printed(str(new), str(folder)) == [f"{new} is already there: choose another name"]


def test_what_lies_in_the_folder(exported: ExportedModel, ruled: Collection) -> None:
    """All files, a valid network, a short runner, and cards that describe the training set."""
    folder = exported.folder
    assert exported.files == tuple(sorted(path.name for path in folder.iterdir()))
    assert exported.size_bytes == sum(path.stat().st_size for path in folder.iterdir())
    assert exported.classes == len(LEAVES)
    onnx.checker.check_model(str(folder / "classifier.onnx"), full_check=True)
    assert len((folder / "run.py").read_text(encoding="utf-8").splitlines()) <= RUNNER_LINES
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    assert card["labelled_images_by_class"]["Red/Red disc"] == 3
    assert card["largest_difference_from_the_program"] == exported.difference <= 1e-3
    shown = (folder / "README.md").read_text(encoding="utf-8")
    assert "taught by 24 labelled images, and by what 64 images say of one another" in shown
    assert "$" not in shown
    licence = (folder / "LICENCE.txt").read_text(encoding="utf-8")
    assert "Tiny ImageNet is for research use" in licence
    assert "Apache License" in licence
    contents = json.loads((folder / "classes.json").read_text(encoding="utf-8"))["classes"]
    assert {one["name"]: one["bar"] for one in contents if one["level"] == 0} == {
        "Red": 0.8,
        "Green": 0.8,
        "Blue": 1.0,
    }
    assert {one["name"] for one in contents if not one["may_be_named"]} == {
        leaf for leaf in LEAVES if leaf[:3] == "Red"
    }


@pytest.mark.slow
def test_a_model_that_would_answer_otherwise_does_not_leave(
    ruled: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exported graph is compared with the engine at each export.

    Nothing is left if they differ.
    """
    monkeypatch.setattr(onnx_export, "_SHORTEST", 1e3)  # makes whitened embeddings nearly zero
    with (
        Project.open(ruled.project, for_writing=False) as project,
        pytest.raises(ModelError, match="does not match the program's predictions"),
    ):
        export_model(project, ruled.caches, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop_at", [0, 3])
def test_where_it_is_stopped_nothing_stays(stop_at: int, ruled: Collection, tmp_path: Path) -> None:
    """At the start and near the end."""
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done == stop_at:
            cancel.cancel()

    with Project.open(ruled.project, for_writing=False) as project, pytest.raises(Cancelled):
        export_model(project, ruled.caches, tmp_path / "model", on_progress=stop, cancel=cancel)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_killed_halfway_there_is_no_folder(ruled: Collection, tmp_path: Path) -> None:
    """After a kill only a hidden draft is left, which the next export removes."""
    setup = (
        "from pathlib import Path\nfrom engine.bundle.export import export_model\nfrom "
        "engine.config import CacheFolders\nfrom engine.project import Project\nproject = "
        "Project.open(Path(sys.argv[2]), for_writing=False)\nout = Path(sys.argv[4])"
    )
    watched = (
        "from engine.bundle import export\nput, written = export._put, []\ndef killing(path, "
        "content):\n    put(path, content)\n    written.append(path)\n    if len(written) == 3: "
        "os.kill(os.getpid(), signal.SIGKILL)\nexport._put = killing\nexport_model(project, "
        "CacheFolders(Path(sys.argv[3])), out)"
    )
    arguments = [str(ruled.project), str(ruled.caches.root), str(tmp_path / "model")]
    assert run_and_kill(setup, watched, 0, arguments) is None
    assert not (tmp_path / "model").exists()
    assert all(path.name.startswith(".") for path in tmp_path.iterdir())
    with Project.open(ruled.project, for_writing=False) as project:
        export_model(project, ruled.caches, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_there_stays(ruled: Collection, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.txt").write_text("mine")
    with (
        Project.open(ruled.project, for_writing=False) as project,
        pytest.raises(InputError, match="this name is already taken"),
    ):
        export_model(project, ruled.caches, tmp_path / "model")
    assert (tmp_path / "model" / "mine.txt").read_text() == "mine"
