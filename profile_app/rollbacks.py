"""The app's kinds of rows that writers write, which a roll-back changes."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy

from memory_app.memories.core import MEMORY_KIND
from minara_site.kernel.changes.core import State
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.rollback import ChangesRollback, Effect, KindPlan, PlanRow
from profile_app.documents.core import PROFILE_SUMMARY
from profile_app.documents.rollback import DocumentRollback
from profile_app.rebuild.changes import TAG


class RunRollback(ChangesRollback):
    """What rebuilds wrote: every change of a run goes back, as its owner's undo would do it."""

    of_runs = True
    writes = {}

    def effect_of(self, state: State, target: State) -> str:
        return self.effects[0].name

    def show_steps(self, steps: Sequence[Any], plan: KindPlan, *, reader: Any) -> Sequence[PlanRow]:
        known, facet, rows = stored_kinds().get(self.facet.name), self.facet, [step.row for step in steps]
        titles = [known.title(row.pk) if known else facet.title_of(row) for row in rows]
        kind = known or facet
        return [PlanRow(title, row.owner_id, kind.url_of(row)) for title, row in zip(titles, rows, strict=True)]

    def title(self, object_id: Any) -> str:
        return str(object_id)

    def url(self, object_id: Any) -> str:
        return ""

    def list_changed(self, record: Any, *, limit: int) -> Sequence[Any]:
        return ()


def effect_on(name: str, label: Any, on_roll_back: Any) -> Effect:
    """Return the one effect of a kind of rebuilds."""
    return Effect(name, label, on_roll_back, gettext_lazy("as the rebuild left them"), gettext_lazy("Rebuilds"))


class RebuiltMemoryRollback(RunRollback):
    """Memories out of conversations."""

    name, changes = "rebuilt_memory", MEMORY_KIND
    label = gettext_lazy("Memories of rebuilds")
    effects = (effect_on("rebuilt_memory", label, gettext_lazy("to the trash, restorable like others")),)
    audit_key, record_key = "rebuilt_memories", "rebuilt_memory"


class RebuiltTagRollback(RunRollback):
    """Tags that rebuilds inferred."""

    name, changes = "rebuilt_tag", TAG
    label = gettext_lazy("Tags of rebuilds")
    effects = (effect_on("rebuilt_tag", label, gettext_lazy("back to what counted before")),)
    audit_key, record_key = "rebuilt_tags", "rebuilt_tag"


class RebuiltSummaryRollback(RunRollback):
    """Trading summaries."""

    name, changes = "rebuilt_summary", PROFILE_SUMMARY
    label = gettext_lazy("Summaries of rebuilds")
    effects = (effect_on("rebuilt_summary", label, gettext_lazy("back to the text before")),)
    audit_key, record_key = "rebuilt_summaries", "rebuilt_summary"


ROLLBACKS = (DocumentRollback(), RebuiltMemoryRollback(), RebuiltTagRollback(), RebuiltSummaryRollback())
