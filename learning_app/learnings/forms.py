"""The forms of learnings: new guidance, and a message to try."""

from django import forms
from django.utils.translation import gettext_lazy as _

from learning_app.learnings.core import MAX_GUIDANCE_CHARS
from learning_app.learnings.models import Learning
from learning_app.learnings.selectors import MAX_QUERY_CHARS
from minara_site.kernel.conversations.models import MAX_TIER, MIN_TIER, USUAL_TIER


class GuidanceForm(forms.Form):
    """The guidance, with the version that it changes."""

    guidance = forms.CharField(
        label=_("Guidance"),
        required=False,
        max_length=MAX_GUIDANCE_CHARS,
        widget=forms.Textarea({"rows": 5}),
        help_text=_("What to watch for. It is suggested, never an order."),
    )
    version = forms.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )

    @classmethod
    def of(cls, row: Learning) -> "GuidanceForm":
        """Return the form of a learning as it is."""
        return cls(initial={"guidance": row.guidance, "version": row.version})


class TryForm(forms.Form):
    """A message, and the highest tier of tools of the session that asks."""

    message = forms.CharField(label=_("Message"), max_length=MAX_QUERY_CHARS)
    max_tier = forms.TypedChoiceField(
        label=_("Highest tier of the session"),
        choices=[(tier, str(tier)) for tier in range(MIN_TIER, MAX_TIER + 1)],
        coerce=int,
        initial=USUAL_TIER,
    )
