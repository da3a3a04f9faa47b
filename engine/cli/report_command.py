"""The `report` command, and `evaluate --report`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.audit_command import audit_fields, estimate_text
from engine.cli.options import ProjectPath, check_setting, open_project
from engine.cli.output import Overwrite, job, percent, print_result
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.texts import counted

if TYPE_CHECKING:
    from engine.project import Project
    from engine.report.figures import Proportion, Report
    from engine.report.gather import RivalModel
    from engine.report.make import TruthFile

TWO = 2


def report(
    project: ProjectPath,
    out: Annotated[
        Path,
        Argument(
            metavar="OUT",
            help="The file to write: .html and .pdf for people, .csv for all figures as one table, "
            ".zip for a CSV of each table.",
        ),
    ],
    truth: Annotated[
        Path | None,
        Option(
            help="CSV with the columns image,class to compare with; by default people's "
            "labels, held out."
        ),
    ] = None,
    *,
    settings: Annotated[
        str | None,
        Option(metavar="A,B", help="Compare two of ppn+, ppn, prototypes and regression."),
    ] = None,
    versions: Annotated[
        str | None,
        Option(metavar="A,B", help="Compare two model versions, by their numbers (`versions`)."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a report."""
    from engine.everyday.classifier import Setting
    from engine.report.gather import gather_from, rival_settings, rival_versions
    from engine.report.write import check_target, kind_of

    kind_of(out)
    if settings is not None and versions is not None:
        raise UsageError("--settings and --versions exclude each other", remedy="give one of them")
    pair = [] if settings is None else _two(settings, "--settings")
    for name in pair:
        check_setting(name)
    numbers = [] if versions is None else [_number(each) for each in _two(versions, "--versions")]
    with open_project(project, for_writing=False) as opened:
        check_target(out, opened, is_overwriting=overwrite)
        caches, answers = CacheFolders.default(), None if truth is None else _read(truth, opened)
        rivals = rival_settings(opened, caches, [Setting(name) for name in pair])
        if numbers:
            rivals = rival_versions(opened, caches, numbers)
        material = gather_from(opened, caches)
        made = _written(material, out, answers, rivals)
        audits = [audit_fields(each, material.graph) for each in made.audits]
    print_result(
        _text(made, out),
        {**figures_json(made), "audits": audits, "file": str(out)},
    )


def write_evaluation(
    opened: "Project", truth: Path, out: Path, setting: str, *, overwrite: bool
) -> "Report":
    """Write the report of an evaluation."""
    from engine.everyday.classifier import Setting
    from engine.report.gather import gather_from
    from engine.report.write import check_target

    check_target(out, opened, is_overwriting=overwrite)
    material = gather_from(opened, CacheFolders.default(), Setting(setting))
    return _written(material, out, _read(truth, opened), ())


def _written(
    material: Any, out: Path, answers: "TruthFile | None", rivals: "tuple[RivalModel, ...]"
) -> "Report":
    from engine.report.make import make_report
    from engine.report.wording import document_of
    from engine.report.write import write_report

    with job("Building the report", "nothing was written") as running:
        made = make_report(material, answers, rivals, **running)
        write_report(document_of(made), out, running["cancel"])
    return made


def _read(truth: Path, opened: "Project") -> "TruthFile":
    from engine.evaluation.truth_file import read_truth
    from engine.report.make import TruthFile

    return TruthFile(truth.name, read_truth(truth, opened.classes.graph))


def _two(text: str, option: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != TWO or not all(parts) or parts[0] == parts[1]:
        raise UsageError(
            "{option} takes two different ones", expected="A,B", found=text, option=option
        )
    return parts


def _number(text: str) -> int:
    if not text.isdecimal() or not text.isascii():
        raise UsageError(
            "--versions takes numbers of model versions",
            expected="1,2",
            found=text,
            remedy="see `versions`",
        )
    return int(text)


def _text(made: "Report", out: Path) -> str:
    lines = [f"Wrote the report to {out}."]
    lines += [
        f"Checked at random: {estimate_text(each.accuracy)}."
        for each in made.audits[-1:]
        if each.answered
    ]
    if made.accuracy is None:
        lines.append(f"It has no accuracy: {made.about.why_nothing}.")
        return "\n".join(lines)
    top1 = made.accuracy.top1
    low, high = top1.interval
    interval = f"95% interval {percent(low)} to {percent(high)}"
    labels = "by the truth file" if made.about.truth_name else "by labels held out one by one"
    lines.append(
        f"Accuracy {percent(top1.share)} ({interval}) on {counted(top1.count, 'image')}, {labels}."
    )
    if made.comparison is not None:
        each = made.comparison
        sides = ", ".join(
            f"{side.name} {percent(side.right.share)}" for side in (each.first, each.second)
        )
        lines.append(
            f"{sides} on the same {counted(each.images, 'image')}; McNemar p = {each.p_value:.3g}."
        )
    return "\n".join(lines)


def figures_json(made: "Report") -> dict[str, Any]:
    """JSON fields of a report, without the confusion matrix."""
    about, progress = made.about, made.progress
    return {
        "about": {
            **asdict(about),
            "made_at": about.made_at.isoformat(),
            "source": about.source.value,
            "twins": 0,  # of earlier versions
        },
        "progress": {
            **asdict(progress),
            "by_person": dict(progress.by_person),
            "by_day": {day.isoformat(): count for day, count in progress.by_day},
        },
        "accuracy": None
        if made.accuracy is None
        else {
            "images": made.accuracy.images,
            "top1": _proportion(made.accuracy.top1),
            "top5": _proportion(made.accuracy.top5),
            "levels": list(map(_proportion, made.accuracy.levels)),
        },
        "calibration_error": None if made.calibration is None else made.calibration.error,
        "coverage": None
        if made.coverage is None
        else {
            "named": made.coverage.in_use.named,
            "precision": _proportion(made.coverage.in_use.right),
        },
        "mistakes": None
        if made.mistakes is None
        else {
            "wrong": made.mistakes.wrong,
            "mean_height": made.mistakes.mean_height,
            "by_distance": dict(made.mistakes.by_distance),
        },
        "classes": [
            {
                "class": made.tree.paths.get(each.class_id, ""),
                "labels": each.labels,
                "found": each.found,
                "precision": each.precision.share,
                "recall": each.recall.share,
                "tested": each.recall.count,
                "f1": each.f1,
            }
            for each in made.classes
        ],
        "comparison": None
        if made.comparison is None
        else {
            "images": made.comparison.images,
            "first": made.comparison.first.name,
            "second": made.comparison.second.name,
            "first_right": _proportion(made.comparison.first.right),
            "second_right": _proportion(made.comparison.second.right),
            "only_first": made.comparison.only_first,
            "only_second": made.comparison.only_second,
            "p_value": made.comparison.p_value,
            "gain_interval": list(made.comparison.gain),
        },
    }


def _proportion(each: "Proportion") -> dict[str, Any]:
    low, high = each.interval
    return {"share": each.share, "hits": each.hits, "count": each.count, "low": low, "high": high}
