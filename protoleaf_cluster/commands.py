"""`embed` and `classify` with data sets, on a Ray cluster or a local one.

`engine.cli` finds this module by its entry point (`cluster_commands`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.cli.output import failure_rows, failure_text, job, left_out_text, note, say
from engine.errors import UsageError
from engine.texts import counted

if TYPE_CHECKING:
    from engine.backbones.model_files import ModelFiles
    from protoleaf_cluster.embed import EmbeddedDataSet


_DEVICES: Final = ("auto", "cpu", "cuda")
_GO_ON: Final = "run the same command again to go on from here"


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
    from protoleaf_cluster.embed import embed_sources
    from protoleaf_cluster.run import Places

    if device not in _DEVICES:
        raise UsageError("a cluster has no such device", expected=", ".join(_DEVICES), found=device)
    model = _model(backbone)
    with job("Embedding", _GO_ON) as running:
        done = embed_sources(
            sources,
            out,
            model,
            shard_images=shard_images,
            places=Places(cluster or "local", device),
            **running,
        )
    say(_embedded_text(done, out), _embedded_fields(done, out))


def _model(backbone: str | None) -> "ModelFiles":
    """Files of a backbone; a bundled one is converted at its first use."""
    from engine.backbones.model_files import default_backbone
    from engine.cli.named_backbone import ensure_converted
    from engine.collection.models import find_model

    named = backbone or default_backbone()
    return find_model(
        named if Path(named).is_file() else ensure_converted(named, when_stopped=_GO_ON)
    )


def _embedded_text(done: "EmbeddedDataSet", out: Path) -> str:
    text = (
        f"{out} holds {counted(done.images, 'image')} in {counted(done.shards, 'shard')}, "
        f"{done.new_shards:,} of them "
        f"new; {done.images_per_s:,.0f} images/s on {' and '.join(done.computed_on) or 'nothing'}."
    )
    if len(done.computed_on) > 1:
        text += (
            "\nThe nodes computed in different ways: embeddings of one image may differ a little "
            "between them."
        )
    if done.failed:
        text += (
            f"\n{counted(done.failed, 'image')} could not be read; the column `reason` says why."
        )
    return text + left_out_text(done.found.left_out) + failure_text(done.found.failures)


def _embedded_fields(done: "EmbeddedDataSet", out: Path) -> dict[str, object]:
    return {
        "data_set": str(out),
        "images": done.images,
        "failed": done.failed,
        "shards": done.shards,
        "new_shards": done.new_shards,
        "seconds": done.seconds,
        "images_per_s": done.images_per_s,
        "computed_on": list(done.computed_on),
        "failures": failure_rows(done.found.failures),
        "left_out": dict(done.found.left_out.by_kind()),
        "other_files": done.found.left_out.others,
    }


def classify_on_cluster(data_set: Path, model: Path, out: Path, cluster: str | None) -> None:
    """`classify DATASET --model BUNDLE --out PREDICTIONS`."""
    from engine.bundle.opened import open_bundle, try_bundle
    from engine.dataset.opened import DataSet
    from protoleaf_cluster.classify import classify_data_set
    from protoleaf_cluster.run import Places

    with job("Classifying", _GO_ON) as running:
        opened = DataSet.open(data_set)
        try_bundle(model, cancel=running["cancel"])
        bundle = open_bundle(model)
        done = classify_data_set(
            opened,
            bundle,
            out,
            places=Places(cluster or "local"),
            **running,
        )
    if done.views > 1:
        note(
            f"the model takes the mean of {done.views} views of an image; the data set has one "
            "view of each, as images of large collections do"
        )
    without = (
        f" {counted(done.without, 'image')} without an embedding left out." if done.without else ""
    )
    say(
        f"Wrote {counted(done.predictions, 'prediction')} to {out} in "
        f"{counted(done.shards, 'shard')}, "
        f"{done.new_shards:,} of them new ({done.rows_per_s:,.0f} images/s).{without}",
        {
            "predictions": done.predictions,
            "folder": str(out),
            "without": done.without,
            "shards": done.shards,
            "new_shards": done.new_shards,
            "seconds": done.seconds,
            "images_per_s": done.rows_per_s,
            "model": bundle.contents.name,
            "setting": bundle.contents.setting,
            "views_of_model": done.views,
        },
    )
