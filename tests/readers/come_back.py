"""Import another program's export, in the program's own environment.

Run: python -m tests.readers.come_back SAMPLE EXPORT
"""

import json
import sys
from pathlib import Path
from typing import Any

from engine.collection.importing.import_labels import import_labels
from engine.files import FoundFile
from engine.images.read_file import content_hash
from engine.project import Project
from tests.support.labelled_images import add_music_classes


def labels_taken_over(sample: Path, export: Path) -> dict[str, dict[str, Any]]:
    """Labels of a new project with the sample's classes and images, by file name."""
    path = sample / "collection" / "back.protoleaf"  # by path: some images are duplicates
    path.unlink(missing_ok=True)
    with Project.create(path, backbone_name="leafnet", backbone_hash="00" * 32) as project:
        add_music_classes(project)
        files = [FoundFile.at(each) for each in sorted((path.parent / "photos").rglob("*.png"))]
        project.images.add([each for each in files if each is not None])
        records = list(project.images.records())
        project.images.record_scan(
            (each.image_id, content_hash(project.images.resolve(each).read_bytes()), None)
            for each in records
        )
        import_labels(project, export)
        graph, labels = project.classes.graph, project.labels.by_image()
        names = {each.image_id: Path(each.path).name for each in records}
        return {
            names[image_id]: {
                "class": graph.name(label.class_id) if label.class_id else None,
                "who": label.who,
            }
            for image_id, label in labels.items()
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(labels_taken_over(Path(sys.argv[1]), Path(sys.argv[2]))))
