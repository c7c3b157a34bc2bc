"""The list of calls: its columns and filters. Each filter walks an index of `llm_usage`."""

import re
from datetime import UTC, date, datetime, time, timedelta

from django.utils.translation import gettext_lazy

from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.windows import EVERY, Window
from minara_site.shell.owners import user_filter
from minara_site.web.filters import Rows, choice
from minara_site.web.lists import Column, Empty, Filter, FilterKind, ListSpec, newest_first

MONTH = re.compile("20[0-9]{2}-(0[1-9]|1[0-2])")
SETTLES_WITHIN = timedelta(days=2)  # of the beginning of its day; a call does not take longer


def by_day(rows: Rows, value: date) -> Rows:
    """Keep what counts in the caps of one UTC day; the times are those of the index."""
    begin = datetime.combine(value, time.min, UTC)
    return rows.filter(date=value, ts__gte=begin, ts__lt=begin + SETTLES_WITHIN)


def by_month(rows: Rows, value: str) -> Rows:
    """Keep what counts in the caps of one UTC month, such as 2026-11; anything else is no month and keeps nothing."""
    if MONTH.fullmatch(value) is None:
        return rows.none()
    month = Window(EVERY, value)
    counted = rows.filter(date__gte=month.first_day, date__lt=month.day_after)
    return counted.filter(ts__gte=month.begins_at, ts__lt=month.ends_at + SETTLES_WITHIN)


CALLS = ListSpec(
    name="calls",
    caption=gettext_lazy("Model calls"),
    row="console/budgets/_row.html",
    columns=(
        Column(gettext_lazy("Task")),
        Column(gettext_lazy("Category")),
        Column(gettext_lazy("Model")),
        Column(gettext_lazy("Owner")),
        Column(gettext_lazy("Tokens"), numeric=True),
        Column(gettext_lazy("Cost"), numeric=True),
        Column(gettext_lazy("When"), numeric=True),
    ),
    sorts=(newest_first("ts"),),
    filters=(
        choice(
            "category",
            gettext_lazy("Category"),
            [(category.value, category.value) for category in Category],
        ),
        Filter("task", gettext_lazy("Task"), FilterKind.TEXT, lookup="task"),
        Filter("model", gettext_lazy("Model"), FilterKind.TEXT, lookup="model"),
        user_filter("owner", gettext_lazy("Owner")),
        Filter("month", gettext_lazy("Month (UTC)"), FilterKind.TEXT, apply=by_month),
        Filter("day", gettext_lazy("Day (UTC)"), FilterKind.DATE, apply=by_day),
    ),
    empty=Empty(
        "budget",
        gettext_lazy("No calls yet"),
        gettext_lazy("Every call of a model is listed here with what it used and cost; its words are not."),
    ),
    has_actions=False,
)
