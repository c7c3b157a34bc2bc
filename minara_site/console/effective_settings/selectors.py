"""The variables of `config.Config` with the value in use and where it came from."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from django.utils import translation
from pydantic.fields import FieldInfo

from minara_site.config import SECRETS, Config

READER = re.compile(r" Read by ([^.]+)\.$")


class Origin(StrEnum):
    """Where a value came from."""

    DEFAULT = "default"
    ENVIRONMENT = "environment"
    FILE = ".env"


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable. A secret has no value here, only whether it is set."""

    name: str
    description: str
    reader: str
    value: str
    default: str
    origin: Origin
    is_secret: bool

    @property
    def is_set(self) -> bool:
        return self.origin is not Origin.DEFAULT


def list_variables(config: Config) -> list[tuple[str, list[Variable]]]:
    """Return the variables by their reader, readers by name."""
    variables = (
        describe(
            name.upper(),
            field,
            getattr(config, name),
            origin_of(name, config),
        )
        for name, field in Config.model_fields.items()
    )
    found = sorted(variables, key=lambda each: each.reader)
    return [(reader, list(group)) for reader, group in groupby(found, key=lambda each: each.reader)]


def describe(
    name: str,
    field: FieldInfo,
    value: object,
    origin: Origin,
) -> Variable:
    """Return one variable in words."""
    description = field.description or ""
    match = READER.search(description)
    is_secret = name in SECRETS
    return Variable(
        name=name,
        description=translation.gettext(READER.sub("", description)),
        reader=match[1] if match else "",
        value="" if is_secret else written(value),
        default="" if is_secret else written(field.get_default(call_default_factory=True)),
        origin=origin,
        is_secret=is_secret,
    )


def origin_of(name: str, config: Config) -> Origin:
    """Return where a value came from; an empty one in the environment counts as none, as for the reader."""
    if name not in config.model_fields_set:
        return Origin.DEFAULT
    given = {key.lower() for key, value in os.environ.items() if value}
    return Origin.ENVIRONMENT if name in given else Origin.FILE


def written(value: object) -> str:
    """Return a value as it is written in `.env`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list | set | frozenset):
        return ", ".join(str(each) for each in value)
    return "" if value is None else str(value)
