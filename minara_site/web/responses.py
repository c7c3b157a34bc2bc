"""How views answer: page or fragment, redirect after a post, undo toast."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import resolve_url
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

TOASTS = "parts/_toasts.html"


class SeeOther(HttpResponseRedirectBase):
    """303: the answer to a post stands at another address."""

    status_code = HTTPStatus.SEE_OTHER


def wants_fragment(request: HttpRequest) -> bool:
    """Say whether htmx asks for a piece of the page; a restored history entry or a boosted link wants all of it."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def render_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any] | None = None,
    *,
    fragment: str | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer `template`, or to htmx `fragment` with the waiting toasts out of band."""
    inputs = dict(context or {})
    if fragment is None or not wants_fragment(request):
        return HttpResponse(render_to_string(template, inputs, request), status=status)
    return HttpResponse(
        render_to_string(fragment, inputs, request) + toasts_out_of_band(request),
        status=status,
    )


def form_status(form: BaseForm | None) -> int:
    """Return 422 for a form with errors."""
    return HTTPStatus.UNPROCESSABLE_ENTITY if form is not None and form.errors else HTTPStatus.OK


def render_form(
    request: HttpRequest,
    template: str,
    form: BaseForm | None,
    context: Mapping[str, Any],
) -> HttpResponse:
    """Answer the page of a form; errors in it make it 422."""
    return render_page(
        request,
        template,
        {**context, "form": form},
        status=form_status(form),
    )


def toasts_out_of_band(request: HttpRequest) -> str:
    """Return the waiting toasts as an out-of-band swap, empty when there are none."""
    return render_to_string(TOASTS, {"out_of_band": True}, request) if messages.get_messages(request) else ""


def see_other(to: str, *args: Any, **kwargs: Any) -> HttpResponse:
    """Answer 303 to a path or url name. Under HTMX the browser goes there (PersonalPageMiddleware)."""
    return SeeOther(resolve_url(to, *args, **kwargs))


def safe_path(request: HttpRequest, path: str | None) -> str | None:
    """Return `path` when it is a place in this console, else None (trust W-23)."""
    if path and path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts={request.get_host()}):
        return path
    return None


def back(request: HttpRequest, fallback: str) -> HttpResponse:
    """Answer 303 to the page that the form names as `next`, else to `fallback` (a path or url name)."""
    return see_other(safe_path(request, request.POST.get("next")) or fallback)


def toast(
    request: HttpRequest,
    text: str | Promise,
    undo_url: str | None = None,
) -> None:
    """Say what happened, once; `undo_url` adds an Undo button that posts there."""
    messages.info(request, str(text), extra_tags=undo_url or "")
