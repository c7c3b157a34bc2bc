"""The facet of a kind of which keys may propose changes: how one is shown, and how it is carried out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.utils.functional import Promise

from minara_site.kernel.proposals.models import ProposedChange
from minara_site.kernel.registry import facets

Label = str | Promise


class Proposed(ABC):
    """A kind of which keys propose changes. `actions` are what they may ask for, in words for pages.

    `asks_fresh` says that its owner proves who they are before they approve.
    """

    name: ClassVar[str]
    actions: ClassVar[Mapping[str, Label]]
    asks_fresh: ClassVar[bool] = False

    @abstractmethod
    def title(self, proposal: ProposedChange) -> str:
        """Return what the proposal is about."""

    @abstractmethod
    def url(self, proposal: ProposedChange) -> str:
        """Return the page of what it is about."""

    @abstractmethod
    def before(self, proposal: ProposedChange) -> str | None:
        """Return what stands now, as text; None where the row is gone."""

    @abstractmethod
    def after(self, proposal: ProposedChange) -> str:
        """Return what would stand, as text; empty for nothing."""

    @abstractmethod
    def seen(self, owner: Any, key: str) -> str:
        """Return what stands for the row as it is now, at most 64 characters; empty where it is gone."""

    @abstractmethod
    def apply(self, proposal: ProposedChange, *, principal: Any, now: datetime) -> str | None:
        """Carry it out as its owner, by the room's own service; return where that is undone, None for on its page."""


def proposed_kinds() -> dict[str, Proposed]:
    """Return the facet of each kind that has one, by the kind's name."""
    return {facet.name: facet for facet in facets(Proposed)}  # type: ignore[type-abstract]
