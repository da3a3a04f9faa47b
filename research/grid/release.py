"""Export of a trained cell: backbone and propagation as ONNX, with a model card."""

from pathlib import Path

from engine.collection.training.settings import Chosen
from engine.errors import InputError
from engine.model.propagation import PropagationNetwork
from engine.model_card import BackboneCard
from engine.training.arithmetic import IMAGENET_MEAN, IMAGENET_STD
from engine.training.export import export_backbone, export_propagation
from engine.training.level_wise import PrototypePropagation
from research.cells import load_cell
from research.grid.cell import GridCell
from research.grid.figures import rows_in
from research.grid.result import read
from research.grid.run import settings_of
from research.grid.table import TESTS, TITLES


def release(
    cell: GridCell, runs: Path, results: Path, chosen: Chosen, out: Path
) -> tuple[Path, Path]:
    """Write a PPN as `<variant>-<method>.onnx` and `.propagation.onnx`, each checked against torch.

    The card has the accuracy of every test of the cell, each by the candidate that its validation
    classes chose. The backbone can be added to the program (`protoleaf backbone add`).

    Args:
        cell: trained and tested; its method is a PPN.
        runs: folder of checkpoints.
        results: folder of results.
        chosen: settings of the training, by name, in place of the usual ones.
        out: folder for the files.

    Raises:
        InputError: the cell is of another method, or its training is not finished.
        FormatError: there is no checkpoint or result.
        ModelError: an exported file differs from the trained network.
        StorageError: the folder cannot be written.
    """
    settings, data = settings_of(cell, chosen), cell.open()
    objective = (
        load_cell(data, cell.training_cell(settings), settings, cell.runs_below(runs)).cpu().eval()
    )
    if not isinstance(objective, PrototypePropagation):
        raise InputError(
            "only a PPN is released", expected="ppn, ppn-cosine or ppn-guessed", found=cell.method
        )
    found = read(results / f"{cell.name}.json")
    figures = {
        f"{ways}-way {shots}-shot, {TESTS[row.test]}": round(row.figure.mean, 4)
        for ways, shots in found.columns
        for row in rows_in([found], cell.variant, (ways, shots))
    }
    side = settings.training.side
    card = BackboneCard(
        name=f"conv4-{cell.method}-{cell.variant}",
        input_side=side,
        mean=IMAGENET_MEAN,
        std=IMAGENET_STD,
        embedding_width=objective.attention.embedding_width,
        resize_share=side / data.side,
        description=(
            f"Conv4 of the paper's experiments, trained as {TITLES[cell.method]} at {side} px."
        ),
        training_data=f"{data.name}, split {cell.split}: "
        f"{len(data.training_few_shot)} few-shot classes and the coarse "
        f"classes above them; {cell.validation} classes were put aside for every choice.",
        licence="Apache-2.0, as the program; the images keep their own terms.",
        command=f"protoleaf experiment table DATA --seeds {cell.seed + 1} "
        f"--shots {cell.shots} --method {cell.method}",
        figures=figures,
    )
    backbone = out / f"{cell.variant}-{cell.shots}-shot-{cell.method}.onnx"
    propagation = backbone.with_suffix(".propagation.onnx")
    export_backbone(objective.backbone, backbone, card, one_side=True)
    network = PropagationNetwork(
        objective.attention,
        steps=objective.settings.steps,
        normalisation=objective.settings.normalisation,
    )
    export_propagation(network, propagation)
    return backbone, propagation
