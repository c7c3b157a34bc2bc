"""`minara budget`: what model calls cost and may cost, today and this month."""

import json
from argparse import ArgumentParser
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.llm.budget import usd_label
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.kernel.llm.selectors import WindowStatus, budget_record, load_budget

HEADS = ("category", "window", "spent", "reserved", "cap", "forecast")


class Command(MinaraCommand):
    """Print the budget."""

    help = "Print what model calls have cost today and this month, what is reserved, and the caps, in USD."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--json",
            action="store_true",
            help="print it as GET /v1/budget answers it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line for each category and window."""
        now = timezone.now()
        standings = load_budget(now=now)
        if options["json"]:
            self.stdout.write(json.dumps(budget_record(standings)))
            return
        shown = [each for each in standings if each.window.category != EVERY or each.totals.cap is not None]
        rows = [HEADS, *(cells_of(each, each.forecast(now)) for each in shown)]
        for row in rows:
            self.stdout.write("".join(f"{cell:<12}" for cell in row[:2]) + "".join(f"{cell:>14}" for cell in row[2:]))


def cells_of(standing: WindowStatus, coming: Any) -> tuple[str, ...]:
    """Return the cells of a line."""
    totals = standing.totals
    cap = _("none") if totals.cap is None else usd_label(totals.cap) + ("*" if standing.raised_cap is not None else "")
    ahead = _("too early") if coming is None else f"{coming:.2f}"
    return (
        totals.window.category,
        totals.window.name,
        usd_label(totals.spent),
        usd_label(totals.reserved),
        cap,
        ahead,
    )
