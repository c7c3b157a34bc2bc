"""Lines for parsers."""

from memory_app.importers.core.entries import Line


def lines(text: str) -> list[Line]:
    return [Line(number, part) for number, part in enumerate(text.split("\n"), start=1)]
