"""The everyday model on a real collection: shots alone, and with coarse labels beside them; paired over draws.

    python -m engine.experiments.everyday_trial SOURCE --draws 5

SOURCE holds `train` and `val`, both nested class folders. Each draw makes a project as a person would: the graph from
the folders of `train`, random images of each class as shots, `val` unlabelled. In the second situation up to 20 further
images of each coarse class that has several sub-folders are labelled with that class only.
"""

import json
import random
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from engine.config import CacheFolders
from engine.data.find_images import find_images_in_class_folders
from engine.files import FoundFile
from engine.inference.prototypes import Setting
from engine.workflows.classify import classify
from engine.workflows.embed import embed_project
from engine.workflows.evaluate import Evaluation, evaluate, read_truth
from engine.workflows.import_graph import import_graph
from engine.workflows.import_images import import_class_folders, import_images
from engine.workflows.new_project import new_project

COARSE_LABELS: Final = 20
SETTINGS: Final = tuple(Setting)
T_95: Final = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
"""Two-sided 95 % quantile of Student's t by number of draws."""

ClassFolder = tuple[str, ...]


@dataclass(frozen=True)
class Situation:
    """How many shots a class has, and whether coarse labels are there too."""

    shots: int
    has_coarse_labels: bool

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.shots} shot{'s' * (self.shots > 1)}" + (" + coarse labels" * self.has_coarse_labels)


def draw_shots(train: Path, situation: Situation, seed: int, out: Path) -> None:
    """Link a draw's shots below `out`, in the same class folders; coarse-labelled images lie in the coarse folder."""
    generator = random.Random(seed)
    spare: dict[ClassFolder, list[FoundFile]] = {}
    for names, files in find_images_in_class_folders(train):
        shuffled = generator.sample(files, len(files))
        _link(shuffled[: situation.shots], out.joinpath(*names))
        if len(names) > 1:
            spare.setdefault(names[:-1], []).extend(shuffled[situation.shots :])
    if not situation.has_coarse_labels:
        return
    for names, files in spare.items():
        if len(names) > 1:
            chosen = generator.sample(files, min(COARSE_LABELS, len(files)))
            _link(chosen, out.joinpath(*names))


def _link(files: Sequence[FoundFile], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copy2(file.path, folder / file.path.name)


def run_draw(source: Path, situation: Situation, seed: int, caches: CacheFolders) -> Iterator[Evaluation]:
    """Make one draw's project and evaluate every setting on it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw_shots(source / "train", situation, seed, folder / "shots")
        truth = folder / "truth.csv"
        truth.write_text(_truth(source / "val"), encoding="utf-8")
        with new_project(folder / "trial.protoleaf") as project:
            import_graph(project, source / "train")
            import_class_folders(project, [folder / "shots"])
            import_images(project, [source / "val"])
            embed_project(project, caches)
            answers = read_truth(truth, project.graph)
            for setting in SETTINGS:
                yield evaluate(project, classify(project, caches, setting), answers)


def _truth(val: Path) -> str:
    rows = ["image,class"]
    for names, files in find_images_in_class_folders(val):
        rows += [f'"{file.path.as_posix()}","{"/".join(names)}"' for file in files]
    return "\n".join(rows) + "\n"


def interval(values: Sequence[float]) -> str:
    """Mean and half width of the 95 % interval of the mean, for a table."""
    mean = statistics.fmean(values)
    if len(values) == 1:
        return f"{mean:.3f}"
    half = T_95.get(len(values), 1.96) * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.3f} ± {half:.3f}"


def main(
    source: Path,
    draws: int = 5,
    shots: Annotated[list[int] | None, typer.Option(help="Shots per class; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for all figures as JSON.")] = None,
) -> None:
    """Print a table for each situation."""
    record = {}
    for situation in [Situation(count, coarse) for coarse in (False, True) for count in shots or [1, 5]]:
        results = [list(run_draw(source, situation, seed, CacheFolders.default())) for seed in range(draws)]
        typer.echo(_table(situation, results))
        record[situation.name] = [[vars(result) for result in row] for row in results]
    if out is not None:
        out.write_text(json.dumps(record), encoding="utf-8")


def _table(situation: Situation, results: Sequence[Sequence[Evaluation]]) -> str:
    lines = [f"\n{situation.name}, {len(results)} draws, {results[0][0].images} images"]
    lines.append(f"{'':<22}" + "".join(f"{setting.value:>18}" for setting in SETTINGS))
    for title in _figures(results[0][0]):
        cells = [interval([_figures(row[place])[title] for row in results]) for place in range(len(SETTINGS))]
        lines.append(f"{title:<22}" + "".join(f"{cell:>18}" for cell in cells))
    for place, setting in enumerate(SETTINGS[:-1]):
        gains = np.array([row[place].top1 - row[-1].top1 for row in results]).tolist()
        lines.append(f"{setting.value} minus prototypes, leaf top-1, paired: {interval(gains)}")
    return "\n".join(lines)


def _figures(result: Evaluation) -> dict[str, float]:
    """The rows of the table; the last level is the leaf."""
    return {
        "leaf top-1": result.top1,
        "leaf top-5": result.top5,
        **{f"level {level}": share for level, share in enumerate(result.levels[:-1])},
        "calibration error": result.calibration_error,
        "safe class right": result.safe_accuracy,
        "coverage": result.coverage,
        "unknown": result.unknown,
        "shrinkage": result.shrinkage,
    }


if __name__ == "__main__":
    typer.run(main)
