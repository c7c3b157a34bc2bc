"""The app's kinds of rows that writers write: which a roll-back changes, and which stay."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy

from learning_app.cases.models import CASE_KIND, TradingCase
from learning_app.learnings.core import LEARNING_KIND
from learning_app.ledger.core import DEPLOYMENT_KIND, TRADE_KIND
from learning_app.ledger.models import Trade
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.vocabulary import PreferenceState, QuarantinedBy
from minara_site.kernel.changes.core import State
from minara_site.kernel.rollback import ChangesRollback, Effect, RecordRollback

BEFORE, AGAIN = gettext_lazy("back to what was before"), gettext_lazy("as the writer left them")


class MethodologyRollback(ChangesRollback):
    """Methodologies, which belong to the instance: none is deleted, and cases that refer to them stay as they are."""

    name = METHODOLOGY_KIND
    label = gettext_lazy("Methodologies")
    writes = {"methodology_created": "methodology"}
    import_acts = ("methodology_created",)
    effects = (
        Effect(
            "methodology",
            label,
            gettext_lazy("into quarantine, until an operator releases them"),
            gettext_lazy("back to where they were before"),
        ),
        Effect("methodology_state", gettext_lazy("Decisions on methodologies"), BEFORE, AGAIN, follows=True),
    )
    audit_key, record_key = "methodologies", "methodology"
    page, category = "methodologies:one", "asset_class"

    def effect_of(self, state: State, target: State) -> str:
        is_taken_out = target["quarantined_by"] == QuarantinedBy.OPERATOR
        return "methodology" if is_taken_out else "methodology_state"


class CaseRollback(RecordRollback):
    """Trading cases."""

    name, model = CASE_KIND, TradingCase
    label, record_name = gettext_lazy("Trading cases"), gettext_lazy("trading case %(id)d")
    audit_key, record_key = "cases", "case"

    def url(self, object_id: Any) -> str:
        return reverse("cases:one", args=[object_id])


class TradeRollback(RecordRollback):
    """Trades that agents recorded in a session."""

    name, model = TRADE_KIND, Trade
    label, record_name = gettext_lazy("Trades"), gettext_lazy("trade %(id)d")
    audit_key, record_key = "trades", "trade"


class DeploymentRollback(ChangesRollback):
    """Which version of its skill a trading agent runs."""

    name = DEPLOYMENT_KIND
    label = gettext_lazy("Trading agents")
    writes = {"deployment_changed": "deployment"}
    effects = (Effect("deployment", label, BEFORE, AGAIN),)
    audit_key, record_key = "deployments", "deployment"
    page = "ticks:deployment"

    def effect_of(self, state: State, target: State) -> str:
        return "deployment"


class LearningRollback(ChangesRollback):
    """Learnings: what a writer stored is deleted, what it edited, deleted or restored is as before."""

    name = LEARNING_KIND
    label = gettext_lazy("Learnings")
    writes = {"learning_stored": "learning", "learning_edited": "learning_guidance"}
    effects = (
        Effect(
            "learning",
            label,
            gettext_lazy("deleted, restorable like others"),
            gettext_lazy("restored"),
        ),
        Effect(
            "learning_guidance",
            gettext_lazy("Guidance of learnings"),
            gettext_lazy("back to the text before"),
            gettext_lazy("the edited text again"),
            column=gettext_lazy("Guidance"),
        ),
        Effect("learning_state", gettext_lazy("Deletions of learnings"), BEFORE, AGAIN, follows=True),
    )
    audit_key, record_key = "learnings", "learning"
    page = "learnings:one"

    def effect_of(self, state: State, target: State) -> str:
        if state["deleted_at"] == target["deleted_at"]:
            return "learning_guidance"
        return "learning" if target["deleted_at"] else "learning_state"


class PreferenceRollback(ChangesRollback):
    """Preferences: what a writer proposed is rejected, what it decided is as before. A person's decision stays."""

    name = PREFERENCE_KIND
    label = gettext_lazy("Preferences")
    writes = {"preference_proposed": "preference"}
    import_acts = ("preference_proposed",)
    effects = (
        Effect(
            "preference",
            label,
            gettext_lazy("rejected, unless a person decided"),
            gettext_lazy("proposed again, or active where they were"),
        ),
        Effect("preference_state", gettext_lazy("Decisions on preferences"), BEFORE, AGAIN, follows=True),
    )
    audit_key, record_key = "preferences", "preference"
    page, category = "preferences:one", "dimension"

    def effect_of(self, state: State, target: State) -> str:
        return "preference" if target["state"] == PreferenceState.REJECTED else "preference_state"


ROLLBACKS = (
    MethodologyRollback(),
    CaseRollback(),
    TradeRollback(),
    DeploymentRollback(),
    LearningRollback(),
    PreferenceRollback(),
)
