"""Make the model that ships in `assets/models`: backbone, attention, card.

    python -m research.bundled_model pretrain TINY_IMAGENET RUN1 --candidate deep
    python -m research.bundled_model pretrain TINY_IMAGENET RUN2 --candidate short --start RUN1
    python -m research.bundled_model finish TINY_IMAGENET WORDNET RUN2 OUT
    python -m research.bundled_model plain OUT
    python -m research.bundled_model activations TINY_IMAGENET/val GROCERY/train

`pretrain` takes about an hour on two cores and writes weights and a log into RUN after each epoch.
`finish` embeds the validation images, fits the head that makes the stages comparable, meta-trains
the attention on the WordNet graph above their classes, and exports both to OUT. `plain` takes
seconds and writes the propagation without parameters, for other backbones. `activations` measures
the activations of both bundled backbones: it writes the 8-bit quantised companion of the shipped
one, and the statistics for quantising the one that is converted on each computer, without photos.
"""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from torch import nn

from engine.backbones.convert import IN_FLOAT, bundled_network, write_graph
from engine.backbones.model_files import CONVERTED, MODELS, WIDTH_AGNOSTIC
from engine.config import assets_folder
from engine.errors import UsageError
from engine.graph.arrays import edge_index
from engine.graph.category_graph import CategoryGraph
from engine.images.decode import decode_square
from engine.interchange.detect import restricted
from engine.interchange.taxonomies.wordnet import read_imagenet
from engine.interchange.versions.plan import merge_into
from engine.model.backbone import UnitEmbedding, Whitened
from engine.model.propagation import PlainAttention, PropagationNetwork
from engine.model_card import BackboneCard, read_card
from engine.new_file import new_file, open_own, write_file
from engine.new_folder import scratch_folder
from engine.runtime.activations import (
    Activations,
    measure_activations,
    read_activations,
    write_activations,
)
from engine.runtime.quantization import write_eight_bit, write_eight_bit_within
from engine.training.export import export_backbone, export_propagation
from engine.training.propagation_training import (
    PropagationTrainingSettings,
    TrainedPropagation,
    train_attention,
)
from engine.training.training_set import EpisodeSettings
from research.candidates import candidate, take_over
from research.embedding_head import EmbeddingHead, fit_head
from research.leaf_net import LastStage
from research.pretraining import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    PretrainingImages,
    accuracy,
    embed,
    pretrain,
    read_class_folders,
)

NAME = "leafnet"
TRAINING_SIDE = 64
INPUT_SIDE = 96
"""Input side in pixels, larger than in training: the best one at 400 images/s on two cores."""
START_TEMPERATURE = 0.1
"""Initial temperature, suitable for embeddings of length 1."""
SEED = 0
WEIGHTS = "weights.pt"
FEWEST_BELOW = 3
PHOTOS_CHECKED = 5  # one photo in so many evaluates a quantised companion
EIGHT_BIT_STEP = 40
"""One validation image in so many calibrates the ranges of the 8-bit companion."""

commands = typer.Typer(add_completion=False, help="Make the bundled model.")


@commands.command("pretrain")
def pretrain_backbone(
    source: Path,
    run: Path,
    name: Annotated[str, typer.Option("--candidate", help="One of research.candidates.")] = "short",
    start: Annotated[
        Path | None, typer.Option(help="RUN folder of the candidate that it starts from.")
    ] = None,
    wordnet: Annotated[
        Path | None, typer.Option(help="Needed where ancestors are part of the objective.")
    ] = None,
) -> None:
    """Pretrain a candidate on SOURCE/train, evaluate on SOURCE/val, write weights to RUN."""
    run.mkdir(parents=True, exist_ok=True)
    chosen = candidate(name)
    training = read_class_folders(source / "train", TRAINING_SIDE)
    validation = read_class_folders(source / "val", TRAINING_SIDE)
    torch.manual_seed(SEED)
    network = chosen.network()
    if chosen.start:
        take_over(network, _weights_of(start, chosen.start), candidate(chosen.start).blocks)
    trained = chosen.trained_part(network)
    log = run / "log.jsonl"
    write_file(log, "")

    def on_epoch(epoch: int, loss: float, averaged: nn.Module, images_per_s: float) -> None:
        record = {
            "candidate": name,
            "epoch": epoch,
            "loss": round(loss, 4),
            "validation_accuracy": round(accuracy(averaged, validation), 4),
            "images_per_s": round(images_per_s, 1),
        }
        with new_file(run / WEIGHTS, replace=True) as draft:
            torch.save(_network_state(averaged), draft.file)
        with open_own(log, "ab") as file:
            file.write((json.dumps(record) + "\n").encode("utf-8"))
        typer.echo(json.dumps(record))

    above = None if wordnet is None else ancestor_matrix(wordnet, training)
    pretrain(
        trained,
        training,
        chosen.settings,
        embedding_width=trained.embedding_width,
        on_epoch=on_epoch,
        ancestors=above,
    )


def _network_state(averaged: nn.Module) -> dict[str, torch.Tensor]:
    """Weights of the LeafNet in `nn.Sequential(trained part, head)`."""
    part = averaged.get_submodule("0")
    return (part.network if isinstance(part, LastStage) else part).state_dict()


def _weights_of(run: Path | None, name: str) -> dict[str, torch.Tensor]:
    if run is None:
        raise UsageError(
            "the candidate starts from another", expected=f"--start with the RUN folder of {name}"
        )
    state: dict[str, torch.Tensor] = torch.load(run / WEIGHTS, weights_only=True)
    return state


def ancestor_matrix(wordnet: Path, images: PretrainingImages) -> torch.Tensor:
    """Classes of WordNet above each image class: (K, A) float, without uninformative ones.

    Uninformative are classes above all or only one of the image classes, and duplicates.
    """
    graph, _, positions = wordnet_positions(wordnet, images)
    classes = sorted(graph.classes())
    above = np.zeros((len(images.class_names), len(classes)), dtype=np.float32)
    place = {class_id: position for position, class_id in enumerate(classes)}
    for target in range(len(images.class_names)):
        class_id = classes[positions[np.flatnonzero(images.targets == target)[0]]]
        above[target, [place[each] for each in graph.ancestors(class_id)]] = 1
    counts = above.sum(axis=0)
    telling = above[:, (counts >= FEWEST_BELOW) & (counts <= len(above) / 2)]
    return torch.from_numpy(np.unique(telling, axis=1))


@commands.command("finish")
def finish(
    source: Path,
    wordnet: Path,
    run: Path,
    out: Path,
    *,
    name: Annotated[str, typer.Option("--candidate")] = "short",
    side: Annotated[int, typer.Option(help="Input side in pixels.")] = INPUT_SIDE,
    iterations: Annotated[int, typer.Option(help="Episodes of meta-training.")] = 1000,
) -> None:
    """Fit the head and meta-train the attention for the weights in RUN; export both to OUT."""
    out.mkdir(parents=True, exist_ok=True)
    chosen = candidate(name)
    network = chosen.network()
    network.load_state_dict(_weights_of(run, name))
    images = read_class_folders(source / "val", side)
    head = fit_head(embed(network, images), images.targets, chosen.widths)
    backbone = UnitEmbedding(Whitened(network, *_tensors(head))).eval()
    trained = _train_propagation(embed(backbone, images), images, wordnet, iterations)
    model = out / f"{NAME}.onnx"
    card = _card(head.matrix.shape[0], side, trained, run)
    export_backbone(backbone, model, card, half_weights=True)
    write_eight_bit(model, card, images.pixels[::EIGHT_BIT_STEP])
    export_propagation(trained.network(), out / f"{NAME}.propagation.onnx")
    typer.echo(json.dumps(card.figures, indent=2))


def _tensors(head: EmbeddingHead) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(head.mean).float(), torch.from_numpy(head.matrix).float()


@commands.command("plain")
def plain(out: Path) -> None:
    """Export the parameter-free propagation, for embeddings of any width, to OUT."""
    agreement = export_propagation(PropagationNetwork(PlainAttention()), out / WIDTH_AGNOSTIC)
    typer.echo(
        f"largest relative difference to torch {agreement.largest_difference:.1e}, "
        f"{agreement.checks} graphs"
    )


@commands.command("activations")
def activations(
    folders: list[Path],
    *,
    count: Annotated[int, typer.Option(help="Images of each folder, evenly over it.")] = 120,
) -> None:
    """Measure activations on photos below FOLDERS; write LeafNet's companion and the statistics."""
    for source in CONVERTED.values():
        card = read_card(source.model)
        with scratch_folder() as folder:
            model = folder / source.model.name
            network = bundled_network(source)
            write_file(
                model, write_graph(network, card.input_side, source.name).SerializeToString()
            )
            photos = _photos(folders, card.input_side, count)
            write_activations(source.activations, measure_activations(model, card, photos))
            _write_companion(model, read_activations(source.activations), card, photos, IN_FLOAT)
    model = assets_folder() / MODELS / f"{NAME}.onnx"
    card = read_card(model)
    photos = _photos(folders, card.input_side, count)
    _write_companion(model, measure_activations(model, card, photos), card, photos)


def _write_companion(
    model: Path,
    measured: Activations,
    card: BackboneCard,
    photos: NDArray[np.uint8],
    in_float: tuple[str, ...] = (),
) -> None:
    report = write_eight_bit_within(
        measured, model, card, photos[::PHOTOS_CHECKED], in_float=in_float
    )
    typer.echo(
        f"{model.stem}: mean cosine {report.mean_cosine:.4f}, least {report.least_cosine:.4f}"
    )


def _photos(folders: list[Path], side: int, count: int) -> NDArray[np.uint8]:
    chosen = list[Path]()
    for folder in folders:
        paths = sorted(
            path for path in folder.rglob("*") if path.suffix.lower() in {".jpg", ".jpeg"}
        )
        chosen += paths[:: max(1, len(paths) // count)]
    return np.stack([decode_square(path.read_bytes(), side) for path in chosen])


def wordnet_positions(
    wordnet: Path, images: PretrainingImages
) -> tuple[CategoryGraph, NDArray[np.int64], NDArray[np.int64]]:
    """The WordNet graph above the image classes, its edges (2, E), and the class (n,) of images."""
    imported = restricted(read_imagenet(wordnet), only=images.class_names)
    graph = CategoryGraph()
    merge_into(graph, imported)
    names = {entry.key: entry.name for entry in imported.classes}
    classes = sorted(graph.classes())
    place = {class_id: position for position, class_id in enumerate(classes)}
    leaves = {graph.name(class_id): place[class_id] for class_id in graph.leaves()}
    of_target = np.array([leaves[names[wnid]] for wnid in images.class_names], dtype=np.int64)
    return graph, edge_index(graph, classes), of_target[images.targets]


def _train_propagation(
    embeddings: NDArray[np.float32], images: PretrainingImages, wordnet: Path, iterations: int
) -> TrainedPropagation:
    _, edges, positions = wordnet_positions(wordnet, images)
    settings = PropagationTrainingSettings(
        episodes=EpisodeSettings(ways=20, shots=2, queries=5),
        iterations=iterations,
        temperature=START_TEMPERATURE,
        seed=SEED,
    )
    return train_attention(embeddings, positions, edges, settings)


def _card(width: int, side: int, trained: TrainedPropagation, run: Path) -> BackboneCard:
    last = json.loads((run / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    return BackboneCard(
        name=NAME,
        input_side=side,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
        embedding_width=width,
        temperature=round(trained.temperature, 5),
        shrinkage=round(trained.shrinkage or 1.0, 3),
        description="A small residual network trained by us from random weights and listened to at "
        "all its stages; embeddings are whitened within the training classes and have length 1.",
        training_data="Tiny ImageNet, training part: 50,000 images of 200 classes at 64 px. "
        "Head and attention: its validation part, the attention on the WordNet branches above "
        "the classes.",
        licence="The weights are ours, under the program's licence. "
        "Tiny ImageNet is for research use.",
        command="python -m research.bundled_model pretrain, twice, then finish; seed 0; "
        "see README.md here",
        figures={
            "epochs": last["epoch"] + 1,
            "validation_accuracy": last["validation_accuracy"],
            "held_out_20_way_2_shot_loss_untrained": round(trained.before.loss, 4),
            "held_out_20_way_2_shot_loss": round(trained.after.loss, 4),
            "held_out_20_way_2_shot_accuracy_untrained": round(trained.before.accuracy, 4),
            "held_out_20_way_2_shot_accuracy": round(trained.after.accuracy, 4),
            "held_out_20_way_2_shot_accuracy_prototypes": round(
                trained.without_propagation.accuracy, 4
            ),
        },
    )


if __name__ == "__main__":
    commands()
