"""The registry of custom probes: functions that say what came of a decision, by their id. Source: S0.

    @register_probe("whale_followthrough")
    def whale_followthrough(entry, now):
        ...

A module that declares skills registers the probes of its roles; the start fails for a role without its probe.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_app.roles.core import SkipReason
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.result import ProbeResult

Probe = Callable[[RoleMemory, datetime], ProbeResult | SkipReason | None]
CheckInputs = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class CustomProbe:
    """A probe: what it asks, and what it needs of a decision's inputs (raises Invalid)."""

    ask: Probe
    check: CheckInputs | None = None


_probes: dict[str, CustomProbe] = {}


def register_probe(probe_id: str, *, check: CheckInputs | None = None) -> Callable[[Probe], Probe]:
    """Register a function as the custom probe of this id. Raises ValueError when another has it."""

    def register(ask: Probe) -> Probe:
        known = _probes.get(probe_id)
        if known is not None and known.ask.__qualname__ + known.ask.__module__ != ask.__qualname__ + ask.__module__:
            owners = f"{known.ask.__module__} and {ask.__module__}"
            raise ValueError(f"the probe {probe_id} is registered twice, by {owners}; rename one")
        _probes[probe_id] = CustomProbe(ask, check)
        return ask

    return register


def custom_probes() -> Mapping[str, CustomProbe]:
    """Return the registered probes by id."""
    return _probes
