"""The forms of the user profile. What may be stored is judged by the service."""

from datetime import UTC, datetime

from django import forms
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from memory_app.user_profile.services import MAX_VALUE_CHARS
from minara_site.kernel.guard.preview import GuardPreview

NEVER = datetime(1, 1, 1, tzinfo=UTC)


class ValueForm(forms.Form):
    """A value, and why the guard would hold it."""

    preview: GuardPreview | None = None

    value = forms.CharField(
        label=_("Value"),
        help_text=_("One line, up to 1,000 characters. No passwords and no keys."),
        widget=forms.TextInput(
            attrs={
                "maxlength": MAX_VALUE_CHARS,
                "autocomplete": "off",
                "hx-post": reverse_lazy("user_profile:warn"),
                "hx-trigger": "input changed delay:300ms",
                "hx-target": "next [data-warning]",
                "hx-swap": "innerHTML",
                "hx-sync": "this:replace",
            }
        ),
    )


class EditForm(ValueForm):
    """A change of a value, with the moment of the one that its editor read."""

    updated_at = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_updated_at(self) -> datetime:
        """Return the moment, or one that no value has: the edit then counts as stale."""
        try:
            return datetime.fromisoformat(self.cleaned_data["updated_at"])
        except ValueError:
            return NEVER


class EntryForm(ValueForm):
    """A new entry."""

    field_order = ("key", "value")

    key = forms.CharField(
        label=_("Name"),
        help_text=_("Such as risk_tolerance or home_language."),
        widget=forms.TextInput(
            attrs={
                "maxlength": 64,
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
            }
        ),
    )
