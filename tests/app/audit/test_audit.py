"""Audit: draw 50 images at random, label them with the usual keys, see the result."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.audit.controller import Auditing
from app.session.subsets import Subset
from engine.evaluation.audit.draw import draw_audit
from engine.project import Change, Project
from engine.project.labels import IN_BULK
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.projects import named
from tests.support.sessions import act

Key = Qt.Key
UNLABELLED = 40  # images of the collection


@pytest.fixture
def looking(desk: Desk, collection: Collection) -> Desk:
    desk.open(collection.project)
    desk.window.tree.select_subset(Subset.ALL)
    return desk


def check(desk: Desk) -> list[int]:
    """Start an audit; returns the ids of its images in the order of their cards."""
    desk.window.trigger("check_at_random")
    desk.wait(lambda: desk.window.workspace.images is not None)
    return desk.window.workspace.model.image_ids.tolist()


def line(desk: Desk) -> str:
    """The line below the images, "" if hidden."""
    notice = desk.window.of(Auditing).notice
    return (
        "".join(each.text() for each in notice.findChildren(QLabel)) if notice.isVisible() else ""
    )


@pytest.mark.slow
def test_images_are_drawn_and_answered_by_keys(looking: Desk, collection: Collection) -> None:
    """Enter accepts, undo puts the image back, and a continued audit shows the remaining ones."""
    shown = check(looking)
    assert (len(shown), looking.window.workspace.header.title) == (UNLABELLED, "Checked at random")
    assert shown != sorted(shown)
    looking.wait(lambda: line(looking) == "0 of 40 answered. Label these images like any others")
    assert looking.choose(0) == shown[0]
    assert looking.press_for_change(Key.Key_Return).labelled == (shown[0],)
    looking.wait(lambda: line(looking) == "1 of 40 answered")
    assert looking.grid.current_id == shown[1]
    assert looking.press_for_change(Key.Key_U).labelled == (shown[1],)
    looking.wait(lambda: line(looking) == "2 of 40 answered")
    looking.press_for_change(Key.Key_Z, CONTROL)
    looking.wait(lambda: line(looking) == "1 of 40 answered")
    looking.window.workspace.show_page(QWidget(), "In front of the images")
    assert line(looking) == ""
    looking.window.workspace.go_back()
    assert line(looking) == "1 of 40 answered"
    looking.press(Key.Key_Escape)
    assert looking.window.workspace.images is None
    assert line(looking) == ""
    assert looking.window.registry.action("check_at_random").text() == "Continue checking at random"
    assert check(looking) == [*shown[1:], shown[0]]
    with Project.open(collection.project, for_writing=False) as project:
        (audit,) = project.audits.all()
    assert [item.image_id for item in audit.items] == shown


@pytest.mark.slow
def test_what_is_accepted_in_bulk_waits_for_a_look_and_the_audit_grows(looking: Desk) -> None:
    """Labels set in bulk do not count as answers; single labels do, and give a result."""
    state = looking.state
    random = np.random.default_rng(5)
    act(
        looking.qtbot,
        looking.window.session,
        lambda project: draw_audit(state, 20, random=random).add_to(project),
    )
    shown = check(looking)
    assert len(shown) == 20
    truth = {each: looking.best_of(each) for each in shown}
    ids = {name: looking.graph.find(name) for name in set(truth.values())}
    looking.choose(0)
    looking.press(Key.Key_Right, SHIFT)
    change = looking.press_for_change(Key.Key_Return, SHIFT)
    assert set(change.labelled) == set(shown[:2])
    looking.wait(lambda: line(looking).startswith("0 of 20 answered. 2 were accepted in bulk"))

    def label(project: Project) -> Change:
        assert [source for _, source in project.labels.sources(shown[:3])] == [IN_BULK, IN_BULK, ""]
        with project.history.one_step(named("Label all")) as step:
            for image_id in shown[:-1]:
                project.labels.set([image_id], ids[truth[image_id]])
        return step.change

    act(looking.qtbot, looking.window.session, label)
    looking.choose(19)
    looking.press_for_change(Key.Key_U)
    expected = "19 of 20 right: 95%, 73% to 99% of all that had no label then"
    looking.wait(lambda: line(looking) == expected)
    notice = looking.window.of(Auditing).notice
    assert list(notice.answers) == ["Check 20 more"]
    notice.answer("Check 20 more")
    looking.wait(lambda: line(looking) == "20 of 40 answered")
    assert len(looking.window.workspace.model.image_ids) == UNLABELLED
