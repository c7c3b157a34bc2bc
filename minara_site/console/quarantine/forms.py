"""The form of a decision."""

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard.services import MAX_NOTE_CHARS


class DecisionForm(forms.Form):
    """Why somebody let a text in or threw it away; the owner can read it."""

    note = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=MAX_NOTE_CHARS,
    )


def read_note(request: HttpRequest) -> str:
    """Return the reason that was given, empty without one. Raises Invalid for one that is too long."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("Shorten the reason to 200 characters."), code="note_too_long")
    return str(form.cleaned_data["note"])
