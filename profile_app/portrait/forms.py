"""The forms of the profile. What may be stored is judged by the services."""

from typing import Any

from django import forms
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from profile_app.documents.core import CUSTOM_PROMPT, MAX_CHARS
from profile_app.portrait.core.wallets import MAX_LABEL_CHARS

MAX_ADDRESS_CHARS = 200


class PromptText(forms.CharField):
    """A text that is kept to the byte: blanks at its ends are not trimmed."""

    widget = forms.Textarea(
        attrs={
            "rows": 8,
            "spellcheck": "true",
            "data-draft-text": "",
            "hx-post": reverse_lazy("profile:warn"),
            "hx-trigger": "input changed delay:300ms",
            "hx-target": "next [data-warning]",
            "hx-swap": "innerHTML",
            "hx-sync": "this:replace",
        }
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, strip=False, **options)


class PromptForm(forms.Form):
    """The custom prompt, with the version that its editor opened."""

    custom_prompt = PromptText(
        label=_("Your instructions"),
        help_text=_("In your words, such as: Answer in Chinese, numbers first. No passwords and no keys."),
    )
    version = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )


class WalletForm(forms.Form):
    """A wallet to follow."""

    address = forms.CharField(
        label=_("Address"),
        max_length=MAX_ADDRESS_CHARS,
        help_text=_("EVM (0x…) or Solana. Only its public address; never a key or a seed phrase."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    label = forms.CharField(
        label=_("Label"),
        required=False,
        max_length=MAX_LABEL_CHARS,
        widget=forms.TextInput({"autocomplete": "off"}),
    )


MAX_PROMPT_CHARS = MAX_CHARS[CUSTOM_PROMPT]
