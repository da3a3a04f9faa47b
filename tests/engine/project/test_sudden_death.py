"""Killed processes and concurrent ones: no acknowledged action is lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import ProjectLockedError
from engine.project import Project
from tests.support.projects import bird_project

LABEL_FOR_EVER = """
import itertools, sys
from pathlib import Path
from engine.project import Project
with Project.open(Path(sys.argv[1])) as project:
    ids = list(project.images.table().ids)
    for number, image_id in enumerate(itertools.cycle(ids)):
        class_id = None if number // len(ids) % 2 else 2
        project.labels.set([image_id], class_id)
        print(image_id, class_id, flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_a_killed_process_loses_no_acknowledged_label(tmp_path: Path, acknowledged: int) -> None:
    """Every label acknowledged before SIGKILL is in the file, which is valid and unlocked."""
    project, _, images = bird_project(tmp_path, image_count=30)
    project.close()
    acknowledged_labels: dict[int, int | None] = {}
    with subprocess.Popen(
        [sys.executable, "-c", LABEL_FOR_EVER, str(project.path)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(acknowledged)]
        os.kill(child.pid, signal.SIGKILL)
        lines += child.stdout.readlines()
    for line in lines:
        if line.endswith(b"\n"):
            image_id, class_id = line.split()
            acknowledged_labels[int(image_id)] = None if class_id == b"None" else int(class_id)
    done = sum(line.endswith(b"\n") for line in lines)
    assert done >= acknowledged
    with Project.open(project.path) as survivor:
        labels = survivor.labels.by_image()
        # One more may be committed but not acknowledged.
        differing = [
            image_id
            for image_id, class_id in acknowledged_labels.items()
            if labels[image_id].class_id != class_id
        ]
        assert len(differing) <= 1
        assert set(acknowledged_labels) <= set(labels) <= set(images)
        assert differing == [] or done >= len(images)
        assert survivor.check() == []
        steps = 0
        while str(survivor.history.undo_action) != "Added 30 images":
            survivor.history.undo()
            steps += 1
        assert done <= steps <= done + 1
        assert survivor.labels.by_image() == {}


OPEN_FOR_WRITING = """
import sys
from pathlib import Path
from engine.errors import ProjectLockedError
from engine.project import Project
path = Path(sys.argv[1])
try:
    Project.open(path)
except ProjectLockedError as error:
    print("locked:", error)
for _ in range(2):
    with Project.open(path, for_writing=False) as project:
        print("reads", len(project.labels.by_image()), flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_a_second_process_reads_beside_the_writer(tmp_path: Path) -> None:
    """Another process cannot write but reads the state at its opening."""
    project, gull, images = bird_project(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", OPEN_FOR_WRITING, str(project.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline().startswith("locked: the project is open in another window")
        assert child.stdout.readline() == "reads 0\n"
        project.labels.set(images, gull)
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "reads 4\n"
        child.stdin.close()
    assert child.returncode == 0
    project.close()
    assert Project.open(project.path).check() == []


HOLD = """
import sys
from pathlib import Path
from engine.project import Project
project = Project.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    """The project of a killed writer can be opened at once."""
    project, _, _ = bird_project(tmp_path)
    project.close()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(project.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(ProjectLockedError):
            Project.open(project.path)
        os.kill(child.pid, signal.SIGKILL)
    with Project.open(project.path) as survivor:
        assert survivor.classes.add("Tern")[1] > 0
