"""The commands `embed`, `classify` and `evaluate`."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from engine.cli.commands import cluster_commands
from engine.cli.options import (
    SETTINGS,
    Columns,
    DeviceName,
    ProjectPath,
    check_setting,
    named_columns,
    open_or_read,
    open_project,
)
from engine.cli.output import (
    Overwrite,
    failure_rows,
    failure_text,
    job,
    left_out_text,
    percent,
    print_result,
    progress_bar,
)
from engine.cli.replaced_command import replaced_fields, replaced_text, written_to_text
from engine.cli.report_command import write_evaluation
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.files import FileFailure
from engine.texts import counted

if TYPE_CHECKING:
    from engine.evaluation.evaluate import Evaluation
    from engine.images.details_messages import DetailsSummary
OutDataSet = Annotated[
    Path | None,
    Option(
        "--out",
        metavar="DATASET",
        help="Embed the sources into this data set, a folder, without a project.",
    ),
]
BackboneOfDataSet = Annotated[
    str | None,
    Option(
        "--backbone",
        metavar="NAME_OR_ONNX",
        help="With --out: a backbone of `backbone list`, or an ONNX file with its card "
        "next to it, such as that of an exported model.",
        show_default="that of new projects",
    ),
]
ClusterAddress = Annotated[
    str | None,
    Option(
        "--cluster",
        metavar="ADDRESS",
        help="For a data set: the Ray cluster to use. `local`: this computer only; "
        "`auto`: the cluster running here; or HOST:PORT of its head node, from one "
        "of its nodes.",
        show_default="local",
    ),
]
ShardImages = Annotated[
    int | None,
    Option(
        "--shard-images",
        min=1,
        help="With --out: number of images in each file of the data set.",
        show_default="10000",
    ),
]
Plain = Annotated[
    bool,
    Option(
        "--plain",
        help="Write names unchanged; by default an apostrophe is put before those that "
        "begin with = + - @ or a tab, which spreadsheets would run as formulas.",
    ),
]
Collection = Annotated[
    bool | None,
    Option(
        "--collection/--no-collection",
        help="Also learn from unlabelled and coarsely labelled images, or not; by default as the "
        "project is set.",
        show_default=False,
    ),
]


def embed(
    sources: Annotated[
        list[str],
        Argument(
            metavar="PROJECT",
            help="The project file; with --out folders, lists of paths (.txt), .tar and .parquet "
            "files, or addresses such as s3://bucket/photos.",
        ),
    ],
    device: DeviceName = "auto",
    *,
    out: OutDataSet = None,
    backbone: BackboneOfDataSet = None,
    cluster: ClusterAddress = None,
    shard_images: ShardImages = None,
    one_view: Annotated[
        bool,
        Option(
            "--one-view",
            help="Embed each image once. By default all images of a collection of up to "
            "10,000, and the labelled ones of larger collections, are embedded in five "
            "views, which takes five times as long.",
        ),
    ] = False,
) -> None:
    """Embed the images of a project, or a data set."""
    if out is not None:
        cluster_commands().embed_data_set(
            sources, out, backbone, cluster, shard_images, device=device
        )
        return
    if backbone or cluster or shard_images:
        raise UsageError(
            "--backbone, --cluster and --shard-images are for data sets",
            remedy="name one with --out",
        )
    _embed_project(_one_project(sources), device, one_view=one_view)


def _is_data_set_folder(path: Path) -> bool:
    """Whether a path is a data set; modules are loaded only for a folder."""
    if not path.is_dir():
        return False
    from engine.dataset.manifest import is_data_set

    return is_data_set(path)


def _one_project(
    paths: Sequence[str | Path], expected: str = "one project, or --out DATASET and sources"
) -> Path:
    """The only path; raises `UsageError` if there are several."""
    if len(paths) > 1:
        found = "{paths} paths"
        raise UsageError("two projects are named", expected=expected, found=found, paths=len(paths))
    return Path(paths[0])


def _refuse_cluster(cluster: str | None) -> None:
    """Refuse a cluster without a data set."""
    if cluster is not None:
        raise UsageError(
            "--cluster is for data sets",
            expected="a data set, and --model FOLDER",
            remedy="make one with `protoleaf embed SOURCE... --out "
            "DATASET`, or leave --cluster out",
        )


def _embed_project(project: Path, device: str, *, one_view: bool) -> None:
    from engine.collection.details import read_missing_details
    from engine.collection.embed import embed_closer, embed_project

    with open_or_read(
        project, without_writing="the embeddings are kept in the cache alone"
    ) as opened:
        with progress_bar("Embedding") as on_progress:
            done = embed_project(
                opened,
                CacheFolders.default(),
                device=device,
                with_views=not one_view,
                on_progress=on_progress,
            )
        if not one_view:
            with progress_bar("Embedding in five views") as on_progress:
                embed_closer(opened, CacheFolders.default(), device=device, on_progress=on_progress)
        details = None
        if opened.is_writable:
            with progress_bar("Reading image metadata") as on_progress:
                details = read_missing_details(opened, on_progress=on_progress)
        replaced, replaced_rows = replaced_text(opened), replaced_fields(opened)
    failures = [FileFailure(path, reason) for _, path, reason in done.failed]
    print_result(
        f"Embedded {counted(done.embedded, 'image')} on {done.device_name} in {done.seconds:.1f} s "
        f"({done.images_per_s:,.0f} images/s); {done.from_cache:,} were in the cache."
        + (f"\n{done.notice}." if done.notice else "")
        + _details_text(details)
        + _missing_text(done.missing)
        + replaced
        + failure_text(failures),
        {
            "embedded": done.embedded,
            "from_cache": done.from_cache,
            "seconds": done.seconds,
            "images_per_s": done.images_per_s,
            "device": done.device_name,
            "notice": done.notice,
            "missing": done.missing,
            "failures": failure_rows(failures),
            "details_read": 0 if details is None else details.read,
            "replaced": replaced_rows,
        },
    )


def classify(
    paths: Annotated[
        list[Path],
        Argument(
            metavar="PROJECT",
            help="The project file; with --model images and folders of images, or a data set.",
        ),
    ],
    out: Annotated[
        Path,
        Option(
            "-o", "--out", help="CSV file to write, in UTF-8; of a data set, the folder to write."
        ),
    ],
    *,
    cluster: ClusterAddress = None,
    model: Annotated[
        Path | None,
        Option(
            "--model",
            metavar="FOLDER",
            help="Classify image files without a project, by a model that `export PROJECT model "
            "FOLDER` wrote.",
        ),
    ] = None,
    setting: Annotated[
        str | None,
        Option("--setting", help="ppn+, ppn, prototypes or regression.", show_default="ppn+"),
    ] = None,
    collection: Collection = None,
    include_labelled: Annotated[
        bool,
        Option(
            "--all",
            help="Include labelled images, with the annotator in `labelled_by`.",
        ),
    ] = False,
    is_plain: Plain = False,
    is_overwriting: Overwrite = False,
) -> None:
    """Classify all unlabelled images; with --model, image files without a project.

    A score is a probability given that the image shows one of the classes; `unknown` as
    `safe_class` means that it looks like none of them.
    """
    if model is not None:
        if setting is not None or collection is not None or include_labelled:
            raise UsageError(
                "--setting, --collection and --all are for projects",
                remedy="leave them out with --model",
            )
        if len(paths) == 1 and _is_data_set_folder(paths[0]):
            cluster_commands().classify_on_cluster(paths[0], model, out, cluster)
            return
        _refuse_cluster(cluster)
        _classify_by_model(model, paths, out, is_plain=is_plain, is_overwriting=is_overwriting)
        return
    _refuse_cluster(cluster)
    project = _one_project(paths, "one project, or --model FOLDER and images")
    _classify_project(
        project,
        out,
        setting or "ppn+",
        collection,
        include_labelled=include_labelled,
        is_plain=is_plain,
        is_overwriting=is_overwriting,
    )


def _classify_by_model(
    folder: Path,
    images: Sequence[Path],
    out: Path,
    *,
    is_plain: bool,
    is_overwriting: bool,
) -> None:
    from engine.bundle.opened import classify_files, open_bundle, try_bundle

    with job("Classifying", "run it again; nothing was written") as running:
        try_bundle(folder, cancel=running["cancel"])
        bundle = open_bundle(folder)
        done = classify_files(
            bundle,
            images,
            out,
            is_plain=is_plain,
            is_overwriting=is_overwriting,
            **running,
        )
    print_result(
        f"Wrote {counted(done.predictions, 'prediction')} to {out} ({done.images_per_s:,.0f} "
        "images/s)." + left_out_text(done.left_out) + failure_text(done.failures),
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
    )


def _classify_project(
    project: Path,
    out: Path,
    setting: str,
    collection: bool | None,
    *,
    include_labelled: bool,
    is_plain: bool,
    is_overwriting: bool,
) -> None:
    from engine.collection.classify import classify_project, write_predictions
    from engine.collection.outputs import PREDICTIONS, check_file
    from engine.everyday.classifier import Setting

    check_setting(setting)
    with open_or_read(
        project, without_writing="the predictions are kept in the file alone"
    ) as opened:
        check_file(out, PREDICTIONS, project=opened, is_overwriting=is_overwriting)
        classified = classify_project(
            opened, CacheFolders.default(), Setting(setting), with_stage=collection
        )
        written = write_predictions(
            opened,
            classified,
            out,
            include_labelled=include_labelled,
            is_plain=is_plain,
            is_overwriting=is_overwriting,
        )
        replaced, replaced_rows = (
            replaced_text(opened) + written_to_text(opened),
            replaced_fields(opened),
        )
        recommendations = [
            (each, str(each.text(opened.classes.graph.name))) for each in classified.recommendations
        ]
    waiting = (
        f" {counted(classified.waiting, 'image')} without an embedding left out."
        if classified.waiting
        else ""
    )
    labels = f" and {counted(written.labels, 'label')}" if include_labelled else ""
    print_result(
        f"Wrote {counted(written.predictions, 'prediction')}{labels} to {out}.{waiting}"
        + "".join(f"\n{text}" for _each, text in recommendations)
        + replaced,
        {
            "predictions": written.predictions,
            "labels": written.labels,
            "file": str(out),
            "waiting": classified.waiting,
            "setting": setting,
            "collection": classified.fitted.figures.uses_collection,
            "shots_from_elsewhere": classified.fitted.figures.has_shots_from_elsewhere,
            "recommendations": [
                {"kind": each.kind, "classes": each.class_ids, "text": text}
                for each, text in recommendations
            ],
            "replaced": replaced_rows,
        },
    )


def evaluate(
    project: ProjectPath,
    truth: Annotated[
        Path, Option(help="CSV with the columns image,class; also one that `classify` wrote.")
    ],
    setting: Annotated[
        str, Option("--setting", help="ppn+, ppn, prototypes, regression, or all.")
    ] = "ppn+",
    collection: Collection = None,
    *,
    columns: Columns = None,
    report: Annotated[
        Path | None,
        Option(
            metavar="OUT", help="Also write a report: .html, .pdf, .csv or .zip; of one setting."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Compare predictions with ground truth, at the leaves and at every level."""
    from engine.collection.classify import classify_project
    from engine.evaluation.evaluate import evaluate as score
    from engine.evaluation.truth_file import read_truth
    from engine.everyday.classifier import Setting

    check_setting(setting, (*SETTINGS, "all"))
    if report is not None:
        _check_report(report, setting, collection)
    names = SETTINGS if setting == "all" else (setting,)
    with open_project(project, for_writing=False) as opened:
        answers = read_truth(truth, opened.classes.graph, named_columns(columns))
        caches = CacheFolders.default()
        runs = [
            classify_project(opened, caches, Setting(name), with_stage=collection) for name in names
        ]
        results = [score(opened, classified, answers) for classified in runs]
        if report is not None:
            write_evaluation(opened, truth, report, setting, overwrite=overwrite)
    fields = [asdict(result) for result in results]
    print_result(_table(results), fields[0] if len(fields) == 1 else {"settings": fields})


def _check_report(out: Path, setting: str, collection: bool | None) -> None:
    from engine.report.write import kind_of

    kind_of(out)
    if setting == "all":
        raise UsageError(
            "--report takes one setting",
            found="--setting all",
            remedy="`report --settings A,B` compares two",
        )
    if collection is not None:
        raise UsageError(
            "--report uses the settings of the project",
            remedy="leave out --collection and --no-collection",
        )


def _table(results: "Sequence[Evaluation]") -> str:
    rows = [
        ("", [result.setting for result in results]),
        ("images", [f"{result.images:,}" for result in results]),
        ("leaf top-1", [percent(result.top1) for result in results]),
        ("leaf top-5", [percent(result.top5) for result in results]),
    ]
    for level in range(max(len(result.levels) for result in results)):
        figures = [
            result.levels[level] if level < len(result.levels) else math.nan for result in results
        ]
        rows.append(
            (f"level {level}", list(map(percent, figures)))
        )  # without zero-shot classes fewer levels
    rows += [
        ("calibration error", [f"{result.calibration_error:.3f}" for result in results]),
        ("coverage", [percent(result.coverage) for result in results]),
        ("safe class right", [percent(result.safe_accuracy) for result in results]),
        ("unknown", [percent(result.unknown) for result in results]),
        ("not found", [f"{result.not_found:,}" for result in results]),
        ("twins of labelled", [f"{result.twins:,}" for result in results]),
    ]
    if any(result.twins for result in results):
        rows.append(
            ("top-1 without these", [percent(result.top1_without_twins) for result in results])
        )
    return "\n".join(
        f"{title:<20}" + "".join(f"{cell:>14}" for cell in cells) for title, cells in rows
    )


def _details_text(details: "DetailsSummary | None") -> str:
    """Text for files whose metadata was read apart from their embedding."""
    if details is None or not details.read:
        return ""
    return (
        f"\nRead date, camera and other details of {counted(details.read, 'file')} "
        f"({details.files_per_s:,.0f}/s)."
    )


def _missing_text(count: int) -> str:
    if not count:
        return ""
    are = "is missing; its embedding is" if count == 1 else "are missing; their embeddings are"
    return f"\n{counted(count, 'image')} {are} kept. `protoleaf relink` finds moved images again."
