"""The forms of the audit."""

from django import forms
from django.utils.translation import gettext_lazy as _

from learning_app.audit.models import MAX_NOTE_CHARS
from learning_app.audit.services.run import MAX_DAYS, MIN_DAYS


class PassForm(forms.Form):
    """How far back a pass looks, and whether it hashes the tables."""

    window_days = forms.IntegerField(
        label=_("Window in days"),
        min_value=MIN_DAYS,
        max_value=MAX_DAYS,
    )
    table_hashes = forms.BooleanField(
        label=_("Hash the learning tables before and after"),
        required=False,
        help_text=_("Proof that the pass changed nothing. It reads every row twice more."),
    )


class NoteForm(forms.Form):
    """Why a finding may stay."""

    note = forms.CharField(
        label=_("Note"),
        max_length=MAX_NOTE_CHARS,
        required=False,
        help_text=_("What you know about it. Every operator reads it."),
    )
