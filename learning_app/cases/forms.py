"""The form of a reveal."""

from django import forms
from django.utils.translation import gettext_lazy as _

from learning_app.cases.services.reveal import MAX_REASON_CHARS


class RevealForm(forms.Form):
    """Why support staff need to see the amounts of a case."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=MAX_REASON_CHARS,
        help_text=_("The owner reads it. For example: ticket 8841, disputes the entry price."),
    )
