"""What a flow wants of a run: its question, and what it makes of the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from minara_site.kernel.changes.core import State
from profile_app.rebuild.core import ModelAnswer

Written = list[tuple[dict[str, str], Any, State]]
"""Lines of the run (`kind`, `key` and what it says besides), each with its row and what that was before."""


@dataclass(frozen=True, slots=True)
class Work:
    """One question. `read` is what the run says of it, `before` and `after` are columns of the profile.

    `write` stores what counts of the answer, in the run's transaction; what does not it counts in the run, by why.
    `has_more` says that the next run has something to read.
    """

    system: str
    content: str
    answer: type[ModelAnswer]
    max_tokens: int
    read: Mapping[str, Any]
    write: Callable[..., Written]
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    has_more: bool = False
