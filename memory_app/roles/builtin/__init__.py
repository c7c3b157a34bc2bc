"""The skills that come with Minara, a module each with its `SKILLS`."""

from memory_app.roles.builtin import momentum, thesis, valuation

MODULES = (valuation, momentum, thesis)
