"""What every middleware begins with."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class Middleware:
    """A middleware, called with each request; `get_response` answers it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
