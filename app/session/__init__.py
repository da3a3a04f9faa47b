"""The QObject around the open project."""

from app.session.runner import ProjectInfo
from app.session.session import Session

__all__ = ["ProjectInfo", "Session"]
