"""Decisions about a price in words: what was expected of it, how long ahead, and how it moved."""

from typing import Any

from django.utils.translation import gettext as _, gettext_lazy, ngettext

from minara_site.kernel.core.assets import AssetClass, AssetGroup
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.market.outcome import Direction
from minara_site.web.filters import Filter, FilterKind, Text
from minara_site.web.moments import MINUS

DAY_HOURS = 24
DAYS_IN_WORDS = 2 * DAY_HOURS  # from here on hours are said as days

DIRECTIONS: dict[Direction, Text] = {
    Direction.BULLISH: gettext_lazy("bullish"),
    Direction.BEARISH: gettext_lazy("bearish"),
    Direction.NEUTRAL: gettext_lazy("neutral"),
}

CLASS_LABELS: dict[AssetClass, Text] = {
    AssetClass.MAJOR_CRYPTO: gettext_lazy("major coin"),
    AssetClass.LAYER_1: gettext_lazy("layer 1"),
    AssetClass.LAYER_2: gettext_lazy("layer 2"),
    AssetClass.DEFI_BLUE_CHIP: gettext_lazy("DeFi blue chip"),
    AssetClass.CRYPTO_ALT: gettext_lazy("alt coin"),
    AssetClass.MEME_COIN: gettext_lazy("meme coin"),
    AssetClass.STABLECOIN: gettext_lazy("stablecoin"),
    AssetClass.STOCK: gettext_lazy("stock"),
    AssetClass.ETF: gettext_lazy("fund"),
    AssetClass.INDEX: gettext_lazy("index"),
    AssetClass.COMMODITY: gettext_lazy("commodity"),
    AssetClass.FOREX: gettext_lazy("currency pair"),
}
GROUP_LABELS: dict[AssetGroup, Text] = {
    AssetGroup.CRYPTO: gettext_lazy("Crypto"),
    AssetGroup.STOCK: gettext_lazy("Stocks and funds"),
    AssetGroup.INDEX: gettext_lazy("Indices"),
    AssetGroup.COMMODITY: gettext_lazy("Commodities"),
    AssetGroup.FOREX: gettext_lazy("Currency pairs"),
}


def symbol_filter(column: str, label: Text) -> Filter:
    """Return the filter of a list by an asset, however its symbol is written."""
    return Filter(
        column,
        label,
        FilterKind.TEXT,
        apply=lambda rows, text: rows.filter(**{column: normalise_symbol(text) or text}),
    )


def hours_label(hours: float) -> str:
    """Return a span as people say it: "30 min", "36 h", "7 d"."""
    if hours >= DAYS_IN_WORDS and hours % DAY_HOURS == 0:
        days = int(hours // DAY_HOURS)
        return ngettext("%(n)d d", "%(n)d d", days) % {"n": days}
    if hours < 1:
        minutes = round(hours * 60)
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    return _("%(hours)s h") % {"hours": f"{hours:g}"}


def pnl_label(pnl_pct: float) -> str:
    """Return a change in percent with its sign: "+2.41%", with a true minus."""
    return f"{pnl_pct:+,.2f}%".replace("-", MINUS)


def tone_of(amount: Any) -> str:
    """Return whether a change is a gain, a loss, or flat at the precision in which it is shown; empty without one."""
    if amount is None:
        return ""
    shown = round(amount, 2)
    return "gain" if shown > 0 else "loss" if shown < 0 else "flat"
