"""The compiled page as evidence of a reflection. Source: S0 (post-hoc probe)."""

from collections.abc import Iterator

from memory_app.pages.selectors import PageScope, load_page, open_asset
from memory_app.roles.posthoc.sources import EvidenceContext, SourceTool, register_source
from minara_site.kernel.market.core.evidence import MAX_PAGE_CHARS, EvidenceItem


def memory_compiled_page(context: EvidenceContext, *, asset: str) -> Iterator[EvidenceItem]:
    """Yield what is known about an asset today: the page keeps no past."""
    asked = PageScope(context.owner, open_asset(asset), hard_constraints=False)
    compiled = load_page(asked, reader=context.owner, now=context.now)
    yield EvidenceItem(
        "page",
        f"{asked.asset.symbol}, as known now",
        compiled.markdown[:MAX_PAGE_CHARS],
        context.now,
    )


register_source(
    SourceTool(
        "memory_compiled_page",
        ("asset",),
        memory_compiled_page,
        is_read_only=True,
    )
)
