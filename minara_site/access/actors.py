"""Names of the actors that provenance and the audit log keep: in words for pages, with their kind for agents."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Role
from minara_site.kernel.core.vocabulary import AGENT_ACTOR, IMPORT_ORIGIN, WriterKind, writer_kind
from minara_site.kernel.guard import core as guard

OTHERS = {
    "folder": gettext_lazy("an editor, in the folder"),
    "command": gettext_lazy("the command line"),
    "rollback": gettext_lazy("the roll-back of a writer"),
}
CHAT_PREFIX = "chat"  # of `minara chat`, which has no key, with the number of its owner


def is_owner(actor: str, owner: User) -> bool:
    """Say whether an actor is the owner. A command has no person: it speaks for `default`, whose machine it is."""
    return actor == f"user:{owner.pk}" or (owner.is_default and actor.startswith("command:"))


def is_operator(actor: str) -> bool:
    """Say whether an actor is an operator. Who runs a command runs the machine. One query at most."""
    kind, _colon, name = actor.partition(":")
    user = User.objects.filter(pk=name).first() if kind == "user" else None
    return kind == "command" or (user is not None and user.role is Role.OPERATOR)


def name_actors(actors: Iterable[str], *, reader: User, known: Iterable[User] = ()) -> dict[str, str]:
    """Return in words who stands behind each actor of the audit log. Two queries at most, none for who is `known`."""
    actors = set(actors)
    names = load_names(actors, known=[reader, *known])
    return {actor: actor_label(actor, names, reader) for actor in actors}


def name_writers(rows: Iterable[Any], *, reader: User) -> list[dict[str, str]]:
    """Return whose word each row is, in their order, as API and tools answer it: kind and name. Two queries at most.

    `rows` have an actor, a source and an origin. A name is an account's, the label of a key, a file, or a job.
    """
    rows = list(rows)
    names = load_names({row.actor for row in rows}, known=[reader])
    return [writer_record(row, names) for row in rows]


def writer_record(row: Any, names: Mapping[str, str]) -> dict[str, str]:
    """Return whose word a row is; `names` holds the users and the labels of keys by actor."""
    kind = writer_kind(actor=row.actor, source=row.source, origin=row.origin)
    if row.origin.startswith(IMPORT_ORIGIN):
        return {"kind": kind, "name": file_name(row.origin) or _("a file")}
    if kind is WriterKind.IMPORT:
        return {"kind": kind, "name": _("a signed export")}
    name = names.get(
        row.actor,
        row.actor.removeprefix("job:") if kind is WriterKind.JOB else "",
    )
    return {"kind": kind, "name": name or actor_label(row.actor, names)}


@lru_cache(maxsize=512)
def file_name(origin: str) -> str:
    """Return the file of an origin without the place in it; empty where the guard would not let an agent read it."""
    text = origin.removeprefix(IMPORT_ORIGIN)
    name = text.rpartition(":")[0] or text
    return "" if guard.judge(name).is_held else name


def load_names(actors: Iterable[str], *, known: Sequence[User]) -> dict[str, str]:
    """Return the names of users and the labels of keys by actor. Two queries at most, none for who is `known`."""
    actors = list(actors)
    ids = {int(actor.removeprefix("user:")) for actor in actors if actor.startswith("user:")}
    users = [*known, *User.objects.filter(pk__in=ids - {user.pk for user in known})]
    names = {f"user:{user.pk}": user.get_short_name() for user in users}
    return names | label_keys(find_keys(actors))


def label_keys(keys: Mapping[str, ApiKey]) -> dict[str, str]:
    """Return the labels of those keys that have one, by actor."""
    return {actor: key.label for actor, key in keys.items() if key.label}


def find_keys(actors: Iterable[str]) -> dict[str, ApiKey]:
    """Return the keys among these actors, revoked ones too, by actor. One query, none without a key."""
    prefixes = [actor.removeprefix(AGENT_ACTOR) for actor in actors if actor.startswith(AGENT_ACTOR)]
    return {f"{AGENT_ACTOR}{key.prefix}": key for key in ApiKey.objects.filter(prefix__in=prefixes)}


def actor_label(
    actor: str,
    names: Mapping[str, str],
    reader: User | None = None,
) -> str:
    """Return in words who an actor is; `names` holds the users and the labels of keys by actor."""
    kind, _colon, name = actor.partition(":")
    if reader is not None and actor == f"user:{reader.pk}":
        return _("you")
    match kind:
        case "user":
            return names.get(actor, _("a user who is gone"))
        case "key":
            is_chat = name.startswith(f"{CHAT_PREFIX}.")
            words = _("minara chat at a terminal") if is_chat else _("API key %(prefix)s") % {"prefix": name}
            return f"{names[actor]}, {words}" if actor in names else words
        case "job":
            return _("the job %(name)s") % {"name": name}
    return str(OTHERS.get(kind, actor))
