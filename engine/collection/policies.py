"""A project's bars and deepest classes, as inference takes them."""

from engine.everyday.back_off import Policy
from engine.project import Project


def policies_of(project: Project) -> dict[int, Policy]:
    """Policies by class id."""
    return {class_id: Policy(policy.bar, policy.is_deepest) for class_id, policy in project.policies().items()}
