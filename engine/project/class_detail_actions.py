"""Actions on what is said of a class besides its name: aliases, note, colour, and the confidence it needs."""

from abc import ABC
from collections.abc import Mapping

from engine.graph.aliases import Aliases
from engine.project import detail_rows, policy_rows
from engine.project.action_texts import details_text, policy_text
from engine.project.change import Change
from engine.project.graph_actions import GraphActions
from engine.project.records import ClassDetails, ClassId, ClassPolicy


class ClassDetailActions(GraphActions, ABC):
    """Actions that describe classes. Each returns when it is on disk."""

    def set_aliases(self, class_id: ClassId, aliases: Aliases) -> Change:
        """Give a class this source id and these synonyms; see `CategoryGraph.set_aliases`."""
        name, known = self._class_name(class_id), self.graph.aliases(class_id)
        what = "synonyms" if aliases.source_id.strip() == known.source_id else "source id"
        return self._edit_graph(f"Changed the {what} of {name}", lambda graph: graph.set_aliases(class_id, aliases))

    def set_details(self, class_id: ClassId, details: ClassDetails) -> Change:
        """Give a class this note and this colour.

        Raises:
            UnknownClassError: there is no such class.
            InputError: the note is too long or holds control characters, or the colour is none.
        """
        return self.set_many_details({class_id: details})

    def set_many_details(self, details: Mapping[ClassId, ClassDetails], *, text: str = "") -> Change:
        """Give classes notes and colours, as one action; see `set_details`.

        Args:
            details: what is to be noted of each class.
            text: the action in words; by default it tells what was changed, and of which class.
        """
        names = self._names(list(details))
        known = {class_id: detail_rows.details_of(self._connection, class_id) for class_id in details}
        news = [(known[class_id], detail_rows.clean_details(each)) for class_id, each in details.items()]
        usual = details_text(
            names,
            note_changed=any(before.note != after.note for before, after in news),
            colour_changed=any(before.colour != after.colour for before, after in news),
        )
        with self.one_step(text or usual) as step:
            detail_rows.put_details(step, details)
        return step.change

    def set_policy(self, class_id: ClassId, policy: ClassPolicy) -> Change:
        """Set how sure the program must be of a class, for it and all below that say nothing else.

        Raises:
            UnknownClassError: there is no such class.
            InputError: the bar is no probability.
        """
        known = self.policies().get(class_id, ClassPolicy())
        text = policy_text(
            self._class_name(class_id), bar_changed=policy.bar != known.bar, is_deepest=policy.is_deepest
        )
        with self.one_step(text) as step:
            policy_rows.put_policy(step, class_id, policy)
        return step.change
