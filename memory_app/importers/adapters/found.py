"""What adapters find, and in words what is wrong with it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.importers.core.entries import Item, Record, Refusal
from memory_app.importers.core.fields import Expected, UnusableError
from minara_site.kernel.errors import MinaraError
from minara_site.web.json_body import check_values

MIB = 1024 * 1024
EXPECTED: dict[Expected, str | Promise] = {
    Expected.RECORD: gettext_lazy("expected an object"),
    Expected.ONE_CONTENT: gettext_lazy("expected exactly one of %(choices)s"),
    Expected.TEXT: gettext_lazy("%(field)s: expected text"),
    Expected.OBJECT: gettext_lazy("%(field)s: expected an object"),
    Expected.MEMBER: gettext_lazy("%(field)s: expected one of %(choices)s"),
    Expected.TIME: gettext_lazy("%(field)s: expected a time such as 2026-06-12T12:00:00Z"),
    Expected.TIME_SINCE_1970: gettext_lazy("%(field)s: lies before 1970"),
    Expected.TEXTS: gettext_lazy("%(field)s: expected a list of texts"),
    Expected.LIST: gettext_lazy("expected a list named %(field)s"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """One entry or refusal, and the file it stands in, named from the root of the import."""

    file: str
    item: Item


def parse_records(records: Iterable[Record], read: Callable[[Record], Iterable[Item]]) -> Iterator[Item]:
    """Read records one by one; what cannot be used is refused alone."""
    for record in records:
        try:
            check_values(record.value)
            yield from read(record)
        except (UnusableError, MinaraError) as error:
            yield Refusal(record.line, record_problem(error), record.id)


def record_problem(error: UnusableError | MinaraError) -> str:
    """Return what is wrong with a record, in the reader's language."""
    return unusable_label(error) if isinstance(error, UnusableError) else error.detail


def unusable_label(error: UnusableError) -> str:
    """Return what is wrong with a record, in the reader's language."""
    return EXPECTED[error.expected] % {"field": error.field, "choices": ", ".join(error.choices)}


def too_large(most_bytes: int) -> str:
    """Return what is wrong with a file of more bytes than this."""
    return _("it is larger than %(most)d MiB") % {"most": most_bytes // MIB}


def unreadable(name: str, error: Exception) -> Found:
    """Return the refusal of a file that the system does not let us read."""
    cause = getattr(error, "strerror", None) or error
    return Found(name, Refusal(0, _("it cannot be read: %(cause)s") % {"cause": cause}))
