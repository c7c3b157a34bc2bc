"""The app's kinds of rows that writers write: which a roll-back changes, and which stay."""

from typing import Any, ClassVar

from django.utils.translation import gettext as _, gettext_lazy

from learning_app.cases.rollback import CaseRollback
from learning_app.learnings.rollback import LearningRollback
from learning_app.methodologies.rollback import MethodologyRollback
from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.kinds import preference_url
from minara_site.kernel.rollback import ChangesRollback, Effect, PlanRow


class PreferenceRollback(ChangesRollback):
    """Preferences: what a writer proposed is rejected, what it decided is as before. A person's decision stays."""

    name = PREFERENCE_KIND
    label = gettext_lazy("Preferences")
    writes: ClassVar = {"preference_proposed": "preference"}
    import_acts = ("preference_proposed",)
    effects = (
        Effect(
            "preference",
            label,
            gettext_lazy("rejected, unless a person decided"),
            gettext_lazy("proposed again, or active where they were"),
        ),
    )
    audit_key, record_key = "preferences", "preference"

    def show_row(self, row: Any) -> PlanRow:
        return PlanRow(row.statement, row.owner_id, self.url(row.pk), row.dimension)

    def title(self, object_id: Any) -> str:
        return _("preference %(id)d") % {"id": object_id}

    def url(self, object_id: Any) -> str:
        return preference_url(object_id)


ROLLBACKS = (
    MethodologyRollback(),
    CaseRollback(),
    LearningRollback(),
    PreferenceRollback(),
)
