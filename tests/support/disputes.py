"""Another person's copy of the open project with different decisions."""

import shutil
from pathlib import Path

from engine.graph.codes import NO_CLASS
from engine.project import Change, Project
from tests.support.collections import Collection, class_ids
from tests.support.desk import Desk
from tests.support.sessions import changed_by


def disputed_images(desk: Desk, count: int) -> list[int]:
    """The first images without a label."""
    state = desk.state
    return [int(each) for each in state.image_ids[state.label_class == NO_CLASS][:count]]


def disputed_copy(reviewing: Desk, collection: Collection) -> Path:
    """Ben's copy: ten different labels, one equal, three new, one different comment."""
    folder = collection.folder / "ben"
    folder.mkdir()
    copy = folder / "shapes.protoleaf"
    shutil.copyfile(collection.project, copy)
    images = disputed_images(reviewing, 14)
    with Project.open(copy, is_backed_up=False) as ben:
        named = class_ids(ben)
        _, zigzag = ben.classes.add("Red zigzag", [named["Red"]])
        ben.labels.set(images[:9], named["Blue disc"], who="grace")
        ben.labels.set(images[9:11], named["Red disc"], who="grace")
        ben.labels.set(images[11:14], zigzag, who="grace")
        ben.notes.set_comment([images[11]], "Disc", who="grace")
        ben.notes.set_comment([images[12]], "Purple zigzag", who="grace")
    session, named = (
        reviewing.window.session,
        {each: reviewing.graph.find(each) for each in ("Red disc", "Red")},
    )

    def decide(project: Project) -> Change:
        with project.history.one_step() as step:
            project.labels.set(images[:9], named["Red disc"], who="ada")
            project.labels.set(images[9:10], named["Red"], who="ada")
            project.labels.set(images[10:11], named["Red disc"], who="ada")
            project.notes.set_comment([images[12]], "Purple spiral", who="ada")
        return step.change

    changed_by(reviewing.qtbot, session, lambda: session.act(decide))
    return copy
