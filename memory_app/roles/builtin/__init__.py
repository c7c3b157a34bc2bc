"""The skills that come with Minara, a module each with its `SKILLS`."""

from types import ModuleType

from memory_app.roles.builtin import momentum, thesis, valuation


def modules() -> tuple[ModuleType, ...]:
    """Return the modules of the built-in skills."""
    return (valuation, momentum, thesis)
