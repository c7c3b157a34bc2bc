"""The form in which a person says what came of a decision."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from minara_site.web.moments import MINUS

MAX_NOTE_CHARS = 500
MAX_PERCENT = 1_000_000


class PercentField(forms.FloatField):
    """A number of percent, also with the minus that pages write."""

    def to_python(self, value: Any) -> Any:
        """Return the number. Raises ValidationError for text that is none."""
        return super().to_python(value.replace(MINUS, "-") if isinstance(value, str) else value)


class OutcomeForm(forms.Form):
    """Right or wrong, and what the person adds to it."""

    correct = forms.ChoiceField(
        choices=(("yes", _("Right")), ("no", _("Wrong"))),
        error_messages={
            "required": _("Choose right or wrong."),
            "invalid_choice": _("Choose right or wrong."),
        },
    )
    pnl_pct = PercentField(
        required=False,
        min_value=-MAX_PERCENT,
        max_value=MAX_PERCENT,
        error_messages={"invalid": _("Write the profit or loss as a number of percent, such as -1.5.")},
    )
    note = forms.CharField(required=False, max_length=MAX_NOTE_CHARS)

    @property
    def problems(self) -> list[str]:
        """Return what is wrong, in sentences."""
        return [str(message) for messages in self.errors.values() for message in messages]
