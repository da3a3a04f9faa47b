"""Distributed classification of a data set by an exported model; interrupted runs are resumed."""

import uuid
from dataclasses import replace
from pathlib import Path

from engine.bundle.classes_file import NAME
from engine.bundle.opened import ModelBundle
from engine.dataset.described_folder import DESCRIPTION, SHARDS
from engine.dataset.opened import DataSet
from engine.errors import InputError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.model_card import file_hash
from engine.new_file import ORDINARY_FILE, write_file
from engine.new_folder import Placing, check_is_free, new_folder, place_file
from protoleaf_cluster.behind_embedding import behind_embedding, embedded_by
from protoleaf_cluster.classify_shard import CLASSIFIER, ClassifyShards
from protoleaf_cluster.embed import named
from protoleaf_cluster.predictions import (
    PredictionsManifest,
    read_predictions_manifest,
    write_predictions_manifest,
)
from protoleaf_cluster.run import HERE, ClusterRun, Places, do_all, one_run


def classify_data_set(
    data_set: DataSet,
    bundle: ModelBundle,
    out: Path,
    *,
    places: Places = HERE,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> ClusterRun:
    """Write a prediction for every image of a data set.

    A model exported with several views averages their embeddings. Here it gets the one view of the
    data set, as images of large collections do on the desktop.

    Raises:
        InputError: the data set was embedded by another backbone than the model's, or the folder
            has other content.
        FormatError: the data set or the exported model is damaged.
        StorageError, NetworkError: the cluster does not answer, or the disk is full.
        ModelError: the model fails.
        Cancelled: finished shards are kept.
    """
    token, out = cancel or CancelToken(), out.absolute()
    manifest = begin_predictions(data_set, bundle, out)
    with one_run(out):
        run = do_all(
            ClassifyShards(data_set.folder.absolute(), out),
            out,
            manifest.shard_count,
            data_set.manifest.rows,
            places,
            on_progress=on_progress,
            cancel=token,
            may_use_gpu=False,
        )
        write_predictions_manifest(out, replace(manifest, shards=run.facts))
    return run


def _refuse_other_backbone(data_set: DataSet, bundle: ModelBundle) -> None:
    name, backbone_hash = embedded_by(bundle.folder)
    manifest = data_set.manifest
    if backbone_hash != manifest.backbone_hash:
        raise InputError(
            "the data set was embedded by another backbone than the model's",
            expected=named(name, backbone_hash),
            found="{backbone} in {folder}",
            remedy="embed the sources into a new data set with --backbone {model_backbone}",
            backbone=named(manifest.card.name, manifest.backbone_hash),
            folder=data_set.folder,
            model_backbone=bundle.folder / "backbone.onnx",
        )


def begin_predictions(data_set: DataSet, bundle: ModelBundle, out: Path) -> PredictionsManifest:
    """Create a folder of predictions with its classifier and manifest, or resume an existing one.

    Raises:
        InputError: the data set was embedded by another backbone than the model's, or the folder
            has other content.
        FormatError, ModelError, StorageError: as `classify_data_set`.
    """
    _refuse_other_backbone(data_set, bundle)
    model_hash = file_hash(bundle.folder / NAME)
    if (out / DESCRIPTION).exists():
        manifest = read_predictions_manifest(out)
        begun, asked = (
            (manifest.data_set_id, manifest.model_hash),
            (data_set.manifest.data_set_id, model_hash),
        )
        if begun != asked:
            raise InputError(
                "the folder contains predictions of another data set or model",
                expected="{model} ({hash}) of {data_set}",
                found="{found_model} ({found_hash}) of {found_data_set}",
                remedy="choose a new folder",
                model=bundle.contents.name,
                hash=model_hash[:12],
                data_set=data_set.folder,
                found_model=manifest.model,
                found_hash=manifest.model_hash[:12],
                found_data_set=manifest.data_set,
            )
        return manifest
    check_is_free(out)
    with new_folder(out) as draft:
        return _write(draft, data_set, bundle, model_hash)


def _write(
    draft: Path, data_set: DataSet, bundle: ModelBundle, model_hash: str
) -> PredictionsManifest:
    write_file(
        draft / CLASSIFIER,
        behind_embedding(bundle, data_set.manifest.card.embedding_width),
        mode=ORDINARY_FILE,
    )
    place_file(bundle.folder / NAME, draft / NAME, Placing.COPY)
    (draft / SHARDS).mkdir()
    manifest = PredictionsManifest(
        uuid.uuid4().hex,
        data_set.manifest.data_set_id,
        str(data_set.folder.absolute()),
        bundle.contents.name,
        model_hash,
        bundle.contents.setting,
        data_set.manifest.shard_count,
    )
    write_predictions_manifest(draft, manifest)
    return manifest
