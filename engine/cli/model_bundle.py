"""What commands say of exported models: `export PROJECT model FOLDER`, and `classify --model FOLDER`."""

from collections.abc import Sequence
from pathlib import Path

from engine.cli.output import counted, failure_rows, failure_text, left_out_text, progress_bar, say
from engine.cli.stopping import stoppable
from engine.config import CacheFolders
from engine.files import size_text


def export_the_model(project: Path, out: Path, setting: str, *, as_json: bool) -> None:
    """Write a project's model into a folder."""
    from engine.collection.bundle.export import export_model
    from engine.everyday.classifier import Setting
    from engine.project import Project

    with (
        stoppable("run it again; nothing was written") as cancel,
        Project.open(project, for_writing=False) as opened,
        progress_bar("Exporting the model") as on_progress,
    ):
        done = export_model(
            opened, CacheFolders.default(), out, Setting(setting), on_progress=on_progress, cancel=cancel
        )
    say(
        f"Wrote a model of {counted(done.classes, 'class', 'classes')} to {out} ({size_text(done.size_bytes)}).",
        {
            "out": str(out),
            "format": "model",
            "classes": done.classes,
            "files": list(done.files),
            "size_bytes": done.size_bytes,
            "largest_difference": done.difference,
        },
        as_json=as_json,
    )


def classify_by_model(
    folder: Path, images: Sequence[Path], out: Path, *, is_plain: bool, is_overwriting: bool, as_json: bool
) -> None:
    """Predict image files by an exported model."""
    from engine.collection.bundle.classify_files import classify_files
    from engine.collection.bundle.opened import open_bundle
    from engine.collection.bundle.trying import try_bundle

    with stoppable("run it again; nothing was written") as cancel, progress_bar("Classifying") as on_progress:
        try_bundle(folder, cancel=cancel)
        bundle = open_bundle(folder)
        done = classify_files(
            bundle, images, out, is_plain=is_plain, is_overwriting=is_overwriting, on_progress=on_progress,
            cancel=cancel,
        )  # fmt: skip
    say(
        f"Wrote {counted(done.predictions, 'prediction')} to {out} ({done.images_per_s:,.0f} images/s)."
        + left_out_text(done.left_out)
        + failure_text(done.failures),
        {
            "predictions": done.predictions,
            "file": str(out),
            "model": bundle.contents.name,
            "setting": bundle.contents.setting,
            "seconds": done.seconds,
            "images_per_s": done.images_per_s,
            "failures": failure_rows(done.failures),
            "left_out": dict(done.left_out.by_kind()),
            "other_files": done.left_out.others,
        },
        as_json=as_json,
    )
