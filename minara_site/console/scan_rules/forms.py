"""The test box: a text that is judged and forgotten."""

from django import forms
from django.utils.translation import gettext_lazy as _

MAX_CHARS = 20_000


class TestForm(forms.Form):
    """A text to try. Nothing of it is stored or logged."""

    text = forms.CharField(
        label=_("Text to try"),
        max_length=MAX_CHARS,
        strip=False,
        help_text=_("Up to 20,000 characters. Nothing is stored."),
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "autocomplete": "off"}),
    )
