"""All features of the window.

Within a section of a menu their actions have this order.
"""

from collections.abc import Mapping

from app.about.controller import About
from app.actions.keys import KeyOwner
from app.actions.page_keys import PageKeys
from app.actions.row import ActionRow, in_menu_order
from app.archives.controller import Archives
from app.audit.controller import Auditing
from app.backbones.controller import Backbones
from app.backups.controller import Backups
from app.boxes.controller import Boxes
from app.class_editing.controller import Classes
from app.class_split.controller import ClassSplitting
from app.compare.controller import Comparing
from app.computing.controller import Computing
from app.exporting.class_graph.controller import GraphExport
from app.exporting.controller import Exporting
from app.feature import Feature
from app.fields.controller import Fields
from app.folding.controller import Folding
from app.graph_import.controller import GraphImports
from app.graph_suggestions.controller import Suggesting
from app.group_review.controller import GroupReview
from app.help.controller import Help
from app.importing.controller import Importing
from app.key_choice.controller import KeyChoice
from app.label_check.controller import LabelChecking
from app.label_import.controller import LabelImports
from app.map.controller import Maps
from app.merging.controller import Merging
from app.moved_images.controller import MovedImages
from app.notes.controller import Notes
from app.preferences.controller import Preferences
from app.report.controller import ReportFeature
from app.reports.controller import Reports
from app.review.controller import Labelling
from app.similar.controller import SimilarImages
from app.training.controller import Models
from app.welcome.controller import Projects
from app.what_if.controller import WhatIf
from app.window_actions import WindowActions

FEATURES: tuple[type[Feature], ...] = (
    Classes,
    ClassSplitting,
    Importing,
    MovedImages,
    Exporting,
    GraphExport,
    GraphImports,
    LabelImports,
    Merging,
    Suggesting,
    Backups,
    Projects,
    Archives,
    Labelling,
    Boxes,
    Comparing,
    GroupReview,
    LabelChecking,
    Auditing,
    Notes,
    Fields,
    ReportFeature,
    SimilarImages,
    Folding,
    Backbones,
    Models,
    Computing,
    WhatIf,
    Maps,
    Help,
    WindowActions,
    Preferences,
    KeyChoice,
    Reports,
    About,
)
ACTIONS = in_menu_order(row for feature in FEATURES for row in feature.rows())
PAGE_KEYS: tuple[PageKeys, ...] = tuple(keys for feature in FEATURES for keys in feature.page_keys)
BY_NAME: Mapping[str, ActionRow] = {row.name: row for row in ACTIONS}


def key_owners() -> list[KeyOwner]:
    """Everything that has keyboard shortcuts."""
    return [
        *(row.key_owner for row in ACTIONS),
        *(owner for page in PAGE_KEYS for owner in page.owners()),
    ]
