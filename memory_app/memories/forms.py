"""The forms of memories: one statement with its label and tickers, and the reason of an operator."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.pages.labels import DIMENSIONS
from learning_app.vocabulary import PreferenceDimension
from memory_app.memories.core import MAX_CONTENT_CHARS
from memory_app.memories.models import Memory
from memory_app.memories.services import MAX_REASON_CHARS, Changes
from minara_site.web.forms import StatementField, reason_field

SEPARATORS = re.compile(r"[\s,;]+")


class TickersField(forms.CharField):
    """Tickers in one line, parted by spaces or commas."""

    widget = forms.TextInput(
        attrs={
            "autocapitalize": "characters",
            "autocomplete": "off",
            "spellcheck": "false",
        }
    )

    def to_python(self, value: Any) -> tuple[str, ...]:  # type: ignore[override]
        """Return the tickers as typed; the service judges them."""
        return tuple(part for part in SEPARATORS.split(str(super().to_python(value))) if part)

    def prepare_value(self, value: Any) -> Any:
        """Show stored tickers as one line."""
        return value if isinstance(value, str) else " ".join(value or ())


class MemoryForm(forms.Form):
    """What the user states about themselves. Lengths and tickers are judged by the service."""

    statement = StatementField(
        count="memories:count",
        max_chars=MAX_CONTENT_CHARS,
        rows=4,
        label=_("What should the agent know?"),
        help_text=_("One statement, up to 4,000 characters. No passwords and no keys."),
    )
    fact_type = forms.CharField(
        label=_("Label"),
        required=False,
        help_text=_("A label to filter by, such as risk or habit."),
        widget=forms.TextInput(attrs={"maxlength": 64, "autocomplete": "off"}),
    )
    tickers = TickersField(
        label=_("Tickers"),
        required=False,
        help_text=_("Such as BTC or EUR/USD."),
    )

    def changes(self) -> Changes:
        """Return the valid input as an edit."""
        clean = self.cleaned_data
        return Changes(
            content=clean["statement"],
            fact_type=clean["fact_type"],
            tickers=clean["tickers"],
        )


class EditForm(MemoryForm):
    """A change of a memory, with the version that its editor read; `sure` says that a hard constraint is meant."""

    reason = reason_field(
        _("Why"),
        MAX_REASON_CHARS,
        _("Kept in the history."),
        required=False,
    )
    version = forms.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )
    sure = forms.CharField(required=False, max_length=1, widget=forms.HiddenInput)

    @staticmethod
    def initial_of(memory: Memory) -> dict[str, Any]:
        """Return the stored values."""
        return {
            "statement": memory.content,
            "fact_type": memory.fact_type,
            "tickers": memory.tickers,
            "version": memory.version,
        }


class ConstraintForm(forms.Form):
    """What a hard constraint limits, when a memory is proposed as one."""

    dimension = forms.ChoiceField(
        label=_("What it limits"),
        choices=[*DIMENSIONS.items()],
        initial=PreferenceDimension.RISK_LIMIT,
    )


class ReasonForm(forms.Form):
    """Why an operator deletes or restores what belongs to somebody else; the owner can read it."""

    reason = reason_field(_("Reason"), MAX_REASON_CHARS, _("Up to 200 characters."))
