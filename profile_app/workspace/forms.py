"""The forms of agent files. What may be stored is judged by the service."""

from typing import Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class FileText(forms.CharField):
    """The text of a file; it may be empty, and blanks at its ends are not trimmed."""

    def validate(self, value: str) -> None:
        """Accept an empty text too."""


class FileForm(forms.Form):
    """The text of a file, kept to the byte, with the version that its editor opened."""

    use_required_attribute = False

    content = FileText(
        label=_("Text"),
        strip=False,
        widget=forms.Textarea(
            {
                "rows": 18,
                "spellcheck": "true",
                "class": "mono",
                "data-draft-text": "",
            }
        ),
    )
    version = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["content"].widget.attrs |= {
            "hx-post": reverse("workspace:warn", args=[name]),
            "hx-trigger": "input changed delay:300ms",
            "hx-target": "next [data-warning]",
            "hx-swap": "innerHTML",
            "hx-sync": "this:replace",
        }


class NoteForm(forms.Form):
    """The day of a note."""

    day = forms.DateField(
        label=_("Day"),
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
    )


class LinesForm(forms.Form):
    """Lines to add to MEMORY.md, out of those that it lacks, with the version that they were compared with."""

    version = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
    )
    lines = forms.MultipleChoiceField(
        label=_("Lines to add"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, missing: list[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["lines"].choices = [(line, line) for line in missing]  # type: ignore[attr-defined]
