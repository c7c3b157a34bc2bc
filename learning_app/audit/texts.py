"""What findings and scores say, and what to do: with the numbers of their facts, in the language of the reader."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.audit.core.composite import WEIGHTS, Band
from learning_app.audit.core.records import Dimension, FindingCode, Severity
from minara_site.kernel.core.assets import AssetGroup
from minara_site.web.filters import Text
from minara_site.web.market_labels import GROUP_LABELS
from minara_site.web.moments import number_label

FINDINGS: dict[FindingCode, tuple[Text, Text]] = {
    FindingCode.VERDICTS_OSCILLATE: (
        _("%(count)s of %(of)s later verdicts changed side within %(days)s days"),
        _("Read the cases of these methodologies. Quarantine one whose verdicts keep changing."),
    ),
    FindingCode.VERDICTS_UNREADABLE: (
        _("Verdicts whose side cannot be read: %(count)s"),
        _("They are left out of the score. Look at the model's last answers on the timelines."),
    ),
    FindingCode.FLAGS_CONTRADICTED: (
        _("Flags of the model on methodologies that were right in most of their new cases: %(count)s"),
        _("They count for nothing. If they continue, read the model's reasons, or turn verdicts off under Automation."),
    ),
    FindingCode.MARKET_STRESS_FREEZE: (
        _("Passes without verdicts because markets were under stress: %(count)s"),
        _("Nothing to do while markets move like this. If it lasts, check the regime of the newest cases."),
    ),
    FindingCode.SYNTHESIS_AUTO_DEMOTE: (
        _("Methodologies demoted by the learning cron outside of an outcome: %(count)s"),
        _("Check that the thresholds in Configuration are the ones that you want."),
    ),
    FindingCode.GRADUATIONS_REVERSED: (
        _("%(count)s of %(of)s graduations were reversed within %(days)s days"),
        _("Read these timelines. METHODOLOGY_COURT=enforce asks for evidence against chance too."),
    ),
    FindingCode.SKILL_DECAYED: (
        _("Graduated methodologies whose skill seems gone: %(count)s"),
        _("Read their newest cases. Quarantine what no longer works."),
    ),
    FindingCode.OUTCOMES_OF_ONE_OWNER: (
        _("Methodologies that only one owner's outcomes would take from the others: %(count)s"),
        _("Read their cases by owner. Quarantine what fails for the others too; look at the writes of that owner."),
    ),
    FindingCode.GRADUATED_BY_LADDER: (
        _("Methodologies in prompts by outcomes of institution runs, not by cases alone: %(count)s"),
        _("Read these outcomes on the timelines. Quarantine what its cases do not support."),
    ),
    FindingCode.CASES_UNRESOLVED: (
        _("%(count)s of %(of)s closed cases ended inconclusive or without a price"),
        _("Check that prices of these assets arrive, and that horizons are long enough to leave the noise band."),
    ),
    FindingCode.CASES_WITHOUT_PRICE: (
        _("%(count)s of %(of)s calls never got a price"),
        _("Check that prices of these assets arrive, and that horizons begin and end while their markets are open."),
    ),
    FindingCode.CASES_OVERDUE: (
        _("Pending cases past their window and older than %(days)s days: %(count)s"),
        _("Check the price source of these assets."),
    ),
    FindingCode.GROUPS_UNCOVERED: (
        _("No active methodology for %(groups)s"),
        _("Review what waits in quarantine for these asset groups. Only outcomes bring it into prompts."),
    ),
    FindingCode.GROUPS_THIN: (
        _("Fewer than %(goal)s active methodologies for %(groups)s"),
        _("Review what waits in quarantine for these asset groups. Only outcomes bring it into prompts."),
    ),
    FindingCode.STATES_CHURN: (
        _("%(count)s of %(of)s methodologies that changed state did so %(times)s times or more"),
        _("Read their timelines and decide once: quarantine with a reason stays until an operator releases."),
    ),
    FindingCode.HEARTBEAT_MISSING: (
        _("The learning cron has never run, and cases are overdue: %(count)s"),
        _("Start a worker, or run `minara learning cron` from the system's scheduler."),
    ),
    FindingCode.HEARTBEAT_LATE: (
        _("The learning cron last ended %(hours)s h ago; %(allowed)s h are allowed"),
        _("Check under Jobs that a worker runs, and read the last run of learning.cron."),
    ),
    FindingCode.HEARTBEAT_FAILED: (
        _("The newest pass of the learning cron failed"),
        _("Read the error of the last run of learning.cron under Jobs."),
    ),
    FindingCode.CRON_BEHIND: (
        _("The learning cron leaves overdue cases open: %(count)s"),
        _("Check the price source of these assets."),
    ),
}
"""Of each finding its sentence and its advisory action."""

NAMES: dict[Dimension, Text] = {
    Dimension.SYNTHESIS_QUALITY: _("Verdicts keep their side"),
    Dimension.GRADUATION_FP_RATE: _("Graduations hold"),
    Dimension.ATTRIBUTION_INTEGRITY: _("Cases get an outcome"),
    Dimension.COVERAGE_HEALTH: _("Asset groups are covered"),
    Dimension.QUARANTINE_CHURN: _("States are stable"),
    Dimension.CRON_HEALTH: _("The learning cron runs"),
}
FORMULAS: dict[Dimension, Text] = {
    Dimension.SYNTHESIS_QUALITY: _(
        "100 x (1 − changes of side within 7 days / verdicts after a methodology's first). "  # noqa: RUF001 - a minus
        "A flag that prices contradict is no verdict. Without a verdict: no score."
    ),
    Dimension.GRADUATION_FP_RATE: _(
        "100 x (1 − Wilson lower bound of the share of graduations that were reversed within 30 days), over the window "  # noqa: RUF001 - a minus
        "and 30 days more. Graduations younger than 30 days count only once they are reversed."
    ),
    Dimension.ATTRIBUTION_INTEGRITY: _(
        "(0.7 x resolve rate + 0.3 x (1 − backlog share)) x 100. Resolve rate: good or bad of all closed cases. "  # noqa: RUF001 - a minus
        "Backlog: pending, window over, decided 14 days ago."
    ),
    Dimension.COVERAGE_HEALTH: _(
        "100 x the mean over the five asset groups of min(n, 3)/3, n being graduated methodologies with 10 uses. "
        "Below 3 covered groups: times covered groups/3."
    ),
    Dimension.QUARANTINE_CHURN: _(
        "100 x (1 − methodologies with 3 or more changes of state / methodologies with any). Verdicts, outcomes and "  # noqa: RUF001 - a minus
        "duplicates are no changes."
    ),
    Dimension.CRON_HEALTH: _(
        "100 up to 12 hours after the last heartbeat, then linear to 0 at 7 days, less 30 x min(1, overdue cases/100)."
    ),
}
SCORED: dict[Dimension, Text] = {
    Dimension.SYNTHESIS_QUALITY: _("%(changes)s changes of side in %(later)s later verdicts"),
    Dimension.GRADUATION_FP_RATE: _("%(reversed)s of %(counted)s graduations reversed; %(young)s younger than 30 days"),
    Dimension.ATTRIBUTION_INTEGRITY: _("%(resolved)s of %(closed)s closed cases good or bad; %(overdue)s overdue"),
    Dimension.COVERAGE_HEALTH: _("%(active)s active methodologies in %(covered)s of %(groups)s asset groups"),
    Dimension.QUARANTINE_CHURN: _("%(churning)s of %(changed)s changed state 3 times or more"),
    Dimension.CRON_HEALTH: _("last heartbeat %(hours)s h ago, %(allowed)s h allowed; %(overdue)s cases overdue"),
}
"""What a score was computed of."""
NOT_SCORED: dict[Dimension, Text] = {
    Dimension.SYNTHESIS_QUALITY: _("No readable verdict in the window."),
    Dimension.GRADUATION_FP_RATE: _("No graduation is old enough; %(young)s younger than 30 days."),
    Dimension.ATTRIBUTION_INTEGRITY: _("No case closed, and none is overdue."),
    Dimension.COVERAGE_HEALTH: _("No graduated methodology with 10 uses yet."),
    Dimension.QUARANTINE_CHURN: _("No methodology changed state."),
    Dimension.CRON_HEALTH: _("The learning cron has not run, and no case is overdue."),
}
"""Why a dimension has no score."""
NEVER_RAN: Text = _("the learning cron has never run; %(overdue)s cases overdue")
BAND_LABELS: dict[Band, Text] = {
    Band.HEALTHY: _("Healthy"),
    Band.WATCH: _("Watch"),
    Band.DEGRADED: _("Degraded"),
    Band.ALARM: _("Alarm"),
    Band.DISABLED: _("Disabled"),
}
SEVERITY_LABELS: dict[Severity, Text] = {
    Severity.HIGH: _("High"),
    Severity.MEDIUM: _("Medium"),
    Severity.LOW: _("Low"),
}


def fill_text(text: Text, facts: Mapping[str, Any]) -> str:
    """Return a sentence with its facts: numbers as people read them, asset groups by their names."""
    shown = {name: number_label(value) if isinstance(value, int) else value for name, value in facts.items()}
    if "groups" in facts and isinstance(facts["groups"], str):
        shown["groups"] = ", ".join(str(GROUP_LABELS[AssetGroup(name)]) for name in facts["groups"].split(","))
    return str(text) % shown


def finding_text(code: FindingCode, count: int, facts: Mapping[str, Any]) -> str:
    """Return what a finding says."""
    return fill_text(FINDINGS[code][0], {**facts, "count": count})


def advice_text(code: FindingCode) -> str:
    """Return what to do about a finding."""
    return str(FINDINGS[code][1])


def score_text(
    dimension: Dimension,
    *,
    is_scored: bool,
    facts: Mapping[str, Any],
) -> str:
    """Return what a score was computed of, or why there is none."""
    if is_scored and dimension is Dimension.CRON_HEALTH and "hours" not in facts:
        return fill_text(NEVER_RAN, facts)
    return fill_text((SCORED if is_scored else NOT_SCORED)[dimension], facts)


def weight_percent(dimension: Dimension) -> int:
    """Return the weight of a dimension before any is left out, in percent."""
    return int(100 * WEIGHTS[dimension])
