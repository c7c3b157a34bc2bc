"""Somebody asks for institution runs, or cancels one. Source: contract."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from learning_app.capabilities import INSTITUTION_RUNS
from learning_app.institution.models import OPEN_STATES, InstitutionRun
from learning_app.vocabulary import InstitutionState
from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.errors import Conflict, FieldError, Invalid, NotFound, Refused
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.jobs import services as jobs
from minara_site.kernel.limits.model_actions import count_model_action
from minara_site.kernel.market.selectors import find_newest
from minara_site.kernel.market.symbols import require_symbol

RUN = "institution.run"
MAX_TICKERS = 20


class InstitutionOff(Refused):
    """An operator switched institution runs off."""

    code = "institution_off"


def request_runs(
    *,
    owner_id: int,
    tickers: Sequence[str],
    actor: str,
    feeds: bool,
    now: datetime,
) -> list[InstitutionRun]:
    """Ask for one run of each ticker, all or none; each is an act that calls models. Call it outside a transaction.

    `feeds` says that an operator asks. Raises InstitutionOff, Invalid and Throttled.
    """
    require_on()
    symbols = clean_tickers(tickers, now=now)
    count_model_action(actor, acts=len(symbols), now=now)
    with transaction.atomic():
        return [
            create_run(
                owner_id=owner_id,
                ticker=each,
                actor=actor,
                feeds=feeds,
                now=now,
                is_job=True,
            )
            for each in symbols
        ]


def create_run(
    *,
    owner_id: int,
    ticker: str,
    actor: str,
    feeds: bool,
    now: datetime,
    as_of: datetime | None = None,
    is_job: bool = False,
) -> InstitutionRun:
    """Store a run, and with `is_job` ask a worker for it. Needs a transaction."""
    run: InstitutionRun = InstitutionRun.objects.create(
        owner_id=owner_id,
        ticker=ticker,
        actor=actor,
        feeds=feeds,
        as_of=as_of,
        created_at=now,
    )
    if is_job:
        request_job(run, now=now)
    record_audit(
        now=now,
        actor=actor,
        tool_call="institution_requested",
        owner_id=owner_id,
        details={"id": run.uid, "ticker": ticker},
    )
    return run


def request_job(run: InstitutionRun, *, now: datetime) -> None:
    """Ask a worker to go on with a run. Needs a transaction."""
    job = jobs.request_run(
        RUN,
        {"run_id": run.pk},
        now=now,
        requested_by=run.actor,
    )
    InstitutionRun.objects.filter(pk=run.pk).update(job_run_id=job.pk)
    run.job_run_id = job.pk


def require_on() -> None:
    """Raise InstitutionOff while an operator has switched institution runs off."""
    if mode_of(INSTITUTION_RUNS) is Mode.OFF:
        raise InstitutionOff(_("Institution runs are switched off under System, Automation."))


def clean_tickers(tickers: Sequence[str], *, now: datetime) -> list[str]:
    """Return the symbols of tickers, each once. Raises Invalid for none, too many, and one without a price."""
    if not 1 <= len(tickers) <= MAX_TICKERS:
        raise wrong(_("Name 1 to %(most)d tickers.") % {"most": MAX_TICKERS})
    symbols = []
    for ticker in dict.fromkeys(tickers):
        try:
            symbol = require_symbol(ticker)
        except ValueError as advice:
            raise wrong(f"{ticker[:40]}: {advice}", code="symbol_unknown") from None
        if find_newest(symbol, None, now) is None:
            raise wrong(
                _("The instance has no price of %(ticker)s. Import or fetch its prices first.") % {"ticker": symbol},
                code="no_price",
            )
        symbols.append(symbol)
    return list(dict.fromkeys(symbols))


def wrong(problem: str, *, code: str = "") -> Invalid:
    """Return the refusal of tickers."""
    return Invalid(
        problem,
        code=code or None,
        errors=(FieldError("tickers", problem),),
    )


def cancel_run(run: InstitutionRun, *, actor: str, now: datetime) -> None:
    """End a run that waits or works, for good; what its roles said stays. Raises Conflict once it is over."""
    with transaction.atomic():
        if not end_run(run, InstitutionState.CANCELLED, now=now):
            raise Conflict(_("This run is over. Nothing was changed."), code="over")
        if run.job_run_id:
            with suppress(Conflict, NotFound):  # it ended while the page was read
                jobs.cancel_run(run.job_run_id, now=now)
        record_audit(
            now=now,
            actor=actor,
            tool_call="institution_cancelled",
            owner_id=run.owner_id,
            details={"id": run.uid},
        )


def end_run(
    run: InstitutionRun,
    state: InstitutionState,
    *,
    error: str = "",
    now: datetime,
) -> bool:
    """End a run without a decision; False says that it was over."""
    still_open = InstitutionRun.objects.filter(pk=run.pk, state__in=OPEN_STATES)
    return bool(still_open.update(state=state, error=error[:300], ended_at=now))
