"""Make the model that ships in `assets/models`: backbone, attention, card.

    python -m engine.experiments.bundled_model pretrain TINY_IMAGENET RUN
    python -m engine.experiments.bundled_model finish TINY_IMAGENET WORDNET RUN OUT

`pretrain` takes about an hour on two cores and writes weights and a log into RUN after each epoch. `finish` embeds the
validation images, meta-trains the attention on the WordNet graph above their classes, and exports both to OUT.
"""

import json
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from torch import nn

from engine.graph.category_graph import CategoryGraph
from engine.graph.edge_index import edge_index
from engine.interchange.imagenet import read as read_imagenet
from engine.interchange.merge import merge_into
from engine.model.backbone import LeafNet, UnitEmbedding
from engine.model_card import BackboneCard, write_card
from engine.training.episodes import EpisodeSettings
from engine.training.export import export_backbone, export_propagation
from engine.training.pretraining import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    LabelledImages,
    PretrainingSettings,
    accuracy,
    embed,
    pretrain,
    read_class_folders,
)
from engine.training.propagation_settings import PropagationTrainingSettings
from engine.training.propagation_training import TrainedPropagation, train_attention

NAME: Final = "leafnet"
TRAINING_SIDE: Final = 64
INPUT_SIDE: Final = 128
"""Photos are embedded larger than the training images: on photos it never saw, 5 shots gain 4 points over 96 px."""
START_TEMPERATURE: Final = 0.1
"""Of the right size for embeddings of length 1."""
SEED: Final = 0

commands = typer.Typer(add_completion=False, help="Make the bundled model.")


@commands.command("pretrain")
def pretrain_backbone(source: Path, run: Path) -> None:
    """Pretrain LeafNet on SOURCE/train, watch SOURCE/val, write weights and log into RUN."""
    run.mkdir(parents=True, exist_ok=True)
    training = read_class_folders(source / "train", TRAINING_SIDE)
    validation = read_class_folders(source / "val", TRAINING_SIDE)
    torch.manual_seed(SEED)
    backbone = LeafNet()
    log = run / "log.jsonl"
    log.write_text("", encoding="utf-8")

    def on_epoch(epoch: int, loss: float, averaged: nn.Module, images_per_s: float) -> None:
        record = {
            "epoch": epoch,
            "loss": round(loss, 4),
            "validation_accuracy": round(accuracy(averaged, validation), 4),
            "images_per_s": round(images_per_s, 1),
        }
        torch.save(averaged.get_submodule("0").state_dict(), run / "weights.pt")
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        typer.echo(json.dumps(record))

    pretrain(backbone, training, PretrainingSettings(), embedding_width=backbone.embedding_width, on_epoch=on_epoch)


@commands.command("finish")
def finish(
    source: Path,
    wordnet: Path,
    run: Path,
    out: Path,
    iterations: Annotated[int, typer.Option(help="Episodes of meta-training.")] = 1000,
) -> None:
    """Meta-train the attention for the weights in RUN, export everything to OUT."""
    out.mkdir(parents=True, exist_ok=True)
    backbone = LeafNet()
    backbone.load_state_dict(torch.load(run / "weights.pt", weights_only=True))
    unit = UnitEmbedding(backbone).eval()
    images = read_class_folders(source / "val", TRAINING_SIDE)
    trained = _train_propagation(embed(unit, images), images, wordnet, iterations)
    model = out / f"{NAME}.onnx"
    card = _card(backbone, trained, run)
    export_backbone(unit, model, card, half_weights=True)
    export_propagation(trained.network(), out / f"{NAME}.propagation.onnx")
    write_card(model, card)
    typer.echo(json.dumps(card.figures, indent=2))


def wordnet_positions(
    wordnet: Path, images: LabelledImages
) -> tuple[CategoryGraph, NDArray[np.int64], NDArray[np.int64]]:
    """The WordNet branches above the image classes: graph, edge index (2, E), class position (n,) of each image."""
    imported = read_imagenet(wordnet, only=images.class_names)
    graph = CategoryGraph()
    merge_into(graph, imported)
    names = {entry.key: entry.name for entry in imported.classes}
    classes = sorted(graph.classes())
    place = {class_id: position for position, class_id in enumerate(classes)}
    leaves = {graph.name(class_id): place[class_id] for class_id in graph.leaves()}
    of_target = np.array([leaves[names[wnid]] for wnid in images.class_names], dtype=np.int64)
    return graph, edge_index(graph, classes), of_target[images.targets]


def _train_propagation(
    embeddings: NDArray[np.float32], images: LabelledImages, wordnet: Path, iterations: int
) -> TrainedPropagation:
    _, edges, positions = wordnet_positions(wordnet, images)
    settings = PropagationTrainingSettings(
        episodes=EpisodeSettings(ways=20, shots=2, queries=5),
        iterations=iterations,
        temperature=START_TEMPERATURE,
        seed=SEED,
    )
    return train_attention(embeddings, positions, edges, settings)


def _card(backbone: LeafNet, trained: TrainedPropagation, run: Path) -> BackboneCard:
    last = json.loads((run / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return BackboneCard(
        name=NAME,
        input_side=INPUT_SIDE,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
        embedding_width=backbone.embedding_width,
        temperature=round(trained.temperature, 5),
        shrinkage=round(trained.shrinkage or 1.0, 3),
        description="A small residual network trained by us from random weights; embeddings have length 1.",
        training_data="Tiny ImageNet, training part: 50,000 images of 200 classes at 64 px. Attention: its validation "
        "part on the WordNet branches above the classes.",
        licence="The weights are ours, under the program's licence. Tiny ImageNet is for research use.",
        command="python -m engine.experiments.bundled_model pretrain, then finish; seed 0",
        figures={
            "epochs": last["epoch"] + 1,
            "validation_accuracy": last["validation_accuracy"],
            "held_out_20_way_2_shot_loss_untrained": round(trained.before.loss, 4),
            "held_out_20_way_2_shot_loss": round(trained.after.loss, 4),
            "held_out_20_way_2_shot_accuracy_untrained": round(trained.before.accuracy, 4),
            "held_out_20_way_2_shot_accuracy": round(trained.after.accuracy, 4),
            "held_out_20_way_2_shot_accuracy_prototypes": round(trained.without_propagation.accuracy, 4),
        },
    )


if __name__ == "__main__":
    commands()
