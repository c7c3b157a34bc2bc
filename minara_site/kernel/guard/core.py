"""The judgement of a text: accept, or hold with reason and span. Pure; what is held is the rooms' work.

Sources: trust P-02 to P-04, R-29, decisions (holds, secrets in content). `RULES` is the rule set in force, the only
place that says so. A text is judged by what a reader makes of it, so a rule sees it folded, spaced out, encoded or
backwards too. Nothing here changes a text.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from minara_site.kernel.core.encodings import decoded_parts
from minara_site.kernel.core.fence import find_fence_marks
from minara_site.kernel.core.folding import fold
from minara_site.kernel.core.hidden import find_unexpected
from minara_site.kernel.core.injection import Pattern, Scanner
from minara_site.kernel.core.injection_lexicon import CONCEPTS
from minara_site.kernel.core.injection_patterns import PATTERNS
from minara_site.kernel.core.secret_scan import SecretKind, find_secrets

ENGINE = 4
"""Raised when the way of looking changes, not only what is looked for."""

HIDDEN, FENCE, ENCODED, ENCODED_SECRET = "hidden", "fence_tag", "encoded_orders", "encoded_secret"

MAX_FINDINGS = 20
"""As many findings of one rule in one text."""

_MAX_DEPTH = 3


def gettext_noop(message: str) -> str:
    """Mark a text for translation where it is shown; Django's own would bring Django into a pure core."""
    return message


class Reason(StrEnum):
    """Why a text is held."""

    INJECTION = "injection"
    HIDDEN = "hidden"
    SECRET = "secret"  # noqa: S105 - a word of the vocabulary
    OWNER_DECIDES = "owner_decides"  # a key wrote it where a person decides


OWNER_DECIDES = Reason.OWNER_DECIDES.value
"""The rule of a text that always waits for a person, whatever it says."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: the characters from `start` to before `end` of the text as it was written."""

    rule: str
    reason: Reason
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one text by one rule set; without findings it is accepted. Findings stand in order."""

    findings: tuple[Finding, ...]
    rules_version: str

    @property
    def is_held(self) -> bool:
        return bool(self.findings)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, what it finds in words for an operator, and why that is held.

    `pattern` is what it looks for; rules without one are built into the engine.
    """

    id: str
    description: str
    reason: Reason
    pattern: Pattern | None = None


class RuleSet:
    """Rules that judge together. `version` follows from them: another rule or pattern makes another version."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        made_of = [(rule.id, rule.reason.value, rule.pattern) for rule in self.rules]
        digest = hashlib.sha256(repr((made_of, sorted(CONCEPTS.items()))).encode()).hexdigest()
        self.version = f"{ENGINE}-{digest[:12]}"
        self._by_id = {rule.id: rule for rule in self.rules}
        self._scanner = Scanner([rule.pattern for rule in self.rules if rule.pattern])

    def judge(self, text: str, *, most: int = MAX_FINDINGS) -> Verdict:
        """Return the verdict on a text, with so many findings of each rule. Linear in its length."""
        found = sorted(
            set(self._findings(text, 0, most)),
            key=lambda finding: (finding.start, finding.end, finding.rule),
        )
        return Verdict(tuple(found), self.version)

    def _findings(self, text: str, depth: int, most: int) -> Iterator[Finding]:
        """Yield what the rules of this set find, a limited number for each rule."""
        counts: Counter[str] = Counter()
        for rule_id, start, end in self._spans(text, depth, most):
            counts[rule_id] += 1
            if rule_id in self._by_id and counts[rule_id] <= most:
                yield Finding(rule_id, self._by_id[rule_id].reason, start, end)

    def _spans(
        self,
        text: str,
        depth: int,
        most: int,
    ) -> Iterator[tuple[str, int, int]]:
        """Yield rule, start and end of everything that is found, also by rules outside this set."""
        yield from ((HIDDEN, start, end) for start, end in find_unexpected(text))
        yield from ((FENCE, start, end) for start, end in find_fence_marks(text))
        yield from self._scanner.find_folded(fold(text))
        yield from (
            (
                secret.kind.value,
                secret.start,
                secret.end,
            )
            for secret in find_secrets(text)
        )
        if depth < _MAX_DEPTH:
            yield from self._encoded(text, depth, most)

    def _encoded(
        self,
        text: str,
        depth: int,
        most: int,
    ) -> Iterator[tuple[str, int, int]]:
        """Yield the parts in which something is found once they are decoded."""
        for part in decoded_parts(text):
            for finding in self._findings(part.text, depth + 1, most):
                if finding.reason is not Reason.HIDDEN:
                    rule = ENCODED_SECRET if finding.reason is Reason.SECRET else ENCODED
                    yield (rule, *part.span(finding.start, finding.end))


def judge(text: str) -> Verdict:
    """Return the verdict of the rule set in force on a text. Linear in its length."""
    return RULES.judge(text)


def always_waits(text: str, verdict: Verdict) -> Verdict:
    """Return the verdict on a text that waits for a person even when the rules accept it."""
    if verdict.is_held:
        return verdict
    return Verdict((Finding(OWNER_DECIDES, Reason.OWNER_DECIDES, 0, len(text)),), verdict.rules_version)


def _described(descriptions: Mapping[str, str]) -> Iterator[Rule]:
    """Yield the rules of injection with their patterns; each pattern is described, each description has a pattern."""
    patterns = {pattern.id: pattern for pattern in PATTERNS}
    for rule_id in descriptions:
        yield Rule(
            rule_id,
            descriptions[rule_id],
            Reason.INJECTION,
            patterns[rule_id],
        )


RULES = RuleSet(
    (
        *_described(
            {
                "override_instructions": gettext_noop("Tells the agent to ignore, forget or break its instructions."),
                "new_instructions": gettext_noop("Announces new instructions or a new task for the agent."),
                "role_tag": gettext_noop("Speaks as the system or the assistant: role tags and chat templates."),
                "tool_call": gettext_noop(
                    "Looks like a call of a tool or its result, or names a tool that moves money."
                ),
                "forged_boundary": gettext_noop("Pretends that the memory ends here, or that a person released it."),
                "hidden_comment": gettext_noop("Holds a comment or style that a page would not show."),
                "exfiltrate_data": gettext_noop("Sends data to an address: a remote image, a link with a placeholder."),
                "reveal_prompt": gettext_noop("Asks for the system prompt or the instructions of the agent."),
                "reveal_secrets": gettext_noop("Asks for keys, passwords or private data."),
                "take_over_persona": gettext_noop("Gives the agent another role, a mode without rules, or privileges."),
                "disable_safeguards": gettext_noop("Switches off limits, confirmations or other safeguards."),
                "blanket_approval": gettext_noop("Approves payments or trades in advance, or without asking."),
                "move_funds": gettext_noop("Orders to send all funds, or to use another address instead."),
                "keep_from_user": gettext_noop("Asks the agent to keep something from the user or the operator."),
                "persist_in_memory": gettext_noop("Asks to be kept for ever, or puts itself above other memories."),
                "act_on_every_answer": gettext_noop("Adds a link or a call to answers of the agent."),
                "borrowed_authority": gettext_noop("Claims to come from the user, an administrator or the developer."),
                "steer_judgement": gettext_noop("Tells a reviewing model how to judge or what lesson to draw."),
            }
        ),
        Rule(
            ENCODED,
            gettext_noop("One of these, written in base64, hex, escapes, ROT13 or backwards."),
            Reason.INJECTION,
        ),
        Rule(
            FENCE,
            gettext_noop("Looks like one of the tags that are around memories in the prompt."),
            Reason.INJECTION,
        ),
        Rule(HIDDEN, gettext_noop("Holds characters that a person cannot see and a model can read."), Reason.HIDDEN),
        Rule(
            SecretKind.SEED_PHRASE.value,
            gettext_noop("Holds the seed phrase of a wallet; its checksum is right."),
            Reason.SECRET,
        ),
        Rule(
            SecretKind.WALLET_KEY.value,
            gettext_noop("Holds a private key in wallet import or extended format."),
            Reason.SECRET,
        ),
        Rule(
            SecretKind.PRIVATE_KEY.value,
            gettext_noop("Holds a private key, as the words before it say."),
            Reason.SECRET,
        ),
        Rule(SecretKind.PEM_KEY.value, gettext_noop("Holds a private key in PEM format."), Reason.SECRET),
        Rule(SecretKind.OWN_KEY.value, gettext_noop("Holds an API key of this Minara."), Reason.SECRET),
        Rule(SecretKind.SERVICE_KEY.value, gettext_noop("Holds a key or token of a service."), Reason.SECRET),
        Rule(
            SecretKind.PASSWORD.value,
            gettext_noop("Holds a password, or another value named as secret."),
            Reason.SECRET,
        ),
        Rule(ENCODED_SECRET, gettext_noop("Holds a secret in base64, hex or escapes."), Reason.SECRET),
    )
)
"""The rule set in force; a stored verdict of another `version` is out of date."""
