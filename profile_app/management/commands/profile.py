"""`minara profile show/refresh/set`. Source: S3 (/profile). Shapes: the contract."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.models import User
from minara_site.access.owner_command import OwnerCommand
from minara_site.kernel.core.hidden import visible
from profile_app.documents.core import CUSTOM_PROMPT
from profile_app.portrait.core.profile import SETTINGS, SUMMARIES
from profile_app.portrait.core.tags import labels_of
from profile_app.portrait.core.wallets import parse_wallets
from profile_app.portrait.selectors.profile import (
    load_newest_memories,
    load_profile,
    load_profile_texts,
    profile_record,
    summaries_of,
)
from profile_app.portrait.selectors.tags import list_tags
from profile_app.portrait.services.profile import change_settings, request_refresh

ACTOR = "command:profile"
MOMENTS = (
    "trading_summary_updated_at",
    "trading_summary_next_update",
    "tags_next_update",
    "memories_next_update",
    "updated_at",
)


class Command(OwnerCommand):
    """Print the portrait, ask for a refresh, or change what prompts carry."""

    help = "Print the financial profile, refresh it, or switch a part of the prompt on or off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        show = acts.add_parser("show", help="print the row, the tags, the newest memories and the custom prompt")
        show.add_argument("--json", action="store_true", help="answer with JSON")
        refresh = acts.add_parser("refresh", help="ask for a refresh, once a minute")
        change = acts.add_parser("set", help="switch a part of the prompt on or off")
        change.add_argument("setting", choices=SETTINGS)
        change.add_argument("value", choices=("on", "off"))
        for each in (show, refresh, change):
            self.add_user(each, "whose profile it is")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the act. Raises CommandError with one line that says what to do."""
        owner, now = self.owner(options), timezone.now()
        match options["act"]:
            case "show" if options["json"]:
                record = profile_record(owner, reader=owner)
                self.say_json(record)
            case "show":
                for line in profile_lines(owner):
                    self.stdout.write(line)
            case "refresh":
                run = request_refresh(owner=owner, actor=ACTOR, now=now)
                self.stdout.write(_("Refresh requested: run %(run)d.") % {"run": run.pk})
            case "set":
                is_on = options["value"] == "on"
                change_settings(
                    owner=owner,
                    settings={options["setting"]: is_on},
                    actor=ACTOR,
                    now=now,
                )
                self.stdout.write(f"{options['setting']}: {options['value']}")


def profile_lines(owner: User) -> Iterator[str]:
    """Yield the portrait as lines for a terminal; hidden characters are shown by their names."""
    profile = load_profile(owner.pk)
    yield _("Profile of %(name)s") % {"name": owner.get_username()}
    for name in SETTINGS:
        yield f"  {name}: {'on' if getattr(profile, name) else 'off'}"
    for name in MOMENTS:
        if moment := getattr(profile, name):
            yield f"  {name}: {moment.isoformat(timespec='seconds')}"
    for wallet in parse_wallets(profile.reference_wallets_json):
        yield f"  reference_wallet: {wallet.address} {visible(wallet.label)}".rstrip()
    texts = load_profile_texts(owner.pk)
    summaries = summaries_of(texts)
    for name in SUMMARIES:
        yield from text_lines(name, summaries[name])
    yield _("Tags") + ":"
    for tag in list_tags(owner=owner):
        yield f"  {tag.name}: {labels_of(tag.name, tag.value)} ({tag.source})"
    yield _("Newest memories") + ":"
    for memory in load_newest_memories(owner):
        yield f"  {memory.pk}: {visible(' '.join(memory.content.split()))}"
    yield from text_lines("custom_prompt", texts.get(CUSTOM_PROMPT, ""))


def text_lines(name: str, text: str) -> Iterator[str]:
    """Yield a text below its name, nothing for an empty one."""
    if text:
        yield f"{name}:"
        for line in text.splitlines():
            yield f"  {visible(line)}"
