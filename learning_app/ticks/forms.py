"""The memory settings of a trading agent."""

from typing import Any, Self

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from learning_app.lessons.core import Cadence, Compare
from learning_app.ticks.core.config import MAX_K, MAX_N, MemoryConfig, ReflectionConfig

CADENCES = (
    (Cadence.OFF, _("Never")),
    (Cadence.PER_N_TRADES, _("After a number of trades")),
    (Cadence.DAILY, _("Once a day")),
)
COMPARES = (
    (Compare.OFF, _("Always the newest")),
    (Compare.ALTERNATE, _("The newest and the one before it take turns, so that they can be compared")),
)


class SettingsForm(forms.Form):
    """What of its record the agent reads, and when lessons are made of it."""

    enabled = forms.BooleanField(label=_("The agent reads its own record"), required=False)
    recent_trades = forms.IntegerField(label=_("Closed trades that it reads"), min_value=0, max_value=MAX_K)
    cadence = forms.ChoiceField(label=_("New lessons"), choices=CADENCES)
    every_n = forms.IntegerField(label=_("Number of trades"), min_value=1, max_value=MAX_N)
    compare = forms.ChoiceField(label=_("Lessons that it reads"), choices=COMPARES)

    @classmethod
    def of(cls, config: MemoryConfig, data: QueryDict | None = None) -> Self:
        """Return the form with what counts now."""
        said = config.reflection
        initial: dict[str, Any] = {
            "enabled": config.enabled,
            "recent_trades": config.recentTradesK,
            "cadence": said.cadence,
            "every_n": said.everyNTrades,
            "compare": said.compare,
        }
        return cls(data, initial=initial)

    def config(self, before: MemoryConfig) -> MemoryConfig:
        """Return what a valid form says; the model stays as it was."""
        said = self.cleaned_data
        return MemoryConfig(
            enabled=said["enabled"],
            recentTradesK=said["recent_trades"],
            reflection=ReflectionConfig(
                cadence=said["cadence"],
                everyNTrades=said["every_n"],
                model=before.reflection.model,
                compare=said["compare"],
            ),
        )
