"""Another backbone: compared on the labels, used, and undone."""

from pathlib import Path

from engine.backbones.library import BackboneLibrary
from engine.config import CacheFolders
from engine.model_card import read_card
from tests.robot.patience import wait_for
from tests.robot.person import Person
from tests.robot.prepared import prepared_project
from tests.robot.project_file import backbone_in
from tests.support.fresh_home import FreshHome
from tests.support.other_backbones import NAME, own_backbone

CHANGE_S = 60.0


def test_a_backbone_is_compared_used_and_taken_back(
    person: Person, home: FreshHome, tmp_path: Path, caches: CacheFolders
) -> None:
    """Ctrl+B, Use, the comparison, Use again; undo restores the previous backbone."""
    project = prepared_project(tmp_path, caches, 40, shots=2)
    add_to(home, tmp_path)
    before = backbone_in(project)
    person.open(project)
    person.hand.key("Ctrl+B")
    person.click(f"Use {NAME} in this project", "push button")
    person.hand.click(person.part_containing("Use it", "push button", CHANGE_S).area.centre)
    wait_for(lambda: backbone_in(project) == NAME, "the new backbone", CHANGE_S)
    person.hand.key("Ctrl+Z")
    wait_for(lambda: backbone_in(project) == before, "the former backbone", CHANGE_S)


def add_to(home: FreshHome, scratch: Path) -> None:
    """Add a tiny backbone to the library of a home."""
    path = own_backbone(scratch / "to add")
    library = BackboneLibrary(home.data / "backbones")
    library.add(path, read_card(path), propagation=path.with_suffix(".propagation.onnx"))
