"""The dialog of a new project."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app.palette.folder_list import CLASS, FolderList
from app.welcome.controller import Projects
from app.welcome.new_project_view import NewProjectCard
from tests.support.desk import Desk


def drop_on_first_page(desk: Desk, paths: Sequence[Path]) -> NewProjectCard:
    """Drop files on the first page and wait for the complete dialog."""
    desk.drop_files(desk.window.of(Projects).page, paths)
    return known_sheet(desk)


def known_sheet(desk: Desk) -> NewProjectCard:
    """The open dialog, complete."""
    making = desk.window.of(Projects).making
    desk.wait(lambda: making.card is not None and making.card.isVisible())
    desk.wait(
        lambda: (
            not (
                making.counting.waiting
                or making.classes.reading.is_busy
                or making.measuring.is_busy
            )
        )
    )
    assert making.card is not None
    return making.card


def begin_with(desk: Desk, paths: Sequence[Path]) -> None:
    """Drop files on the first page and create a project with default settings."""
    desk.click(drop_on_first_page(desk, paths).create_button)
    desk.wait(lambda: desk.window.session.info is not None)


def click_box(desk: Desk, folders: FolderList, name: str, column: int = CLASS) -> None:
    """Click the checkbox of a folder."""
    index = _index(folders, name, column)
    folders.scrollTo(index)
    option = QStyleOptionViewItem()
    folders.initViewItemOption(option)
    option.rect = folders.visualRect(index)
    option.features |= QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
    box = folders.style().subElementRect(
        QStyle.SubElement.SE_ItemViewItemCheckIndicator, option, folders
    )
    desk.qtbot.mouseClick(folders.viewport(), Qt.MouseButton.LeftButton, pos=box.center())


def _index(folders: FolderList, name: str, column: int) -> QModelIndex:
    model = folders.model()
    waiting = [model.index(row, 0) for row in range(model.rowCount())]
    for index in waiting:  # grows during the loop
        if index.data() == name:
            return index.siblingAtColumn(column)
        waiting += [model.index(row, 0, index) for row in range(model.rowCount(index))]
    raise AssertionError(name)
