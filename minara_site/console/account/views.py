"""The pages before the console: sign in, sign out, first run."""

from http import HTTPStatus

from allauth.account.views import LoginView, LogoutView
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from minara_site.access.policy import Act
from minara_site.access.setup import claim_setup, open_setup_link
from minara_site.console.account.forms import FirstRunForm, SignInForm
from minara_site.console.account.security.entry import enter
from minara_site.kernel.errors import Gone, Invalid
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_form, render_page


class SignInView(LoginView):  # type: ignore[misc]
    """allauth's sign-in on our page; a wrong password answers 422."""

    form_class = SignInForm
    template_name = "console/account/sign_in.html"
    extra_context = {"title": gettext_lazy("Sign in")}

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        response.status_code = HTTPStatus.UNPROCESSABLE_ENTITY
        return response


sign_in = page(Act.SIGN_IN, "GET", "POST")(SignInView.as_view())
sign_out = page(Act.SIGN_OUT, "POST")(LogoutView.as_view())


@page(Act.CLAIM_SETUP)
def first_run(request: PageRequest, token: str) -> HttpResponse:
    """Greet the holder of the set-up link. The form posts elsewhere, so that no log of a refusal names a live link."""
    try:
        open_setup_link(token)
    except Gone as used:
        return link_used_page(request, used)
    return first_run_page(request, token, FirstRunForm())


@page(Act.CLAIM_SETUP, "POST")
@sensitive_post_parameters()
def claim(request: PageRequest) -> HttpResponse:
    """Make the holder of the set-up link the first operator, and go home signed in."""
    token, form = request.POST.get("token", ""), FirstRunForm(request.POST)
    try:
        open_setup_link(token)
        if form.is_valid():
            return enter(
                request,
                claim_setup(token=token, now=timezone.now(), **form.chosen),
            )
    except Gone as used:
        return link_used_page(request, used)
    except Invalid as refusal:
        show_refusal(form, refusal)
    return first_run_page(request, token, form)


def first_run_page(
    request: PageRequest,
    token: str,
    form: FirstRunForm,
) -> HttpResponse:
    """Answer the form of the first run."""
    form.focus_first()
    context = {"title": _("Welcome to Minara"), "token": token}
    return render_form(request, "console/account/first_run.html", form, context)


def link_used_page(request: PageRequest, used: Gone) -> HttpResponse:
    """Show the way in to whoever comes back through a link that has done its work."""
    context = {"title": _("This link was used"), "detail": used.detail}
    return render_page(
        request,
        "console/account/link_used.html",
        context,
        status=used.status,
    )
