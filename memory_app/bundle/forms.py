"""The forms of exports and imports."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.bundle.adapters.upload_store import MAX_UPLOAD_BYTES
from memory_app.importers.adapters import Format
from minara_site.web.forms import WordForm

FORMATS = (
    (Format.MINARA.value, gettext_lazy("Minara: an export (zip), or the database minara.db")),
    (Format.OPENCLAW.value, gettext_lazy("OpenClaw: a workspace (zip), or one of its notes")),
    (Format.HERMES.value, gettext_lazy("Hermes: its memory files (zip), or one of them")),
    (Format.MEM0.value, gettext_lazy("mem0: the answer of get_all (JSON)")),
    (Format.OPENMEMORY.value, gettext_lazy("OpenMemory: a backup (zip)")),
    (Format.LETTA.value, gettext_lazy("Letta: an agent file (.af)")),
    (Format.JSONL.value, gettext_lazy("JSON lines, one memory a line")),
)


class ExportForm(forms.Form):
    """What an export holds."""

    sign = forms.BooleanField(
        label=gettext_lazy("Sign it"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Brought back here, a signed file counts as signed; anywhere else as unsigned."),
    )
    include_constraints = forms.BooleanField(
        label=gettext_lazy("Include hard constraints"),
        required=False,
        help_text=gettext_lazy("They hold your own limits and stay out unless you ask. You confirm that it is you."),
    )


class UploadForm(forms.Form):
    """The file to import and what wrote it."""

    format = forms.ChoiceField(label=gettext_lazy("What wrote it"), choices=FORMATS)
    file = forms.FileField(
        label=gettext_lazy("File"),
        max_length=255,
        help_text=gettext_lazy("Up to 64 MiB and 10,000 files. Nothing is stored before you have seen what would be."),
    )

    def clean_file(self) -> "UploadedFile[Any]":
        """Refuse what cannot be stored."""
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if file.size is None or file.size > MAX_UPLOAD_BYTES:
            raise forms.ValidationError(_("Choose a file of at most %(most)d MiB.") % {"most": 64})
        return file


class ApplyForm(forms.Form):
    """The plan that was shown; with hard constraints a typed word besides (decisions, dangerous confirmation)."""

    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)


class ConstraintsForm(WordForm):
    """A typed word besides, so that nobody takes over hard constraints by a slip."""

    plan = forms.CharField(max_length=64, widget=forms.HiddenInput)
