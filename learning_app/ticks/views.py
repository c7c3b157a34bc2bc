"""`/ledger/deployments/<id>/`, `/ledger/ticks/<id>/`, `/ledger/trades/<id>/`: a trading agent, one tick, one trade."""

from http import HTTPStatus

from django.http import HttpResponse
from django.utils.translation import gettext as _

from learning_app.ledger.core import DEPLOYMENT_KIND
from learning_app.ledger.models import Trade
from learning_app.ledger.pages.trade import TRADES, note_key, stop_check
from learning_app.ledger.views import get_trade, show_trip
from learning_app.notes.forms import NoteForm
from learning_app.notes.views import save_note
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.forms import SettingsForm
from learning_app.ticks.pages import deployment_context, snapshot_context, trade_parts
from learning_app.ticks.selectors import get_deployment, get_snapshot
from learning_app.ticks.services.deployments import deploy
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.shell.pages import PageRequest, done_by, page
from minara_site.shell.reveals import RevealForm, mask_amounts_again, reveal_amounts
from minara_site.shell.undo import undo_url
from minara_site.web.responses import render_page, see_other, toast


@page(Act.DEPLOYMENT_READ, "GET", "POST")
def deployment(request: PageRequest, deployment_id: str) -> HttpResponse:
    """Show a trading agent, and save its memory settings as a new version; a GET with settings tries them."""
    principal, is_post = request.principal, request.method == "POST"
    act = Act.DEPLOYMENT_CHANGE if is_post else Act.DEPLOYMENT_READ
    principal.require(act)
    row = get_deployment(owner=principal.owner if is_post else principal.reaches(act), uid=deployment_id)
    config = SkillConfig(**row.version.config)
    sent = request.POST if is_post else request.GET if "cadence" in request.GET else None
    form = SettingsForm.of(config.memory, sent)
    is_valid = sent is not None and form.is_valid()
    if is_post and is_valid:
        said = config.model_copy(update={"memory": form.config(config.memory)})
        deploy(owner_id=row.owner_id, name=row.name, skill_name=row.version.skill.name, config=said, **done_by(request))
        if said == config:
            toast(request, _("Nothing changed."))
        else:
            undo = undo_url(DEPLOYMENT_KIND, row, principal)
            toast(request, _("Saved as a new version. It counts from the next tick on."), undo)
        return see_other("ticks:deployment", deployment_id)
    log_opened(principal, row.owner_id, kind="deployment", object_id=deployment_id, now=done_by(request)["now"])
    context = deployment_context(row, principal.owner, form, is_tried=is_valid)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if sent is not None and not is_valid else HTTPStatus.OK
    return render_page(request, "learning_app/ticks/deployment.html", {**context, "form": form}, status=status)


@page(Act.DEPLOYMENT_READ)
def snapshot(request: PageRequest, snapshot_id: int) -> HttpResponse:
    """Show one tick: the portfolio, the decision, and what the agent saw before it."""
    principal = request.principal
    row = get_snapshot(owner=principal.reaches(Act.DEPLOYMENT_READ), snapshot_id=snapshot_id)
    log_opened(principal, row.owner_id, kind="snapshot", object_id=row.pk, now=done_by(request)["now"])
    return render_page(request, "learning_app/ticks/snapshot.html", snapshot_context(row, principal.owner))


@page(Act.LEDGER_READ)
def trade(request: PageRequest, trade_uid: str) -> HttpResponse:
    """Show one trade, with the lessons in force and what the agent saw. Who opens somebody else's leaves a line."""
    return show_trade(request, get_trade(request, trade_uid), RevealForm())


@page(Act.TRADE_REVEAL, "POST")
def reveal(request: PageRequest, trade_uid: str) -> HttpResponse:
    """Show support the amounts of a trade for 15 minutes, with a reason that its owner reads."""
    row = get_trade(request, trade_uid)
    refused = reveal_amounts(request, TRADES.reveals, owner_id=row.owner_id, object_id=trade_uid)
    return show_trade(request, row, refused) if refused else see_other(TRADES.page, trade_uid)


@page(Act.TRADE_REVEAL, "POST")
def reveal_end(request: PageRequest, trade_uid: str) -> HttpResponse:
    """Mask the amounts again before the 15 minutes are over."""
    row = get_trade(request, trade_uid)
    mask_amounts_again(request, TRADES.reveals, owner_id=row.owner_id, object_id=trade_uid)
    return see_other(TRADES.page, trade_uid)


@page(Act.NOTE_WRITE, "POST")
def note(request: PageRequest, trade_uid: str) -> HttpResponse:
    """Keep what an owner wrote beside a trade."""
    row = get_trade(request, trade_uid, Act.NOTE_WRITE)
    refused = save_note(request, TRADES.beside, note_key(row), is_loss=stop_check(row))
    return show_trade(request, row, refused) if refused else see_other(TRADES.page, trade_uid)


def show_trade(request: PageRequest, row: Trade, form: RevealForm | NoteForm) -> HttpResponse:
    """Answer the page of a trade; errors in the form make it 422."""
    parts = trade_parts(row, request.principal)
    return show_trip(request, row, TRADES, form, template="learning_app/ticks/trade.html", **parts)
