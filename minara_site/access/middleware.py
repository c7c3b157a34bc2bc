"""Put the caller on every browser request."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from minara_site.access.principal import ANONYMOUS, Principal


def browser_principal(request: HttpRequest) -> Principal:
    """Return the signed-in person, or ANONYMOUS."""
    user = request.user
    return Principal(user=user, role=user.role) if user.is_authenticated else ANONYMOUS


class PrincipalMiddleware:
    """Sets `request.principal`, read when first used. The API replaces it when a key comes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Attach the caller."""
        request.principal = SimpleLazyObject(lambda: browser_principal(request))  # type: ignore[attr-defined]
        return self.get_response(request)
