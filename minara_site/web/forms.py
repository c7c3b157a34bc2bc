"""How a refusal by a service reaches a form, and the form of a typed word."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django import forms
from django.http import HttpRequest, QueryDict
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid, MinaraError
from minara_site.web.page_acts import load_page_acts


def posted(request: HttpRequest) -> QueryDict | None:
    """Return what a form sent, None where its page is only opened: the form is bound to nothing then."""
    return request.POST if request.method == "POST" else None


def show_refusal(form: forms.BaseForm, refusal: MinaraError) -> None:
    """Put each reason beside its field, and what belongs to none above the form."""
    for error in refusal.errors:
        form.add_error(error.field if error.field in form.fields else None, error.message)
    if not refusal.errors:
        form.add_error(None, forms.ValidationError(refusal.detail, code=refusal.problem_code))


@contextmanager
def as_field_error() -> Iterator[None]:
    """Let a rule of the services refuse the field that a form is cleaning."""
    try:
        yield
    except Invalid as refusal:
        raise forms.ValidationError([error.message for error in refusal.errors] or refusal.detail) from None


class StatementField(forms.CharField):
    """A text of several lines, kept as it was typed but for the line ends that browsers send.

    The view `count` says how long it is while it is typed; the service judges its length.
    """

    def __init__(
        self,
        *,
        count: str,
        max_chars: int,
        rows: int,
        **options: Any,
    ) -> None:
        attrs = {
            "rows": rows,
            "maxlength": max_chars,
            "spellcheck": "true",
            "hx-post": reverse_lazy(count),
            "hx-trigger": "input changed delay:300ms",
            "hx-target": "next [data-count]",
            "hx-swap": "innerHTML",
            "hx-sync": "this:replace",
        }
        super().__init__(widget=forms.Textarea(attrs=attrs), **options)

    def to_python(self, value: Any) -> str:
        """Return the text with plain line feeds."""
        return str(super().to_python(value)).replace("\r\n", "\n")


def reason_field(
    label: Any,
    max_chars: int,
    help_text: Any = "",
    *,
    required: bool = True,
) -> forms.CharField:
    """Return the field of a reason: one line that no browser completes."""
    line = forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(
        label=label,
        required=required,
        max_length=max_chars,
        help_text=help_text,
        widget=line,
    )


class WordForm(forms.Form):
    """The word that must be typed before an act that nothing undoes, as `page_acts` declares it."""

    word = forms.CharField(max_length=40)

    def __init__(
        self,
        act: str,
        data: QueryDict | None = None,
        initial: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self.expected = load_page_acts()[act].word
        self.fields["word"].label = _("Type “%(word)s” to continue") % {"word": self.expected}
        self.fields["word"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_word(self) -> str:
        """Accept the word in any case."""
        word: str = self.cleaned_data["word"]
        if word.strip().lower() != self.expected:
            raise forms.ValidationError(_("Type the word %(word)s, in Latin letters.") % {"word": self.expected})
        return word
