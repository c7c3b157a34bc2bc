"""An owner of whom prompts carry everything: files, custom prompt, summaries, tags."""

from typing import Any

from minara_site.kernel.guard.core import RULES
from profile_app.documents.core import CUSTOM_PROMPT, PROFILE_SUMMARY
from profile_app.portrait.core.tags import TagSource
from profile_app.portrait.services.tags import set_tags
from tests.kit.clock import NOON
from tests.profile_app.documents.rows import make_document

FILES = {
    "SOUL.md": "# Soul\nYou are calm.\n[preference] not a row",
    "AGENTS.md": "Read `MEMORY.md` first.",
    "USER.md": "Trades from Shanghai.\n\n| when | what |\n|---|---|\n| 9:00 | 山寨币 |",
    "MEMORY.md": "- never sells before earnings",
    "IDENTITY.md": "- **Name:** Ada\n- **Emoji:** 🦉",
    "TOOLS.md": "canary of TOOLS",
    "HEARTBEAT.md": "canary of HEARTBEAT",
    "memory/2026-01-04.md": "the oldest of four",
    "memory/2026-01-05.md": "Monday",
    "memory/2026-01-06.md": "Tuesday",
    "memory/2026-01-07.md": "Wednesday",
}
BOOTSTRAP = "Say hello once."
SUMMARY = "Spot: 11 swaps.\nPerps: 42 fills."


def fill_portrait(owner: Any, **files: str) -> None:
    """Store all that an owner writes, with these files besides; NOON is after the last note."""
    for name, text in (FILES | files).items():
        make_document(owner, text, name=name, rules_version=RULES.version)  # let in, whatever it says
    make_document(owner, "Answer in short.", kind=CUSTOM_PROMPT, name=CUSTOM_PROMPT)
    make_document(owner, SUMMARY, kind=PROFILE_SUMMARY, name="platform_wallet_summary")
    said = {"owner": owner, "actor": f"user:{owner.pk}", "now": NOON}
    set_tags(values={"frequency": "weekly", "markets": ["memes", "stocks"]}, source=TagSource.USER, **said)
    set_tags(values={"style": "news_event"}, source=TagSource.LEARNED_PREFERENCE, **said)
    inferred = {"finance_knowledge": "level_3", "FOMO Index": "Very Low"}
    set_tags(values=inferred, source=TagSource.INFERRED, **said)
