"""The one model call on a request: which tags a message needs. Sources: S3 (intent gating), decisions (model calls).

It may fail, and nothing fails with it: without a key, over a budget, late, or with an answer that does not fit,
nothing is chosen.
"""

from collections.abc import Sequence

import structlog
from django.db import DatabaseError, InterfaceError

from minara_site.kernel.errors import MinaraError
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.gateway import Question, Tier, ask
from profile_app.prompt.core.intent import MAX_TOKENS, SECONDS, SYSTEM, TASK, TurnTags, chosen_of, render_question

log = structlog.get_logger(__name__)


def choose_tags(message: str, names: Sequence[str], *, owner_id: int) -> frozenset[str]:
    """Return which of the named tags a message needs, none after two seconds; without names nothing is asked."""
    if not names:
        return frozenset()
    question = Question(
        category=Category.AGENT,
        task=TASK,
        tier=Tier.FAST,
        system=SYSTEM,
        content=render_question(message, names),
        answer=TurnTags,
        max_tokens=MAX_TOKENS,
        owner_id=owner_id,
        within_seconds=SECONDS,
    )
    try:
        chosen = chosen_of(ask(question).value, names)
    except MinaraError as error:
        log.info("intent_not_asked", reason=error.problem_code)
        return frozenset()
    except (DatabaseError, InterfaceError) as error:
        log.warning("intent_not_asked", reason=type(error).__name__)
        return frozenset()
    if chosen is None:
        log.info("intent_unfit")
    return chosen or frozenset()
