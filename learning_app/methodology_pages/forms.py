"""The form of a decision that needs a reason."""

from django import forms
from django.utils.translation import gettext_lazy as _

from learning_app.methodologies.services.decide import MAX_REASON_CHARS


class ReasonForm(forms.Form):
    """Why a methodology leaves prompts."""

    reason = forms.CharField(
        label=_("Why"),
        max_length=MAX_REASON_CHARS,
        help_text=_("It stays in the lifecycle, for every reader."),
    )
