"""The tools that `refetch_source` may run again: those that only read, by their name. Source: S0 (post-hoc probe).

A module that declares skills may register more:

    register_source(SourceTool("get_funding", ("symbol",), get_funding, is_read_only=True))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minara_site.kernel.market.core.evidence import EvidenceItem


@dataclass(frozen=True, slots=True)
class EvidenceContext:
    """For whom a source is asked, about which decision. Evidence of a decision never comes from another owner.

    `outcome_at` is when its outcome was known, `now` when the evidence is collected.
    """

    owner: Any
    decided_at: datetime
    outcome_at: datetime
    now: datetime


Run = Callable[..., Iterable[EvidenceItem]]


@dataclass(frozen=True, slots=True)
class SourceTool:
    """A tool: what it is given by name, and what it returns when it is called with an `EvidenceContext` and these."""

    name: str
    parameters: tuple[str, ...]
    run: Run
    is_read_only: bool


_sources: dict[str, SourceTool] = {}


def register_source(source: SourceTool) -> None:
    """Let the reflector run this tool again. Raises ValueError for one that writes, and for a name that is taken."""
    if not source.is_read_only:
        raise ValueError(f"the tool {source.name} writes; the reflector runs only tools that read")
    known = _sources.get(source.name)
    if known is not None and known != source:
        raise ValueError(f"the tool {source.name} is registered twice; rename one")
    _sources[source.name] = source


def find_source(name: str) -> SourceTool | None:
    """Return the tool of this name, None when the reflector may run none of that name."""
    return _sources.get(name)


def list_sources() -> list[SourceTool]:
    """Return every tool that the reflector may run, by name."""
    return [_sources[name] for name in sorted(_sources)]
