"""`make run`: run the program on the sample project, in the window or headless."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.config import CacheFolders, sample_folder
from engine.errors import ProtoleafError

if TYPE_CHECKING:
    from engine.evaluation.evaluate import Evaluation


def has_display() -> bool:
    """Whether a window can be shown."""
    needs_server = sys.platform.startswith("linux")
    return not needs_server or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def main() -> int:
    """Show the sample project in the window, creating it if missing; or report on it."""
    if has_display():
        from app.__main__ import open_window

        return open_window(None, with_sample=True)
    from engine.cli.output import progress_bar
    from research.window.embedded_sample import make_sample_project

    caches = CacheFolders.default()
    try:
        with progress_bar("Preparing the sample collection") as on_progress:
            project = make_sample_project(sample_folder(), caches, on_progress=on_progress)
    except ProtoleafError as error:
        sys.stderr.write(f"protoleaf: {error}\n")
        return 1
    return report(project, caches)


def report(project: Path, caches: CacheFolders) -> int:
    """Classify headless, print the accuracy, and take pictures of the window."""
    from research.window.embedded_sample import evaluate_sample

    sys.stdout.write(figures(project, evaluate_sample(project, caches)))
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from research.window.screenshot import take_screenshots

    shots = {scheme: project.parent / f"window-{scheme}.png" for scheme in ("light", "dark")}
    take_screenshots(project, shots)
    for scheme, path in shots.items():
        sys.stdout.write(f"Screenshot ({scheme}): {path}\n")
    return 0


def figures(project: Path, result: "Evaluation") -> str:
    """The result in a few lines."""
    lines = [
        "No display: the sample project was classified headless.",
        f"Project: {project}",
        f"Images without a label: {result.images}",
        *(
            f"Accuracy at level {level}: {100 * share:.1f}%"
            for level, share in enumerate(result.levels)
        ),
        (
            f"Accuracy at the leaf: {100 * result.top1:.1f}% (among the best five: "
            f"{100 * result.top5:.1f}%)"
        ),
        f"Calibration error: {result.calibration_error:.3f}",
        f"Safe class given: {100 * result.coverage:.1f}%, right: {100 * result.safe_accuracy:.1f}%",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
