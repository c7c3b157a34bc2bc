"""A question to a model, and its answer. Source: decisions (model calls)."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, TypeVar

from pydantic import BaseModel

from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.core.windows import Category

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What a model is asked. `answer` is the input schema of the tool that it must call; `content` is data.

    `task` is `<room>.<what for>`, `subject` what it is about, `owner_id` whose data it is, None for the instance's own.
    `system` is the same for every question of a task, so that it is cached.
    """

    category: Category
    task: str
    tier: Tier
    system: str
    content: str
    answer: type[T]
    max_tokens: int
    subject: str = ""
    owner_id: int | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came back, and what it cost; a repaired answer has two rows of usage."""

    value: T
    model: str
    usage_ids: tuple[int, ...]
    cost_usd: Decimal
