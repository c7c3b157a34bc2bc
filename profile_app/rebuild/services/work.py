"""What a flow wants of a run: its question, and what it makes of the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from minara_site.kernel.changes.core import Step
from profile_app.rebuild.core import Flow

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the changes of rows, a line about each, and what of the answer did not count, by why."""

    steps: Sequence[Step]
    lines: Sequence[Mapping[str, Any]]
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Work(Generic[T]):
    """One question. `read` is what the run says of it, `before` and `after` are columns of the profile.

    `wakes` are the flows for which the result is news; `has_more` says that the next run has something to read.
    """

    system: str
    content: str
    answer: type[T]
    max_tokens: int
    read: Mapping[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    write: Callable[..., Written]
    wakes: tuple[Flow, ...] = ()
    has_more: bool = False
