"""The form of a decision."""

from django import forms
from django.utils.translation import gettext_lazy as _

from minara_site.kernel.guard.services import MAX_NOTE_CHARS


class DecisionForm(forms.Form):
    """Why somebody let a text in or threw it away; the owner can read it."""

    note = forms.CharField(label=_("Reason"), required=False, max_length=MAX_NOTE_CHARS)
