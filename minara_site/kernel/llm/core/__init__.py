"""What needs no database in model calls: categories, windows, prices, and what a reservation is refused for."""

from minara_site.kernel.llm.core.windows import Category, Span

__all__ = ["Category", "Span"]
