"""Capabilities, how they stand, and what was decided in shadow, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.core import Capability, Mode
from minara_site.web.filters import Text


@dataclass(frozen=True, slots=True)
class Described:
    """A capability: its name, and what it does while it is on."""

    name: Text
    text: Text


CAPABILITIES: dict[Capability, Described] = {
    Capability.MODEL_CALLS: Described(
        _("Model calls"),
        _("Everything that asks a model. Off, nothing is asked and nothing is spent; the rest goes on."),
    ),
    Capability.ROLE_REFLECTION: Described(
        _("Reflection of roles"),
        _("A model says why a decision went wrong, and writes a lesson where there is one."),
    ),
    Capability.CONTRADICTION_JUDGE: Described(
        _("Judge of contradictions"),
        _("A model decides which of two facts stands that contradict each other."),
    ),
}
MODES: dict[Mode, Text] = {Mode.ON: _("On"), Mode.SHADOW: _("Shadow"), Mode.OFF: _("Off")}
MODE_TEXTS: dict[Mode, Text] = {
    Mode.ON: _("On: it decides, and what it decides stands."),
    Mode.SHADOW: _("Shadow: it decides and is paid for, and what it would do is only listed."),
    Mode.OFF: _("Off: it does nothing."),
}
MODE_BADGES: dict[Mode, str] = {Mode.ON: "active", Mode.SHADOW: "proposed", Mode.OFF: "retired"}
VERDICTS: dict[str, Text] = {
    "supersede": _("The newer fact would replace the older one."),
    "keep_older": _("The older fact would stay, the newer one would be retired."),
    "keep_both": _("Both facts would stay."),
    "unsure": _("It could not tell; the pair would wait for a person."),
}
PARTS: dict[str, Text] = {
    "outcome": _("Outcome"),
    "pnl_pct": _("P&L"),
    "class": _("Class"),
    "narrative": _("Narrative"),
    "lesson": _("Lesson"),
    "reason": _("Reason"),
}
