"""The forms of preferences: a wish of one's own, other words for a proposal, and the typed value of a limit."""

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import MAX_REASON_CHARS, MAX_STATEMENT_CHARS, typed_value_of
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import DIMENSIONS
from learning_app.vocabulary import PreferenceDimension, PreferenceKind
from minara_site.web.forms import StatementField, reason_field

KINDS = (
    (PreferenceKind.SOFT_PREFERENCE, _("Soft preference: the agent weighs it")),
    (PreferenceKind.HARD_CONSTRAINT, _("Hard constraint: a limit that the agent must keep")),
)


class ProposalForm(forms.Form):
    """What somebody prefers. Lengths are judged by the service."""

    statement = StatementField(
        count="preferences:count",
        max_chars=MAX_STATEMENT_CHARS,
        rows=3,
        label=_("What do you prefer?"),
        help_text=_("One wish, up to 4,000 characters. No passwords and no keys."),
    )
    dimension = forms.ChoiceField(
        label=_("What it is about"),
        choices=list(DIMENSIONS.items()),
        initial=PreferenceDimension.STYLE,
    )
    kind = forms.ChoiceField(
        label=_("How binding"),
        choices=KINDS,
        initial=PreferenceKind.SOFT_PREFERENCE,
        widget=forms.RadioSelect,
    )


class WordsForm(forms.Form):
    """Other words in which a proposal is approved, with the version that their writer read."""

    statement = StatementField(
        count="preferences:count",
        max_chars=MAX_STATEMENT_CHARS,
        rows=3,
        label=_("What agents will read"),
    )
    version = forms.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )


class ReasonForm(forms.Form):
    """Why several proposals are rejected."""

    reason = reason_field(
        _("Reason"),
        MAX_REASON_CHARS,
        _("Up to 200 characters, the same for all."),
        required=False,
    )


class LimitForm(forms.Form):
    """The typed value with which the owner of a hard constraint activates or archives it.

    `statement` are other words to activate, empty where it stays as it is; `version` is the one that its owner read.
    """

    typed = forms.CharField(
        max_length=64,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = reason_field(_("Reason"), MAX_REASON_CHARS, required=False)
    statement = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    version = forms.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )

    def __init__(
        self,
        row: Preference,
        words: str,
        data: QueryDict | None = None,
    ) -> None:
        super().__init__(
            data,
            initial={
                "version": row.version,
                "statement": words if words != row.statement else "",
            },
        )
        self.value = typed_value_of(words, row.dimension)
        self.fields["typed"].label = _("Type “%(value)s” to confirm") % {"value": self.value}
