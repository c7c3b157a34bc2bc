"""What happens to every request and response around the views."""

import re
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.processes.whole_requests import BODY_STATUS
from minara_site.shell.errors import domain_error, is_machine_path, missing_body, not_allowed, plain_problem, too_large
from minara_site.web.middleware import Middleware
from minara_site.web.moments import zone_of
from minara_site.web.responses import wants_fragment

LENGTH = re.compile(r"[0-9]{1,18}")
UPLOADS = {"/ops/import/": (Act.IMPORT_PREVIEW, 64 * 1024 * 1024 + 64 * 1024)}  # a file, and the form around it
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()" for feature in ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
)


class BrowserLanguageMiddleware(Middleware):
    """Speaks what the browser asks for until the reader is known: what is refused early is read too."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Activate it for this request only; machines get English."""
        is_machine = is_machine_path(request.path)
        language = settings.LANGUAGE_CODE if is_machine else translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
        if not is_machine:
            patch_vary_headers(response, ("Accept-Language",))
        return response


class BodyLimitMiddleware(Middleware):
    """Refuses a body above DATA_UPLOAD_MAX_MEMORY_SIZE before anything reads it (trust W-19); uploads may be larger."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 413 by the declared length, without which a body would be read as empty; say why one is missing."""
        if request.META.get(BODY_STATUS, HTTPStatus.CONTINUE) != HTTPStatus.CONTINUE:
            return missing_body(request, request.META[BODY_STATUS])
        _act, limit = UPLOADS.get(request.path, (None, settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
        declared = request.META.get("CONTENT_LENGTH") or "0"
        if not LENGTH.fullmatch(declared) or request.headers.get("Transfer-Encoding"):
            detail = _("Send the body whole, with its length in Content-Length.")
            return plain_problem(request, HTTPStatus.BAD_REQUEST, "malformed", detail)
        return too_large(request) if limit is not None and int(declared) > limit else self.get_response(request)


class UploadMiddleware(Middleware):
    """Refuses a large body from who may not upload, before anything of it is read; lets the others' come.

    It stands behind the one that knows the caller; the CSRF check, which reads the form, comes after it.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        act, _limit = UPLOADS.get(request.path, (None, 0))
        limit, declared = settings.DATA_UPLOAD_MAX_MEMORY_SIZE, int(request.META.get("CONTENT_LENGTH") or "0")
        if act is None or limit is None or declared <= limit:
            return self.get_response(request)
        principal: Principal = request.principal  # type: ignore[attr-defined]
        if not principal.may(act):
            return too_large(request)
        is_to_come = request.META.get(BODY_STATUS) == HTTPStatus.CONTINUE
        return HttpResponse(status=HTTPStatus.CONTINUE) if is_to_come else self.get_response(request)


class ReadableMiddleware(Middleware):
    """Refuses what no view can read: a charset but UTF-8, NUL, which PostgreSQL cannot look up, a broken URL (W-19)."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 400 before anything reads query, form or session."""
        problem = unreadable_part(request)
        if problem is not None:
            return plain_problem(request, HTTPStatus.BAD_REQUEST, "malformed", problem)
        return self.get_response(request)


def unreadable_part(request: HttpRequest) -> str | None:
    """Return what to change about a request that cannot be read, or None."""
    if (request.content_params or {}).get("charset", "utf-8").lower() not in {"utf-8", "utf8"}:
        return _("Send text as UTF-8.")
    if any("\0" in text for text in (request.path, *request.COOKIES.values())):
        return _("Remove the NUL character from the address and the cookies.")
    try:
        urlsplit(unquote(request.headers.get("HX-Current-URL", "")))
    except ValueError:
        return _("HX-Current-URL must be a URL.")
    return None


class PreferencesMiddleware(Middleware):
    """Speaks the reader's language and shows their time zone; machines stay with English and UTC."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_machine_path(request.path):
            return self.get_response(request)
        language = getattr(request.user, "language", "") or translation.get_language_from_request(request)
        zone = zone_of(getattr(request.user, "time_zone", ""))
        with translation.override(language), timezone.override(zone):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or settings.LANGUAGE_CODE)
        return response


class PersonalPageMiddleware(Middleware):
    """Keeps pages out of caches, and lets redirects work under HTMX (trust W-08)."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if wants_fragment(request) and 300 <= response.status_code < 400 and response.has_header("Location"):  # noqa: PLR2004
            cookies, location = response.cookies, response["Location"]
            response = HttpResponseClientRedirect(location)
            response.cookies = cookies
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        patch_vary_headers(response, ("HX-Request", "Cookie"))
        return response


class DomainErrorMiddleware(Middleware):
    """Turns a MinaraError of a page view and a bare 405 into readable answers; the API maps its own."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on; errors are the work of `process_exception`."""
        response = self.get_response(request)
        is_bare = response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not is_machine_path(request.path)
        return not_allowed(request, response["Allow"]) if is_bare else response

    def process_exception(
        self,
        request: HttpRequest,
        exception: Exception,
    ) -> HttpResponse | None:
        return domain_error(request, exception) if isinstance(exception, MinaraError) else None
