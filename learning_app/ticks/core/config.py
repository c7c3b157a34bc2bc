"""What a version of a skill says: strategy, avoid rules, and how the memory of its trades is used. Source: S4. Pure."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from learning_app.lessons.core import Cadence, Compare

MAX_K, DEFAULT_K = 30, 10
MAX_STRATEGY_CHARS, MAX_AVOID, MAX_RULE_CHARS, MAX_N = 8_000, 50, 500, 1_000
Rule = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_RULE_CHARS)]


def without_nulls(values: Any) -> Any:
    """Return a mapping without what is null: null is absent."""
    return {name: value for name, value in values.items() if value is not None} if isinstance(values, dict) else values


class Part(BaseModel):
    """A part of the configuration; what nobody knows is refused, and null is absent."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    _read = model_validator(mode="before")(without_nulls)


class ReflectionConfig(Part):
    """When lessons are distilled, by which model, and whether two revisions take turns."""

    cadence: Cadence = Cadence.OFF
    everyNTrades: Annotated[int, Field(ge=1, le=MAX_N)] = 10  # noqa: N815 - S4's names
    model: Annotated[str | None, Field(max_length=80)] = None
    compare: Compare = Compare.OFF


class MemoryConfig(Part):
    """Whether the agent reads its record, and how many closed trades of it."""

    enabled: bool = True
    recentTradesK: Annotated[int, Field(ge=0, le=MAX_K)] = DEFAULT_K  # noqa: N815 - S4's names
    reflection: ReflectionConfig = ReflectionConfig()


class SkillConfig(Part):
    """The whole of it."""

    strategy: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_STRATEGY_CHARS)] = ""
    avoid: Annotated[tuple[Rule, ...], Field(max_length=MAX_AVOID)] = ()
    memory: MemoryConfig = MemoryConfig()
