"""A question to a model, a step of a conversation with it, and their answers. Source: decisions (model calls)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from minara_site.kernel.llm.core.tiers import Tier
from minara_site.kernel.llm.core.windows import Category

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """What a model is asked. `answer` is the input schema of the tool that it must call; `content` is data.

    `task` is `<room>.<what for>`, `subject` what it is about, `owner_id` whose data it is, None for the instance's own.
    `system` is the same for every question of a task, so that it is cached. With `within_seconds` somebody waits: it
    is asked once, without a second try or a repair, and given up after that time. `check` says in words for the model
    what is wrong with an answer that fits the schema, empty for nothing; it is repaired like one that does not fit.
    `model` is asked in place of the tier's; one whose price is not known is refused.
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
    within_seconds: float | None = None
    check: Callable[[T], str] | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What came back, and what it cost; a repaired answer has two rows of usage."""

    value: T
    model: str
    usage_ids: tuple[int, ...]
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class Conversation:
    """What an agent has said and done so far; the model answers with text, calls of tools, or both.

    `system` are blocks that stay the same for a whole session, so that they are cached; `notes` stand behind them in
    this step alone. `turns` are messages of the Messages API, the last one the user's. `tools` are its definitions.
    """

    category: Category
    task: str
    tier: Tier
    system: Sequence[str]
    turns: tuple[dict[str, Any], ...]
    tools: Sequence[dict[str, Any]]
    max_tokens: int
    notes: Sequence[str] = ()
    subject: str = ""
    owner_id: int | None = None
    within_seconds: None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the model calls; `arguments` are as it wrote them, checked by whoever runs it."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said in one step; `is_cut` says that the answer broke off: then no call of it is whole.

    `content` are the blocks that go back unchanged as the assistant's turn, empty when it said nothing.
    """

    text: str
    tool_calls: tuple[ToolUse, ...]
    content: list[dict[str, Any]]
    is_cut: bool
    model: str
    usage_ids: tuple[int, ...]
    cost_usd: Decimal


ModelRequest: TypeAlias = Question[Any] | Conversation
