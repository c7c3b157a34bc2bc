"""What a model call or a shadow decision is about: `role_memory:12`. `<app>/subjects.py` lists what there is."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import NoReverseMatch
from django.utils.functional import Promise

from minara_site.kernel.registry import load


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of subject. `label` may take `%(id)s`; `url(id, owner's name)` is its page, empty without one.

    An id is a number or a uid, as text.
    """

    name: str
    label: str | Promise
    url: Callable[[str, str], str]


def read_subject(subject: str) -> tuple[str, str]:
    """Return the kind and the id of a subject."""
    kind, _colon, subject_id = subject.partition(":")
    return kind, subject_id


def subject_label(subject: str) -> str:
    """Return a subject in the reader's language; one of no known kind as it was written."""
    kind, subject_id = read_subject(subject)
    known: Subject | None = load("subjects").get(kind)
    return str(known.label) % {"id": subject_id} if known else subject


def subject_url(subject: str, owner_name: str) -> str:
    """Return the page of a subject of this owner, empty when it has none."""
    kind, subject_id = read_subject(subject)
    known: Subject | None = load("subjects").get(kind)
    try:
        return known.url(subject_id, owner_name) if known else ""
    except NoReverseMatch:
        return ""
