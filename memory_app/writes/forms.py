"""The forms of a roll-back: whose writes since when, and the confirmation."""

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.services import MAX_REASON_CHARS
from minara_site.kernel.plain_text import clean_text
from minara_site.web.forms import as_field_error, reason_field


class SinceForm(forms.Form):
    """Whose writes, and since which moment of the reader's zone."""

    writer = forms.CharField(max_length=80, widget=forms.HiddenInput)
    since = forms.DateTimeField(
        label=gettext_lazy("Written since"),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local", "step": 1},
            format="%Y-%m-%dT%H:%M:%S",
        ),
    )

    def clean_writer(self) -> str:
        with as_field_error():
            return clean_text(self.cleaned_data["writer"], field="writer", max_chars=80)

    def clean_since(self) -> datetime:
        """Refuse the ends of the calendar: a time zone could push them out of it."""
        since: datetime = self.cleaned_data["since"]
        if since.year in {MINYEAR, MAXYEAR}:
            raise forms.ValidationError(_("Choose another moment."))
        return since


class ConfirmForm(forms.Form):
    """Why, and the writer's name typed, so that no one rolls back another by a slip. `plan` is what was shown."""

    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)
    reason = reason_field(
        gettext_lazy("Reason"),
        MAX_REASON_CHARS,
        gettext_lazy("Up to 200 characters. The owners of the rows can read it."),
    )
    word = forms.CharField(
        max_length=80,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, writer: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.writer = writer
        self.fields["word"].label = _("Type “%(word)s” to continue") % {"word": writer}

    def focus_first(self) -> None:
        """Put the cursor into the word when that alone is wrong, else into the reason."""
        name = "word" if self.errors.keys() == {"word"} else "reason"
        self.fields[name].widget.attrs["autofocus"] = True

    def clean_word(self) -> str:
        word: str = self.cleaned_data["word"]
        if word != self.writer:
            raise forms.ValidationError(_("Type %(word)s, exactly as it is written here.") % {"word": self.writer})
        return word
