"""Train the backbone that ships in `assets/`: `python -m engine.experiments.bundled_model TINY_IMAGENET OUT`."""

import json
import sys
from pathlib import Path

import torch
from torch import nn

from engine.model.backbone import LeafNet
from engine.training.pretraining import PretrainingSettings, accuracy, pretrain, read_class_folders


def main(source: Path, out: Path) -> None:
    """Pretrain on `source`/train, report on `source`/val, write weights and log to `out` after each epoch."""
    out.mkdir(parents=True, exist_ok=True)
    training = read_class_folders(source / "train", 64)
    validation = read_class_folders(source / "val", 64)
    torch.manual_seed(0)
    backbone = LeafNet()
    log = out / "log.jsonl"
    log.write_text("")

    def on_epoch(epoch: int, loss: float, averaged: nn.Module, images_per_s: float) -> None:
        record = {
            "epoch": epoch,
            "loss": round(loss, 4),
            "validation_accuracy": round(accuracy(averaged, validation), 4),
            "images_per_s": round(images_per_s, 1),
        }
        torch.save(averaged[0].state_dict(), out / "weights.pt")  # type: ignore[index]
        with log.open("a") as file:
            file.write(json.dumps(record) + "\n")
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()

    pretrain(backbone, training, PretrainingSettings(), embedding_width=backbone.embedding_width, on_epoch=on_epoch)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
