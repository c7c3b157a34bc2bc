"""The user profile as one file: `user-profile.md`, a line `- key: value` for each entry. Sources: S1, decisions.

What the profile says stays as it says: an import adds what is missing, on both channels, and names what differs.
"""

from collections.abc import Iterator, Sequence

from memory_app.bundle.core.front_matter import UnusableError, render_document
from memory_app.bundle.core.plan import FilePlan, Reason, Verdict
from memory_app.bundle.serialisers.base import (
    Details,
    ExportScope,
    InFile,
    Judged,
    LeftOut,
    OutFile,
    Reading,
    Serialiser,
    Writing,
)
from memory_app.user_profile.models import guarded_text
from memory_app.user_profile.selectors import list_known, read_entries
from memory_app.user_profile.services import MAX_ENTRIES, clean_key, clean_value, set_entry
from minara_site.kernel.errors import Invalid
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.masking import masked_for

KIND = "user_profile"
PATH = "user-profile.md"
BULLET = "- "


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield the profile, by key; nothing when it is empty."""
    entries = sorted(read_entries(owner=wanted.owner), key=lambda entry: entry.key)
    stored = list_known(owner=wanted.owner).count()
    wanted.left_out[LeftOut.HELD] += stored - len(entries)
    if entries:
        shown = (masked_for(wanted.reader, entry) for entry in entries)
        body = "\n".join(f"{BULLET}{entry.key}: {entry.value}" for entry in shown)
        yield OutFile(PATH, render_document(wanted.head(KIND), body))


def judge_file(file: InFile, reading: Reading) -> Judged:
    """Return the plan of the one file, against what the profile says or would say once released. One query."""
    try:
        file.fields.check_names(())
        values = read_values(file.body)
    except UnusableError as error:
        return Judged(file.rejected(error.reason, error.about, kind=KIND))
    entries = list_known(owner=reading.owner).order_by("key")
    known = {key: value or held for key, value, held in entries.values_list("key", "value", "held_value")}
    new = {key: value for key, value in values.items() if key not in known}
    other = {key: known[key] for key, value in values.items() if known.get(key, value) != value}
    if len(known) + len(new) > MAX_ENTRIES:
        return Judged(file.rejected(Reason.PROFILE_FULL, str(MAX_ENTRIES), kind=KIND))
    verdict, reason = decide(new, other, is_first=not known)
    about = ", ".join(other) if reason is Reason.VALUES_STAY else ""
    row, stored = ({"entries": new} if new else None), ({"entries": other} if other else None)
    return Judged(
        FilePlan(file.path, file.channel, verdict, KIND, reason, about, row, stored),
        new,
    )


def read_values(body: str) -> dict[str, str]:
    """Return the values by key; empty lines and headings say nothing. Raises UnusableError."""
    values: dict[str, str] = {}
    for number, line in enumerate(body.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, colon, value = line.removeprefix(BULLET).partition(":")
        try:
            key, value = clean_key(key), clean_value(value)
        except Invalid:
            raise UnusableError(Reason.WRONG_VALUE, str(number)) from None
        if not colon or not line.startswith(BULLET):
            raise UnusableError(Reason.WRONG_VALUE, str(number))
        if key in values:
            raise UnusableError(Reason.DUPLICATE_KEY, key)
        values[key] = value
    return values


def decide(
    new: dict[str, str],
    other: dict[str, str],
    *,
    is_first: bool,
) -> tuple[Verdict, Reason]:
    """Return what becomes of a profile with these new values, where these others stay."""
    if any(guard.judge(guarded_text(key, value)).is_held for key, value in new.items()):
        return Verdict.HELD, Reason.GUARD
    stays = Reason.VALUES_STAY if other else Reason.NONE
    if not new:
        return Verdict.KNOWN, stays or Reason.ALREADY_SAID
    return (Verdict.NEW if is_first else Verdict.UPDATED), stays


def store(judged: Sequence[Judged], writing: Writing) -> list[Details]:
    """Set the new values; each leaves its own audit row too, by which a roll-back finds it."""
    details = {"from": "minara", "run": writing.run}
    for each in judged:
        for key, value in each.payload.items():
            set_entry(
                owner=writing.owner,
                key=key,
                value=value,
                actor=writing.actor,
                now=writing.now,
                details=details,
            )
    return [{"entries": len(each.payload), "count": 0} for each in judged]


USER_PROFILE = Serialiser(
    KIND,
    PATH,
    export,
    lambda files, reading: [judge_file(file, reading) for file in files],
    store,
)
