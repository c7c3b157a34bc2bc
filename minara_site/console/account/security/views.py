"""`/settings/security/`: a person's own password, second factors, recovery codes, and where they are signed in."""

import base64
import ipaddress
from http import HTTPStatus
from io import BytesIO
from typing import Any

import qrcode
from allauth.mfa.adapter import get_adapter
from allauth.mfa.webauthn.internal.auth import begin_registration
from django.http import HttpResponse, JsonResponse
from django.http.request import split_domain_port
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from qrcode.image.svg import SvgPathFillImage

from minara_site.access.policy import Act, Role
from minara_site.access.security import factors, sessions
from minara_site.access.security.passwords import change_password
from minara_site.console.account.security.forms import AppForm, NewPasskeyForm, NewPasswordForm
from minara_site.kernel.errors import Conflict
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.web.forms import WordForm, posted
from minara_site.web.responses import render_form, render_page, see_other, toast

HERE = "access:security"


@page(Act.SECURITY)
def overview(request: PageRequest) -> HttpResponse:
    """Show how somebody signs in, and where they are signed in."""
    now, key = timezone.now(), request.session.session_key or ""
    context = {
        "title": _("Security"),
        "factors": factors.list_factors(request.user),
        "must_keep_one": request.principal.role is Role.OPERATOR,
        "sign_ins": sessions.list_sign_ins(request.user, current_key=key, now=now),
        "life": sessions.life_of(request.principal.role),
    }
    return render_page(request, "console/account/security/overview.html", context)


def by(request: PageRequest) -> dict[str, Any]:
    """Return who changes something, and when; the session that goes on."""
    return {
        "user": request.user,
        "session_key": request.session.session_key or "",
        **done_by(request),
    }


@page(Act.SECURITY_CHANGE, "GET", "POST")
@sensitive_post_parameters("old_password", "new_password1", "new_password2")
def password(request: PageRequest) -> HttpResponse:
    """Change the password; this session goes on, the others end."""
    form = NewPasswordForm(request.user, posted(request))
    if form.is_valid():
        change_password(password=form.cleaned_data["new_password1"], **by(request))
        sessions.renew_session(request)
        toast(request, _("Changed the password. Everywhere else you are signed out."))
        return see_other(HERE)
    context = {"title": _("Change the password")}
    return render_form(request, "console/account/security/password.html", form, context)


@page(Act.SECURITY_CHANGE, "GET", "POST")
@sensitive_post_parameters("sealed")
def app(request: PageRequest) -> HttpResponse:
    """Set up an authenticator app: a picture to scan, and a first code as proof."""
    if factors.list_factors(request.user).app:
        return see_other(HERE)
    form = AppForm(request.user, posted(request))
    if form.is_valid():
        return show_codes(request, factors.add_app(secret=form.secret, **by(request)))
    address = get_adapter().build_totp_url(request.user, form.secret)
    context = {"title": _("Set up an authenticator app"), "picture": draw_code(address)}
    context["secret"] = " ".join(form.secret[start : start + 4] for start in range(0, len(form.secret), 4))
    return render_form(request, "console/account/security/app.html", form, context)


def draw_code(text: str) -> str:
    """Return a QR code as the address of an image that carries itself."""
    drawing = BytesIO()
    qrcode.make(text, image_factory=SvgPathFillImage).save(drawing)
    return "data:image/svg+xml;base64," + base64.b64encode(drawing.getvalue()).decode()


@page(Act.SECURITY_CHANGE, "GET", "POST")
def passkey_new(request: PageRequest) -> HttpResponse:
    """Keep a passkey that the browser has made."""
    form = NewPasskeyForm(posted(request))
    if form.is_valid():
        return show_codes(
            request,
            factors.add_passkey(**form.cleaned_data, **by(request)),
        )
    context = {"title": _("Add a passkey"), "is_named": is_named(request)}
    return render_form(request, "console/account/security/passkey_new.html", form, context)


def is_named(request: PageRequest) -> bool:
    """Say whether the console was opened under a name: browsers keep no passkeys for bare addresses."""
    host, _port = split_domain_port(request.get_host())
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return True
    return False


@page(Act.SECURITY_CHANGE, "POST")
def passkey_new_options(request: PageRequest) -> HttpResponse:
    """Return what the browser makes a passkey from."""
    return JsonResponse(begin_registration(request.user, passwordless=True))


@page(Act.SECURITY_CHANGE, "GET", "POST")
def factor_remove(request: PageRequest, factor_id: int) -> HttpResponse:
    """Remove an app or a passkey, after a page that says what that means."""
    row = factors.get_factor(user=request.user, factor_id=factor_id)
    form = WordForm(
        "access:factor_remove",
        posted(request),
    )
    if form.is_valid():
        factors.remove_factor(factor_id=factor_id, **by(request))
        toast(request, _("Removed. Everywhere else you are signed out."))
        return see_other(HERE)
    context = {"title": _("Remove this second factor?"), "is_app": row.type == factors.APP}
    context |= {
        "name": row.data.get("name", ""),
        "is_last": factors.list_factors(request.user).count == 1,
    }
    return render_form(request, "console/account/security/factor_remove.html", form, context)


@page(Act.SECURITY_CHANGE, "GET", "POST")
def codes(request: PageRequest) -> HttpResponse:
    """Make new recovery codes and show them, once; the ones before stop working."""
    have = factors.list_factors(request.user)
    if not have.count:
        raise Conflict(_("Recovery codes replace a second factor. Add one first."))
    form = WordForm("access:codes", posted(request))
    if form.is_valid():
        return show_codes(request, factors.renew_codes(**by(request)))
    context = {"title": _("New recovery codes"), "factors": have}
    return render_form(request, "console/account/security/codes.html", form, context)


def show_codes(request: PageRequest, new: list[str]) -> HttpResponse:
    """Answer with the recovery codes: they are in this answer and nowhere else. Without any, go back."""
    sessions.renew_session(request)
    if not new:
        toast(request, _("Added. Everywhere else you are signed out."))
        return see_other(HERE)
    text = "\n".join([f"Minara {request.get_host()} {request.user.username}", *new, ""])
    file = "data:text/plain;base64," + base64.b64encode(text.encode()).decode()
    context = {"title": _("Your recovery codes"), "codes": "\n".join(new), "file": file}
    return render_page(
        request,
        "console/account/security/codes_shown.html",
        context,
        status=HTTPStatus.CREATED,
    )


@page(Act.SECURITY_CHANGE, "POST")
def sign_in_end(request: PageRequest, sign_in_id: int) -> HttpResponse:
    """End one of the person's sessions."""
    sessions.end_sign_in(
        user=request.user,
        sign_in_id=sign_in_id,
        **done_by(request),
    )
    toast(request, _("Ended. The next click there asks for a sign-in."))
    return see_other(HERE)


@page(Act.SECURITY_CHANGE, "POST")
def sign_ins_end(request: PageRequest) -> HttpResponse:
    """End every session but this one."""
    ended = sessions.end_other_sign_ins(**by(request))
    words = ngettext("Ended %(count)d other sign-in.", "Ended %(count)d other sign-ins.", ended)
    toast(request, words % {"count": ended})
    return see_other(HERE)
