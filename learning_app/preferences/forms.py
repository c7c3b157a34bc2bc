"""The forms of preferences: a wish of one's own, other words for a proposal, and the typed value of a limit."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import MAX_REASON_CHARS, MAX_STATEMENT_CHARS, typed_value_of
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import DIMENSIONS
from learning_app.vocabulary import PreferenceDimension, PreferenceKind

KINDS = (
    (PreferenceKind.SOFT_PREFERENCE, _("Soft preference: the agent weighs it")),
    (PreferenceKind.HARD_CONSTRAINT, _("Hard constraint: a limit that the agent must keep")),
)


class StatementField(forms.CharField):
    """What a preference says, kept as it was typed but for the line ends that browsers send."""

    widget = forms.Textarea(
        attrs={
            "rows": 3,
            "maxlength": MAX_STATEMENT_CHARS,
            "spellcheck": "true",
            "hx-post": reverse_lazy("preferences:count"),
            "hx-trigger": "input changed delay:300ms",
            "hx-target": "next [data-count]",
            "hx-swap": "innerHTML",
            "hx-sync": "this:replace",
        }
    )

    def to_python(self, value: Any) -> str:
        """Return the text with plain line feeds."""
        return str(super().to_python(value)).replace("\r\n", "\n")


class ProposalForm(forms.Form):
    """What somebody prefers. Lengths are judged by the service."""

    statement = StatementField(
        label=_("What do you prefer?"), help_text=_("One wish, up to 4,000 characters. No passwords and no keys.")
    )
    dimension = forms.ChoiceField(
        label=_("What it is about"), choices=list(DIMENSIONS.items()), initial=PreferenceDimension.STYLE
    )
    kind = forms.ChoiceField(
        label=_("How binding"), choices=KINDS, initial=PreferenceKind.SOFT_PREFERENCE, widget=forms.RadioSelect
    )


class WordsForm(forms.Form):
    """Other words in which a proposal is approved, with the version that their writer read."""

    statement = StatementField(label=_("What agents will read"))
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)


class ReasonForm(forms.Form):
    """Why several proposals are rejected."""

    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON_CHARS,
        help_text=_("Up to 200 characters, the same for all."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class LimitForm(forms.Form):
    """The typed value with which the owner of a hard constraint activates or archives it.

    `statement` are other words to activate, empty where it stays as it is; `version` is the one that its owner read.
    """

    typed = forms.CharField(max_length=64, widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}))
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    statement = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)

    def __init__(self, row: Preference, words: str, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"version": row.version, "statement": words if words != row.statement else ""})
        self.value = typed_value_of(words, row.dimension)
        self.fields["typed"].label = _("Type “%(value)s” to confirm") % {"value": self.value}
