"""`embed` and `classify` with data sets, on a Ray cluster or a local one.

`engine.cli` finds this module by its entry point (`cluster_commands`).
"""

from collections.abc import Sequence
from pathlib import Path

from engine.backbones.model_files import ModelFiles, default_backbone
from engine.bundle.opened import open_bundle, try_bundle
from engine.cli.named_backbone import ensure_converted
from engine.cli.output import failure_rows, failure_text, job, left_out_text, note, print_result
from engine.collection.models import find_model
from engine.dataset.opened import DataSet
from engine.errors import UsageError
from engine.texts import counted
from protoleaf_cluster.classify import classify_data_set
from protoleaf_cluster.embed import embed_sources
from protoleaf_cluster.ray_cluster import LOCAL
from protoleaf_cluster.run import ClusterRun, Places

_DEVICES = ("auto", "cpu", "cuda")
_GO_ON = "run the same command again to go on from here"


def embed_data_set(
    sources: Sequence[str],
    out: Path,
    backbone: str | None,
    cluster: str | None,
    shard_images: int | None,
    *,
    device: str,
) -> None:
    """`embed SOURCE... --out DATASET`."""
    if device not in _DEVICES:
        raise UsageError("a cluster has no such device", expected=", ".join(_DEVICES), found=device)
    model = _model(backbone)
    with job("Embedding", _GO_ON) as running:
        run, found = embed_sources(
            sources,
            out,
            model,
            shard_images=shard_images,
            places=Places(cluster or LOCAL, device),
            **running,
        )
    computed_on = sorted({facts.computed_on for facts in run.facts})
    text = (
        f"{out} holds {counted(run.rows, 'image')} in {counted(len(run.shards), 'shard')}, "
        f"{run.new_shards:,} of them "
        f"new; {run.new_rows_per_s:,.0f} images/s on {' and '.join(computed_on) or 'nothing'}."
    )
    if len(computed_on) > 1:
        text += (
            "\nThe nodes computed in different ways: embeddings of one image may differ a little "
            "between them."
        )
    if run.failed:
        text += f"\n{counted(run.failed, 'image')} could not be read; the column `reason` says why."
    print_result(
        text + left_out_text(found.left_out) + failure_text(found.failures),
        {
            "data_set": str(out),
            "images": run.rows,
            "failed": run.failed,
            **_fields(run),
            "computed_on": computed_on,
            "failures": failure_rows(found.failures),
            "left_out": dict(found.left_out.by_kind()),
            "other_files": found.left_out.others,
        },
    )


def _model(backbone: str | None) -> ModelFiles:
    """Files of a backbone; a bundled one is converted at its first use."""
    named = backbone or default_backbone()
    return find_model(
        named if Path(named).is_file() else ensure_converted(named, when_stopped=_GO_ON)
    )


def _fields(run: ClusterRun) -> dict[str, object]:
    return {
        "shards": len(run.shards),
        "new_shards": run.new_shards,
        "seconds": run.seconds,
        "images_per_s": run.new_rows_per_s,
    }


def classify_on_cluster(data_set: Path, model: Path, out: Path, cluster: str | None) -> None:
    """`classify DATASET --model BUNDLE --out PREDICTIONS`."""
    with job("Classifying", _GO_ON) as running:
        opened = DataSet.open(data_set)
        try_bundle(model, cancel=running["cancel"])
        bundle = open_bundle(model)
        run = classify_data_set(opened, bundle, out, places=Places(cluster or LOCAL), **running)
    predictions, views = run.rows - run.failed, bundle.contents.framing.views
    if views > 1:
        note(
            f"the model takes the mean of {views} views of an image; the data set has one "
            "view of each, as images of large collections do"
        )
    without = (
        f" {counted(run.failed, 'image')} without an embedding left out." if run.failed else ""
    )
    print_result(
        f"Wrote {counted(predictions, 'prediction')} to {out} in "
        f"{counted(len(run.shards), 'shard')}, "
        f"{run.new_shards:,} of them new ({run.new_rows_per_s:,.0f} images/s).{without}",
        {
            "predictions": predictions,
            "folder": str(out),
            "without": run.failed,
            **_fields(run),
            "model": bundle.contents.name,
            "setting": bundle.contents.setting,
            "views_of_model": views,
        },
    )
