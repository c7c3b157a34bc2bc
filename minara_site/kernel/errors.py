"""What can go wrong, by kind. Doors map a kind to its answer once: `minara_site.shell.errors` and `minara_site.api`."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

Found = TypeVar("Found")
SAID_BEFORE = "Value error, "  # pydantic's words before a sentence of ours


@dataclass(frozen=True)
class FieldError:
    """One wrong field of an input: its name and what to do."""

    field: str
    message: str


class MinaraError(Exception):
    """A refusal with a stable code and a plain sentence that says what to do next.

    `current` carries the stored state when the caller's was stale; `retry_after_seconds` when waiting helps.
    """

    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    code: ClassVar[str] = "error"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: tuple[FieldError, ...] = (),
        current: dict[str, Any] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.problem_code = code or self.code
        self.errors = errors
        self.current = current
        self.retry_after_seconds = retry_after_seconds


class Malformed(MinaraError):
    """The request itself cannot be read."""

    status = HTTPStatus.BAD_REQUEST
    code = "malformed"


class Unauthenticated(MinaraError):
    """No one is signed in and no key came with the call."""

    status = HTTPStatus.UNAUTHORIZED
    code = "unauthenticated"


class Refused(MinaraError):
    """The caller is known and may not do this."""

    status = HTTPStatus.FORBIDDEN
    code = "refused"


class NotFound(MinaraError):
    """There is no such object, or it belongs to somebody else: callers cannot tell which."""

    status = HTTPStatus.NOT_FOUND
    code = "not_found"


def or_not_found(found: Found | None, missing: str) -> Found:
    """Return what was looked for. Raises NotFound with this sentence where there is none."""
    if found is None:
        raise NotFound(missing)
    return found


class Conflict(MinaraError):
    """The object changed meanwhile, or its state does not allow this."""

    status = HTTPStatus.CONFLICT
    code = "conflict"


class Gone(MinaraError):
    """The object was there and its content has been wiped as promised."""

    status = HTTPStatus.GONE
    code = "gone"


class Invalid(MinaraError):
    """A value is outside what the field allows."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY
    code = "invalid"


def invalid_field(field: str, message: str) -> Invalid:
    """Return the refusal of one field: its name, and what to do."""
    return Invalid(message, errors=(FieldError(field, message),))


def refuse_problems(problems: Mapping[str, str]) -> None:
    """Raise Invalid with one error for each field that has a problem; what it says is the first of them."""
    if errors := tuple(FieldError(name, problem) for name, problem in problems.items() if problem):
        raise Invalid(errors[0].message, errors=errors)


class Throttled(MinaraError):
    """Too many calls; wait."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    code = "throttled"


class Unavailable(MinaraError):
    """A part that this needs does not answer now; the state is unchanged."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "unavailable"
