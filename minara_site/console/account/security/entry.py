"""The ways in beside name and password: the second step, passkeys, confirming that it is you."""

from typing import Any

from allauth.account.internal.decorators import login_stage_required
from allauth.account.internal.flows.login import perform_password_login, record_authentication
from allauth.account.internal.stagekit import get_pending_stage
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.mfa.base.internal.flows import post_authentication
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.webauthn.internal.auth import begin_authentication
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from django.contrib.auth import logout
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from minara_site.access.adapters import ClosedAccountAdapter
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.security.factors import list_factors
from minara_site.access.security.lockout import passkey_limit
from minara_site.access.security.sessions import is_half_way, renew_session
from minara_site.console.account.security.forms import CodeForm, ConfirmCodeForm, PasskeyForm, PasswordForm
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import form_status, render_page, safe_path, see_other


def enter(request: HttpRequest, user: User) -> HttpResponse:
    """Sign in somebody who has just chosen a password, through the second step if they have a factor."""
    if request.user.is_authenticated:
        logout(request)
    login = Login(user=user, redirect_url=resolve_url("home"))
    answer = perform_password_login(request, {"username": user.username}, login)
    return see_other(answer["Location"])


@page(Act.SIGN_IN, "POST")
def passkey_options(request: HttpRequest) -> HttpResponse:
    """Return the challenge that a passkey signs: of who is signed in or half-way in, else of anybody."""
    passkey_limit(ClosedAccountAdapter().get_client_ip(request)).count_attempt(timezone.now())
    stage = get_pending_stage(request)
    user = request.user if request.user.is_authenticated else stage.login.user if stage else None
    return JsonResponse(begin_authentication(user))


@page(Act.SIGN_IN, "POST")
def passkey_sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in whom the passkey belongs to; it stands for password and second factor."""
    form = PasskeyForm(request.POST)
    if not form.is_valid():
        context = {"title": _("Sign in"), "passkey_form": form}
        return render_page(
            request,
            "console/account/security/passkey_failed.html",
            context,
            status=form_status(form),
        )
    if request.user.is_authenticated:
        logout(request)
    passkey = form.cleaned_data["credential"]
    login = Login(user=passkey.user, redirect_url=get_next_redirect_url(request))
    return perform_passwordless_login(request, passkey, login)


@page(Act.SIGN_IN, "GET", "POST")
@login_stage_required(stage=AuthenticateStage.key, redirect_urlname="account_login")  # type: ignore[untyped-decorator]
@sensitive_post_parameters("code")
def second_step(request: HttpRequest) -> HttpResponse:
    """Ask who knew the password for a code or a passkey."""
    stage = request._login_stage  # type: ignore[attr-defined]  # noqa: SLF001 - where allauth puts it
    if not is_half_way(request.session, stage.login.user):
        request.session.flush()
        return see_other("account_login")
    forms = {
        "code": CodeForm(user=stage.login.user),
        "credential": PasskeyForm(user=stage.login.user),
    }
    sent = bind(request, forms)
    if sent is not None and sent.is_valid():
        post_authentication(request, proven_by(sent))
        return stage.exit()
    context = {"title": _("Second step"), "factors": list_factors(stage.login.user)}
    context |= {"form": forms["code"], "passkey_form": forms["credential"]}
    return render_page(
        request,
        "console/account/security/second_step.html",
        context,
        status=form_status(sent),
    )


@page(Act.SECURITY, "GET", "POST")
@sensitive_post_parameters("password", "code")
def reauthenticate(request: PageRequest) -> HttpResponse:
    """Ask somebody who signed in a while ago to show again who they are, then lead them back.

    A passkey is enough; else the password, and a code of whoever has a second factor.
    """
    user, factors = request.user, list_factors(request.user)
    forms = {
        "password": PasswordForm(user=user),
        "code": ConfirmCodeForm(user=user),
        "credential": PasskeyForm(user=user),
    }
    next_path = safe_path(
        request,
        request.POST.get("next") or request.GET.get("next"),
    )
    sent: list[Any] = []
    if request.method == "POST":
        sent = show_proofs(request, forms, with_code=factors.count > 0)
        if all(form.is_valid() for form in sent):
            for form in sent:
                if isinstance(form, PasswordForm):
                    record_authentication(
                        request,
                        user,
                        method="password",
                        reauthenticated=True,
                    )
                else:
                    post_authentication(request, proven_by(form), reauthenticated=True)
            renew_session(request)
            return see_other(next_path or "access:security")
    context = {
        "title": _("Confirm that it is you"),
        "next": next_path or "",
        "factors": factors,
    }
    context |= {
        "form": forms["password"],
        "code_form": forms["code"],
        "passkey_form": forms["credential"],
    }
    status = form_status(sent[-1] if sent else None)
    return render_page(
        request,
        "console/account/security/reauthenticate.html",
        context,
        status=status,
    )


def show_proofs(
    request: PageRequest,
    forms: dict[str, Any],
    *,
    with_code: bool,
) -> list[Any]:
    """Put what was sent into its forms, one after the other up to a wrong one: a wrong password spends no code."""
    names = ["credential"] if request.POST.get("credential") else ["password", "code"] if with_code else ["password"]
    sent: list[Any] = []
    for name in names:
        forms[name] = type(forms[name])(request.POST, user=request.user)
        sent.append(forms[name])
        if not forms[name].is_valid():
            break
    return sent


def bind(request: HttpRequest, forms: dict[str, Any]) -> Form | None:
    """Put what was sent into the form that has this field, the first without any; None for a page that is opened."""
    if request.method != "POST":
        return None
    name = next(
        (name for name in reversed(forms) if request.POST.get(name)),
        next(iter(forms)),
    )
    blank = forms[name]
    forms[name] = type(blank)(request.POST, user=blank.user)
    return forms[name]


def proven_by(form: Form) -> Any:
    """Return what a valid form of a code or passkey was signed with."""
    return form.authenticator if isinstance(form, CodeForm) else form.cleaned_data["credential"]
