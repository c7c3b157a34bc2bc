"""Compiled pages as files: `assets/<TICKER>.md`. They are made of the memories, so no import reads them. Source: S1."""

from collections.abc import Iterator

from memory_app.bundle.core.front_matter import render_document
from memory_app.bundle.serialisers.base import ExportScope, OutFile, Serialiser
from memory_app.pages.selectors import PageScope, list_assets, load_page

KIND = "asset"
FOLDER = "assets"


def export(wanted: ExportScope) -> Iterator[OutFile]:
    """Yield the page of each asset that the owner knows something about, hard constraints only when asked for."""
    for known in (each for group in list_assets(owner=wanted.owner).values() for each in group):
        asked = PageScope(wanted.owner, known.asset, wanted.include_constraints)
        page = load_page(asked, reader=wanted.reader, now=wanted.now)
        if any(section.entries for section in page.sections):
            symbol = known.asset.symbol
            head = wanted.head(KIND, asset=symbol)
            yield OutFile(
                f"{FOLDER}/{symbol}.md",
                render_document(head, page.markdown.removesuffix("\n")),
            )


ASSETS = Serialiser(KIND, f"{FOLDER}/", export)
