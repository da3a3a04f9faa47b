"""Run an exported model in an environment without Protoleaf: `make bundle-check`.

The sample is drawn, a part of its pictures is held out of the project, and the model is exported.
A new virtual environment gets only onnxruntime, numpy and pillow, and runs the runner on the
held-out pictures. Its answers are compared with those of the program.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.bundle.export import ExportedModel, export_model
from engine.bundle.opened import classify_files, open_bundle
from engine.collection.classify import Classified, classify_project
from engine.collection.embed import embed_closer, embed_project
from engine.collection.new_project import fill_project, new_project
from engine.config import CacheFolders
from engine.files import size_text
from engine.project import Project
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import CPU_CHOICE
from research.sample_painter.collection import draw_collection
from tests.support.exported_models import (
    largest_gap,
    rows_of_predictions,
    words_of,
    write_program_s_answers,
)

PACKAGES = ("onnxruntime", "numpy", "pillow")
HELD_OUT = 3
"""Every so manieth picture without a label is held out."""
LIMIT = 1e-3
"""Largest difference of a score."""


def make_project(
    folder: Path, caches: CacheFolders, backbone: str, images_per_class: int
) -> tuple[Path, list[str]]:
    """Make a project of a part of the sample; return its file and the held-out pictures."""
    drawn = draw_collection(folder / "sample", images_per_class=images_per_class)
    free = [image for image in drawn.images if not image.is_shot]
    held_out = set(free[::HELD_OUT])
    path = folder / "sample.protoleaf"
    with new_project(path, backbone) as project:
        rows = (f"{one.path},{one.class_name}\n" for one in free if one not in held_out)
        drawn.truth_csv.write_text("image,class\n" + "".join(rows), encoding="utf-8")
        fill_project(project, drawn.folder)
        embed_project(project, caches, device="cpu")
        embed_closer(project, caches, device="cpu")
    return path, sorted(str(drawn.folder / one.path) for one in held_out)


def clean_python(folder: Path) -> Path:
    """Make a virtual environment that holds what the runner needs and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-input", *PACKAGES], check=True)
    return python


def run_seconds(python: Path, bundle: Path, out: Path, images: list[str]) -> float:
    """Seconds that the runner takes, start and all."""
    started_s = time.perf_counter()
    done = subprocess.run(
        [python, "-I", bundle / "run.py", out, *images], check=True, capture_output=True, text=True
    )
    if done.stderr:
        sys.exit(f"the runner complains: {done.stderr}")
    return time.perf_counter() - started_s


def print_result(title: str, text: str) -> None:
    """One line of the report."""
    sys.stdout.write(f"{title:<34}{text}\n")
    sys.stdout.flush()


def compare(title: str, found: Path, expected: Path) -> bool:
    """Say how far two tables are from one another; whether they agree."""
    rows = [[words_of(row) for row in rows_of_predictions(path)] for path in (found, expected)]
    same = sum(one == other for one, other in zip(*rows, strict=True))
    gap = largest_gap(found, expected)
    print_result(
        title, f"{same} of {len(rows[0])} rows say the same; scores differ by {gap:.1e} at most"
    )
    return same == len(rows[0]) and gap <= LIMIT


def export(
    project: Path, caches: CacheFolders, folder: Path, images: list[str]
) -> tuple[ExportedModel, Classified]:
    """Export the model and the program's answers, by the backbone and as the program runs it."""
    with Project.open(project, for_writing=False) as opened:
        exported = export_model(opened, caches, folder / "model")
        classified = classify_project(opened, caches)
        for name, path in (
            ("own", exported.folder / "backbone.onnx"),
            ("usual", classified.model.backbone),
        ):
            session = BackboneSession(path, classified.model.card, CPU_CHOICE)
            write_program_s_answers(
                classified, opened.classes.graph, session, images, folder / f"{name}.csv"
            )
    return exported, classified


def check(folder: Path, backbone: str, images_per_class: int) -> bool:
    """Report whether the runner and `classify --model` answer as the program does."""
    caches = CacheFolders.default()
    project, images = make_project(folder, caches, backbone, images_per_class)
    exported, classified = export(project, caches, folder, images)
    print_result(
        "backbone",
        f"{classified.model.name}, {'five views' if classified.uses_views else 'one view'}",
    )
    print_result(
        "learned from", f"{len(classified.fitted.shots)} labelled of {len(classified.rows)} images"
    )
    print_result("folder", f"{size_text(exported.size_bytes)}: {', '.join(exported.files)}")
    python = clean_python(folder / "environment")
    listed = [str(python), "-m", "pip", "list", "--format", "freeze"]
    print_result(
        "environment",
        ", ".join(
            subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
        ),
    )
    first_s = run_seconds(python, exported.folder, folder / "first.csv", images[:1])
    all_s = run_seconds(python, exported.folder, folder / "run.csv", images)
    done = classify_files(
        open_bundle(exported.folder), [Path(image) for image in images], folder / "found.csv"
    )
    outcomes = [row["safe_class"] for row in rows_of_predictions(folder / "own.csv")]
    print_result(
        "held-out pictures",
        f"{len(images)}: {outcomes.count('unknown')} unknown, "
        f"{outcomes.count('')} without a safe class, "
        f"{len(set(outcomes))} different answers",
    )
    agrees = compare("run.py beside the program", folder / "run.csv", folder / "own.csv")
    agrees &= compare("classify --model beside it", folder / "found.csv", folder / "own.csv")
    compare("(eight bits beside the program)", folder / "usual.csv", folder / "own.csv")
    print_result(
        "run.py",
        f"{(len(images) - 1) / (all_s - first_s):.1f} images/s, {first_s:.1f} s for the first",
    )
    print_result("classify --model", f"{done.images_per_s:.1f} images/s")
    return agrees


def main() -> int:
    """Read the command line; the exit status says whether all agrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backbone", default="accurate")
    parser.add_argument("--images-per-class", type=int, default=11)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bundle-check-") as folder:
        return 0 if check(Path(folder), wanted.backbone, wanted.images_per_class) else 1


if __name__ == "__main__":
    sys.exit(main())
