"""What the guard's reasons and rules are called on pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.core import Finding, Reason

REASONS: Mapping[str, str | Promise] = {
    Reason.INJECTION: _("Instructions"),
    Reason.HIDDEN: _("Hidden characters"),
    Reason.SECRET: _("Secret"),
    Reason.OWNER_DECIDES: _("A person decides"),
}
SENTENCES: Mapping[str, str | Promise] = {
    Reason.INJECTION: _("It gives the agent orders instead of telling it something."),
    Reason.HIDDEN: _("It holds characters that no person sees and every model reads."),
    Reason.SECRET: _("It holds what looks like a password, a key or a seed phrase."),
    Reason.OWNER_DECIDES: _("A key wrote it where a person decides whether it comes in."),
}


@dataclass(frozen=True, slots=True)
class NamedRule:
    """A rule that found something in a text, and how often."""

    id: str
    description: str
    count: int


DESCRIPTIONS: Mapping[str, str] = {rule.id: rule.description for rule in guard.RULES.rules}


def describe_rule(rule_id: str) -> str:
    """Return in the reader's language what a rule finds; one of an older rule set has only its name."""
    return translation.gettext(DESCRIPTIONS[rule_id]) if rule_id in DESCRIPTIONS else ""


def name_rules(findings: Iterable[Finding]) -> list[NamedRule]:
    """Return the rules behind these findings, each once, in the order of the text."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return [NamedRule(rule_id, describe_rule(rule_id), count) for rule_id, count in counts.items()]
