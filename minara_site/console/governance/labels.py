"""Modes of capabilities, and what ran in shadow mode, in words."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.core import Mode
from minara_site.web.filters import Text

MODES: dict[Mode, Text] = {
    Mode.ON: _("On"),
    Mode.SHADOW: _("Shadow"),
    Mode.OFF: _("Off"),
}
MODE_TEXTS: dict[Mode, Text] = {
    Mode.ON: _("On: it decides, and what it decides takes effect."),
    Mode.SHADOW: _("Shadow: it decides and is paid for, and what it would do is only listed."),
    Mode.OFF: _("Off: it does nothing."),
}
MODE_BADGES: dict[Mode, str] = {Mode.ON: "active", Mode.SHADOW: "proposed", Mode.OFF: "retired"}
VERDICTS: dict[str, Text] = {
    "supersede": _("The newer fact would replace the older one."),
    "keep_older": _("The older fact would stay, the newer one would be retired."),
    "keep_both": _("Both facts would stay."),
    "unsure": _("It could not tell; the pair would wait for a person."),
    "flag": _("The methodology would be flagged."),
    "recovery": _("The methodology would be seen as recovering."),
}
PARTS: dict[str, Text] = {
    "outcome": _("Outcome"),
    "pnl_pct": _("P&L"),
    "class": _("Class"),
    "narrative": _("Narrative"),
    "lesson": _("Lesson"),
    "reason": _("Reason"),
    "score": _("Score"),
    "name": _("Name"),
    "trigger": _("Trigger"),
    "guidance": _("Guidance"),
    "methodology": _("Methodology"),
    "evidence": _("Evidence"),
    "preferences": _("Preferences"),
}
