"""How a skill declares its roles in Python. Source: S0 (DomainSkill.memoryRoles[]). Pure.

    valuation = DomainSkill(
        id="analysis.valuation",
        label="Valuation",
        memory_roles=(MemoryRole(id="analysis.valuation.target_price", ...),),
    )

A declaration that cannot work raises ValueError where it is written, so that the start fails and not the reflection.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from memory_app.roles.core.states import Trigger

ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_ID_CHARS = 120
MAX_PROMPT_CHARS = 4_000
MAX_FAILURE_MODES = 12
CRON_FIELDS = 5  # a sixth would be seconds; roles are looked at once a minute


@dataclass(frozen=True, slots=True)
class PriceDelta:
    """The outcome is the change of the price of `inputs[asset_field]` over a window from decision and arrival on.

    `tolerance_hours` is how late a price may be at either end; None takes what the window and the asset's class allow.
    """

    window_hours: float
    asset_field: str = "asset"
    tolerance_hours: float | None = None

    def __post_init__(self) -> None:
        require(self.window_hours > 0, "window_hours must be above 0")
        require(
            self.tolerance_hours is None or self.tolerance_hours > 0,
            "tolerance_hours must be above 0",
        )


@dataclass(frozen=True, slots=True)
class Custom:
    """The outcome comes from the probe that is registered under this id."""

    probe_id: str


@dataclass(frozen=True, slots=True)
class Manual:
    """A person, or an agent for its owner, says what came of it."""


OutcomeProbe = PriceDelta | Custom | Manual


@dataclass(frozen=True, slots=True)
class RefetchSource:
    """Runs a read-only tool again. `param_mapper` names what it is given: `asset→symbol`, several with commas."""

    tool: str
    param_mapper: str = ""


@dataclass(frozen=True, slots=True)
class NewsSnapshot:
    """Headlines about the asset between the decision and the outcome."""

    asset_field: str = "asset"


@dataclass(frozen=True, slots=True)
class OnchainSnapshot:
    """On-chain figures of the asset between the decision and the outcome."""

    asset_field: str = "asset"


PostHocProbe = RefetchSource | NewsSnapshot | OnchainSnapshot


@dataclass(frozen=True, slots=True)
class ReflectionPolicy:
    """When a role's decisions are judged, by what, and with which evidence.

    An entry is judged from `min_age_hours` after its decision on and skipped `max_age_hours` after it. `cron_expr` is
    in UTC and needed for the trigger `cron`.
    """

    outcome_probe: OutcomeProbe
    min_age_hours: float
    max_age_hours: float
    triggers: tuple[Trigger, ...] = (Trigger.CRON,)
    cron_expr: str = ""
    post_hoc_probes: tuple[PostHocProbe, ...] = ()

    def __post_init__(self) -> None:
        require(self.min_age_hours >= 0, "min_age_hours must not be negative")
        require(self.max_age_hours > self.min_age_hours, "max_age_hours must be above min_age_hours")
        window = self.outcome_probe.window_hours if isinstance(self.outcome_probe, PriceDelta) else 0
        require(self.min_age_hours >= window, "min_age_hours must not be below the window of the price")
        require(
            Trigger.CRON not in self.triggers or is_cron(self.cron_expr),
            "cron_expr must be a cron expression",
        )


@dataclass(frozen=True, slots=True)
class MemoryRole:
    """A named decision context of a skill, with its own failure modes, prompt and policy. `id` is globally unique."""

    id: str
    label: str
    failure_modes: tuple[str, ...]
    reflection_prompt: str
    reflection_policy: ReflectionPolicy

    def __post_init__(self) -> None:
        require(is_id(self.id), f"{self.id!r} is no role id: lower case words with dots between them")
        require(bool(self.label.strip()), f"the role {self.id} needs a label")
        require(
            0 < len(self.failure_modes) <= MAX_FAILURE_MODES,
            f"the role {self.id} needs 1 to 12 failure modes",
        )
        prompt = self.reflection_prompt.strip()
        require(0 < len(prompt) <= MAX_PROMPT_CHARS, f"the role {self.id} needs a prompt of at most 4000 characters")


@dataclass(frozen=True, slots=True)
class DomainSkill:
    """A capability bundle of the agent, as far as memory is concerned: its id and the roles that it owns."""

    id: str
    label: str
    memory_roles: tuple[MemoryRole, ...] = ()

    def __post_init__(self) -> None:
        require(is_id(self.id), f"{self.id!r} is no skill id: lower case words with dots between them")


@dataclass(frozen=True, slots=True)
class DeclaredRole:
    """A role and the skill that owns it."""

    role: MemoryRole
    skill: DomainSkill

    @property
    def id(self) -> str:
        """The id of the role, unique over all skills."""
        return self.role.id

    @property
    def policy(self) -> ReflectionPolicy:
        """When its decisions are judged, and by what."""
        return self.role.reflection_policy


def is_id(text: str) -> bool:
    """Say whether this can be the id of a skill or role."""
    return len(text) <= MAX_ID_CHARS and ID.fullmatch(text) is not None


def is_cron(expression: str) -> bool:
    """Say whether this is a cron expression of five fields."""
    if len(expression.split()) != CRON_FIELDS:
        return False
    try:
        CronSim(expression, EPOCH)
    except CronSimError:
        return False
    return True


def require(is_met: bool, problem: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise ValueError with the problem unless the condition is met."""
    if not is_met:
        raise ValueError(problem)
