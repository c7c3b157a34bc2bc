"""`/invite/`: somebody chooses their password through a one-time link.

The form posts to an address without the token, and the page sends no address of its own along (`Referrer-Policy`), so
that neither a log nor a `Referer` ever names a live link.
"""

from django.contrib.auth import logout
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from minara_site.access.invitations.services import accept_invitation, open_invitation
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.console.account.invitations.forms import InvitationForm
from minara_site.kernel.errors import Gone, Invalid
from minara_site.shell.pages import PageRequest, page
from minara_site.web.forms import show_refusal
from minara_site.web.responses import render_form, render_page, see_other, toast


@page(Act.ACCEPT_INVITATION)
def invitation(request: PageRequest, token: str) -> HttpResponse:
    """Greet the holder of a link."""
    try:
        user = open_invitation(token, now=timezone.now()).user
    except Gone as over:
        return link_over_page(request, over)
    return invitation_page(request, token, user, InvitationForm(user))


@page(Act.ACCEPT_INVITATION, "POST")
@sensitive_post_parameters()
@sensitive_variables()
def accept(request: PageRequest) -> HttpResponse:
    """Keep the password, and go to the sign-in page: a second factor, where there is one, still counts."""
    token, now = request.POST.get("token", ""), timezone.now()
    try:
        user = open_invitation(token, now=now).user
        form = InvitationForm(user, request.POST)
        if form.is_valid():
            user = accept_invitation(token=token, now=now, **form.chosen)
            logout(request)  # whoever sat here; a session of this person has ended already
            toast(
                request,
                _("The password is set. Sign in as %(name)s.") % {"name": user.username},
            )
            return see_other("account_login")
    except Gone as over:
        return link_over_page(request, over)
    except Invalid as refusal:
        show_refusal(form, refusal)
    return invitation_page(request, token, user, form)


def invitation_page(
    request: PageRequest,
    token: str,
    user: User,
    form: InvitationForm,
) -> HttpResponse:
    """Answer the form."""
    form.focus_first()
    context = {
        "title": _("Choose your password"),
        "token": token,
        "username": user.username,
    }
    return hide_address(render_form(request, "console/account/invitations/accept.html", form, context))


def link_over_page(request: PageRequest, over: Gone) -> HttpResponse:
    """Show the way in to whoever comes through a link that has done its work or has ended."""
    context = {"title": _("This link no longer works"), "detail": over.detail}
    return hide_address(
        render_page(
            request,
            "console/account/link_used.html",
            context,
            status=over.status,
        )
    )


def hide_address(response: HttpResponse) -> HttpResponse:
    """Let the browser name this site and no page when it goes on from here."""
    response["Referrer-Policy"] = "strict-origin"
    return response
