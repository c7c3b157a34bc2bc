"""Names of the actors that provenance and the audit log keep."""

from collections.abc import Iterable, Mapping
from itertools import repeat

from django.utils.translation import gettext as _

from minara_site.access.models import ApiKey, User


def is_owner(actor: str, owner: User) -> bool:
    """Say whether an actor is the owner. A command has no person: it speaks for `default`, whose machine it is."""
    return actor == f"user:{owner.pk}" or (owner.is_default and actor.startswith("command:"))


def name_actors(actors: Iterable[str], *, reader: User) -> dict[str, str]:
    """Return in words who stands behind each actor of the audit log. Two queries at most."""
    actors = set(actors)
    parts = [(kind, name) for kind, _colon, name in map(str.partition, actors, repeat(":"))]
    others = [int(name) for kind, name in parts if kind == "user" and name != str(reader.pk)]
    users = User.objects.filter(pk__in=others)
    names = {f"user:{user.pk}": user.get_short_name() for user in users}
    prefixes = [name for kind, name in parts if kind == "key"]
    keys = ApiKey.objects.filter(prefix__in=prefixes).exclude(label="").values_list("prefix", "label")
    names |= {f"key:{prefix}": label for prefix, label in keys}
    return {actor: actor_label(actor, names, reader) for actor in actors}


def actor_label(actor: str, names: Mapping[str, str], reader: User) -> str:
    """Return in words who an actor is; `names` holds the users and the labels of keys by actor."""
    kind, _colon, name = actor.partition(":")
    if actor == f"user:{reader.pk}":
        return _("you")
    match kind:
        case "user":
            return names.get(actor, _("a user who is gone"))
        case "key":
            words = _("API key %(prefix)s") % {"prefix": name}
            return f"{names[actor]}, {words}" if actor in names else words
        case "job":
            return _("the job %(name)s") % {"name": name}
        case "command":
            return _("the command line")
    return actor
