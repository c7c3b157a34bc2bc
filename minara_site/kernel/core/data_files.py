"""Tables of data that lie beside the module they belong to; each is read once, when that module is imported."""

import tomllib
from importlib.resources import files
from typing import Any


def load_text(package: str, name: str) -> str:
    """Return the text of a file of a package."""
    return files(package).joinpath(name).read_text("utf-8")


def load_toml(package: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML file of a package, in the order of the file."""
    return tomllib.loads(load_text(package, name))
