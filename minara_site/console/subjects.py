"""What a model call or a shadow decision is about: `role_memory:12` in words, and where it stands."""

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy

from minara_site.access.models import User
from minara_site.web.filters import Text

PAIR, ENTRY = "fact_conflict", "role_memory"
PAGES = {ENTRY: "role_memory:one"}
SUBJECTS: dict[str, Text] = {PAIR: gettext_lazy("pair %(id)s"), ENTRY: gettext_lazy("decision %(id)s")}


def read_subject(subject: str) -> tuple[str, int]:
    """Return the kind and the id of a subject; 0 for an id that is none."""
    kind, _colon, number = subject.partition(":")
    return kind, int(number) if number.isdecimal() else 0


def subject_words(subject: str) -> str:
    """Return a subject in words; one of no known kind as it was written."""
    kind, number = read_subject(subject)
    return str(SUBJECTS[kind]) % {"id": number} if kind in SUBJECTS else subject


def subject_url(subject: str, owner: User | None) -> str:
    """Return where a subject of this owner stands, empty when it has no page."""
    kind, number = read_subject(subject)
    if kind == PAIR and owner:
        return f"{reverse('facts:conflicts')}?owner={owner.get_username()}"
    try:
        return reverse(PAGES[kind], args=[number])
    except (KeyError, NoReverseMatch):
        return ""
