"""`minara institution run TICKER` and `minara institution reflect`. Shapes: the contract; source: S2."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.institution.models import InstitutionReflection, InstitutionRoleOutput
from learning_app.institution.selectors import get_run, list_runs, run_record
from learning_app.institution.services.ladder import reflect_by_hand
from learning_app.institution.services.requests import cancel_run, clean_tickers, create_run, require_on
from learning_app.institution.services.run import run_institution
from learning_app.vocabulary import InstitutionState, OutcomeState
from minara_site.access.models import User
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.errors import Conflict
from minara_site.kernel.llm.gateway import what_is_missing

ACTOR = "command:institution"
MAX_REFLECTED = 200  # decisions, the newest


class Command(OwnerCommand):
    """Run a committee of model roles on a ticker, or look back at decisions by hand."""

    help = "run: let a committee decide on a ticker, here and now. reflect: look back at decisions; it counts nowhere."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the acts."""
        acts = parser.add_subparsers(dest="act", required=True)
        run = acts.add_parser("run", help="let the committee decide on a ticker")
        run.add_argument("ticker", help="BTC, ETH/BTC or EURUSD")
        run.add_argument(
            "--at",
            metavar="MOMENT",
            help="replay from this moment of the past, in UTC; it feeds nothing",
        )
        reflect = acts.add_parser("reflect", help="look back at decisions as prices stand now")
        reflect.add_argument("--run", metavar="ID", help="only this run")
        for each in (run, reflect):
            self.add_user(each, "whose runs they are")
            each.add_argument("--json", action="store_true", help="answer with JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Exit status 1 says that a run ended without a decision."""
        owner = self.owner(options)
        if options["act"] == "run":
            self.run_one(owner, options)
        else:
            self.reflect(owner, options)

    def run_one(self, owner: User, options: Mapping[str, Any]) -> None:
        """Run one committee and print its phases; Ctrl-C cancels it. Raises CommandError then, and without a model."""
        if missing := what_is_missing():
            raise CommandError(missing)
        require_on()
        now = timezone.now()
        as_of = read_moment(options["at"], now=now) if options["at"] else None
        [ticker] = clean_tickers([options["ticker"]], now=as_of or now)
        with transaction.atomic():
            run = create_run(
                owner_id=owner.pk,
                ticker=ticker,
                actor=ACTOR,
                feeds=as_of is None,
                now=now,
                as_of=as_of,
            )
        if not options["json"]:
            self.stdout.write(_("Institution run %(id)s on %(ticker)s") % {"id": run.uid, "ticker": ticker})
        try:
            run_institution(
                run.pk,
                now=now,
                say=lambda output: None if options["json"] else self.say_output(output),
            )
        except KeyboardInterrupt:
            with suppress(Conflict):  # it was over
                cancel_run(run, actor=ACTOR, now=timezone.now())
                raise CommandError(_("Cancelled. What the roles said so far stays.")) from None
        run = get_run(owner=owner, uid=run.uid)
        if options["json"]:
            self.say_json(run_record(run))
        elif run.state == InstitutionState.DONE:
            said = _("Decision: %(rating)s, confidence %(confidence)s, horizon %(days)d days. Cost: %(cost)s USD")
            confidence = f"{run.confidence:.2f}"
            figures = {
                "rating": run.rating,
                "confidence": confidence,
                "days": run.horizon_days,
                "cost": f"{run.cost_usd.normalize():f}",
            }
            self.stdout.write(said % figures)
        if run.state != InstitutionState.DONE:
            self.stderr.write(run.error or _("The run ended without a decision."))
            sys.exit(1)

    def say_output(self, output: InstitutionRoleOutput) -> None:
        """Print that a role answered."""
        texts = (output.fields.get(name) for name in ("summary", "argument", "rationale", "opinion"))
        line = next(filter(None, texts), "")
        self.stdout.write(f"{output.phase:<9} {output.role:<18} {line}")

    def reflect(self, owner: User, options: Mapping[str, Any]) -> None:
        """Look back at one decision, or at the newest, and print how each stands."""
        rows = list_runs(owner=owner).filter(state=InstitutionState.DONE, is_demo=False)
        if options["run"]:
            runs = [get_run(owner=owner, uid=options["run"])]
            if runs[0].state != InstitutionState.DONE:
                raise CommandError(_("This run has no decision to look back at."))
        else:
            runs = list(rows.order_by("-decided_at", "-pk")[:MAX_REFLECTED])
        found = reflect_by_hand(runs, now=timezone.now())
        if options["json"]:
            self.say_json([reflection_record(each) for each in found])
        for each in () if options["json"] else found:
            change = "" if each.pnl_pct is None else f"{each.pnl_pct:+.2f} %"
            state = _("no price") if each.outcome_state == OutcomeState.PENDING else each.outcome_state
            self.stdout.write(f"{each.run.uid}  {each.run.ticker:<10} {each.run.rating:<4}  {state:<14} {change}")
        if not found and not options["json"]:
            self.stdout.write(_("There are no decisions to look back at."))


def read_moment(text: str, *, now: datetime) -> datetime:
    """Return a moment of the past; without a zone it is UTC. Raises CommandError."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(_("Write the moment as 2026-06-12T12:00.")) from None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    if at > now:
        raise CommandError(_("The moment of a replay lies in the past."))
    return at


def reflection_record(each: InstitutionReflection) -> dict[str, Any]:
    """Return a look back as JSON has it."""
    score = None if each.outcome_state == OutcomeState.PENDING else each.outcome_state
    return {
        "run_id": each.run.uid,
        "ticker": each.run.ticker,
        "rating": each.run.rating,
        "decided_at": each.run.decided_at,
        "score": score,
        "pnl_pct": each.pnl_pct,
    }
