"""Reads of governance: how capabilities stand, what ran in shadow mode, how the breakers are."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import QuerySet

from minara_site.kernel.db import fetch_row
from minara_site.kernel.governance.core import Circuit, Mode, mode_from
from minara_site.kernel.governance.models import CapabilitySwitch, CircuitBreaker, ShadowDecision
from minara_site.kernel.governance.table import Capability, load_capabilities
from minara_site.kernel.ownership import EVERYONE, Owner


@dataclass(frozen=True, slots=True)
class CapabilityStatus:
    """How a capability stands; `switch` says who set it so and why, None while nobody touched it."""

    capability: Capability
    mode: Mode
    switch: CapabilitySwitch | None


def mode_of(capability: Capability) -> Mode:
    """Return the mode of a capability: on without a row. One query, in no cache, so that off means off at once."""
    row = fetch_row(CapabilitySwitch, capability.name, "mode")
    return mode_from(row[0] if row else None, has_shadow=capability.has_shadow)


def list_statuses() -> list[CapabilityStatus]:
    """Return how every capability stands, in the apps' order. One query."""
    switches = CapabilitySwitch.objects.in_bulk()
    found = [(capability, switches.get(name)) for name, capability in load_capabilities().items()]
    return [
        CapabilityStatus(
            each,
            mode_from(row.mode if row else None, has_shadow=each.has_shadow),
            row,
        )
        for each, row in found
    ]


def has_shadow(capability: Capability, subjects: Collection[str]) -> set[str]:
    """Return those of the subjects that this capability has decided on in shadow. One query."""
    decided = ShadowDecision.objects.filter(capability=capability.name, subject__in=subjects)
    return set(decided.values_list("subject", flat=True))


def list_shadows(*, owner: Owner = EVERYONE) -> "QuerySet[ShadowDecision]":
    """Return what ran in shadow mode, unordered."""
    return ShadowDecision.objects.for_owner(owner)


def circuit_of(row: CircuitBreaker | None) -> Circuit:
    """Return what a breaker's row says to its rule; without a row nothing ever failed."""
    return Circuit(row.failures, row.trips, row.open_until, row.probe_until) if row else Circuit()
