"""How a refusal by a service reaches a form."""

from collections.abc import Iterator
from contextlib import contextmanager

from django import forms

from minara_site.kernel.errors import Invalid


def show_refusal(form: forms.BaseForm, refusal: Invalid) -> None:
    """Put each reason beside its field, and what belongs to none above the form."""
    for error in refusal.errors:
        form.add_error(error.field if error.field in form.fields else None, error.message)
    if not refusal.errors:
        form.add_error(None, refusal.detail)


@contextmanager
def as_field_error() -> Iterator[None]:
    """Let a rule of the services refuse the field that a form is cleaning."""
    try:
        yield
    except Invalid as refusal:
        raise forms.ValidationError([error.message for error in refusal.errors] or refusal.detail) from None
