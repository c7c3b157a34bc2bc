"""The form that asks for institution runs."""

import re

from django import forms
from django.utils.translation import gettext_lazy as _


class StartForm(forms.Form):
    """Which tickers; how many and which the service judges."""

    tickers = forms.CharField(
        label=_("Tickers"),
        max_length=600,
        help_text=_("1 to 20 tickers that have prices, such as BTC, ETH. Each is a run of its own."),
    )

    def clean_tickers(self) -> list[str]:
        """Return the tickers, which commas, spaces or lines part."""
        return [each for each in re.split(r"[\s,;\uff0c\uff1b\u3001]+", self.cleaned_data["tickers"]) if each]
