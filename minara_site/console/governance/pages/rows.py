"""What the page shows: capabilities, breakers, the model, and shadow decisions as their reader may see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from memory_app.capabilities import CONTRADICTION_JUDGE
from memory_app.facts.pages.rows import VerdictView, verdicts_of
from memory_app.roles.labels import decided_texts
from memory_app.subjects import CONFLICT
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.console.governance.labels import MODE_BADGES, MODES, PARTS, VERDICTS
from minara_site.kernel.governance.core import Phase
from minara_site.kernel.governance.models import CircuitBreaker, ShadowDecision
from minara_site.kernel.governance.selectors import CapabilityStatus, circuit_of, list_statuses
from minara_site.kernel.governance.subjects import read_subject, subject_label, subject_url
from minara_site.kernel.governance.table import Capability, load_capabilities
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.llm.gateway import what_is_missing
from minara_site.web.filters import Text
from minara_site.web.labels import enumeration

ANTHROPIC = "api.anthropic.com"


@dataclass(frozen=True, slots=True)
class CapabilityView:
    """A capability as a panel's line; `setting` is what an environment variable says about it, if one does."""

    status: CapabilityStatus
    author: str
    setting: Text = ""

    @property
    def mode(self) -> Text:
        return MODES[self.status.mode]

    @property
    def badge(self) -> str:
        return MODE_BADGES[self.status.mode]


@dataclass(frozen=True, slots=True)
class BreakerView:
    """A breaker as a panel's line."""

    row: CircuitBreaker
    phase: Phase
    tries_again_at: datetime | None

    @property
    def is_closed(self) -> bool:
        """Whether calls go through."""
        return self.phase is Phase.CLOSED


@dataclass(frozen=True, slots=True)
class ModelView:
    """What is asked, and what is missing before it can be; never the key."""

    missing: str
    fast: str
    main: str
    host: str


@dataclass(frozen=True, slots=True)
class ShadowView:
    """A shadow decision as a row: `parts` are labels and texts, `url` leads to what it is about."""

    row: ShadowDecision
    capability: Text
    headline: Text
    parts: Sequence[tuple[Text, str]]
    subject: Text
    url: str

    @property
    def pk(self) -> int:
        return self.row.pk


def show_capabilities(*, reader: User) -> list[CapabilityView]:
    """Return every capability with who set it so. Three queries at most."""
    standings = list_statuses()
    names = name_actors(
        {each.switch.actor for each in standings if each.switch},
        reader=reader,
    )
    return [
        CapabilityView(
            each,
            names[each.switch.actor] if each.switch else "",
            setting_of(each.capability),
        )
        for each in standings
    ]


def setting_of(capability: Capability) -> Text:
    """Return what the environment says about a capability that it must allow besides."""
    if capability is not CONTRADICTION_JUDGE:
        return ""
    if settings.MINARA.memory_consolidation_enabled:
        return _("MEMORY_CONSOLIDATION_ENABLED is true: it judges while it is on.")
    return _("MEMORY_CONSOLIDATION_ENABLED is false: set it to 1 and restart, or nothing is judged.")


def show_breakers(*, now: datetime) -> list[BreakerView]:
    """Return every breaker that ever met a failure, by name. One query."""
    shown = [(row, circuit_of(row)) for row in CircuitBreaker.objects.order_by("name")]
    return [
        BreakerView(
            row,
            circuit.phase(now),
            circuit.tries_again_at(now),
        )
        for row, circuit in shown
    ]


def show_model() -> ModelView:
    """Return which models are asked, and where."""
    config = settings.MINARA
    host = urlsplit(config.anthropic_base_url).hostname if config.anthropic_base_url else ANTHROPIC
    return ModelView(
        what_is_missing(),
        config.minara_model_fast,
        config.minara_model_main,
        host or "",
    )


def show_shadows(rows: Sequence[ShadowDecision], *, reader: User) -> list[ShadowView]:
    """Return shadow decisions as rows. One query at most, for the model's reasons, which go with the facts."""
    subjects = [read_subject(row.subject) for row in rows]
    ids = [int(subject_id) for kind, subject_id in subjects if kind == CONFLICT and subject_id.isdecimal()]
    verdicts = {f"{CONFLICT}:{pk}": verdict for pk, verdict in verdicts_of(ids, reader=reader).items()}
    return [show_shadow(row, verdicts.get(row.subject), reader=reader) for row in rows]


def show_shadow(
    row: ShadowDecision,
    verdict: VerdictView | None,
    *,
    reader: User,
) -> ShadowView:
    """Return one shadow decision as a row; of somebody else's, secrets are masked."""
    texts = decided_texts(row.decision)
    if isinstance(mined := texts.get("preferences"), list):
        texts["preferences"] = enumeration(each["statement"] for each in mined)
    decision = {str(key): str(value) for key, value in texts.items() if value not in (None, "")}
    if verdict is not None and verdict.reason:
        decision["reason"] = verdict.reason
    own = row.owner_id == reader.pk
    parts = [
        (
            label,
            decision[key] if own else mask(decision[key]),
        )
        for key, label in PARTS.items()
        if key in decision
    ]
    declared = load_capabilities().get(row.capability)
    return ShadowView(
        row=row,
        capability=declared.label if declared else row.capability,
        headline=VERDICTS.get(decision.get("verdict", ""), ""),
        parts=parts,
        subject=subject_label(row.subject),
        url=subject_url(row.subject, row.owner.get_username() if row.owner else ""),
    )
