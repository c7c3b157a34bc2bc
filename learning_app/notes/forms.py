"""The form of a note."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from learning_app.notes.models import MAX_NOTE_CHARS, OwnNote
from minara_site.kernel.market.core.values import UnusableError, read_price
from minara_site.kernel.market.labels import fault_sentence
from minara_site.web.values import plain_number

IsLoss = Callable[[Decimal], bool]
"""Whether a trip loses at a price."""


class NoteForm(forms.Form):
    """What an owner says beside something, and of a trip that came without a stop where it was to end at a loss."""

    text = forms.CharField(
        label=_("What you want to remember"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 4, "maxlength": MAX_NOTE_CHARS}),
    )
    stop_price = forms.CharField(
        label=pgettext_lazy("trade", "Stop"),
        required=False,
        help_text=_("Its source named none. The result of this trade in R reads it."),
    )

    def __init__(self, data: Any = None, *, note: OwnNote | None = None, is_loss: IsLoss | None = None) -> None:
        said = {"text": note.text, "stop_price": note.stop_price} if note else None
        super().__init__(data, initial=said)
        self.is_loss = is_loss
        if is_loss is None:
            del self.fields["stop_price"]

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")

    def clean_stop_price(self) -> str:
        typed: str = self.cleaned_data["stop_price"]
        try:
            price = read_price(typed) if typed else None
        except UnusableError as problem:
            raise forms.ValidationError(fault_sentence(problem)) from None
        if price and self.is_loss and not self.is_loss(price):
            raise forms.ValidationError(
                _("The trade does not lose there. The stop of a long is below its entry, of a short above.")
            )
        return plain_number(price) or ""
