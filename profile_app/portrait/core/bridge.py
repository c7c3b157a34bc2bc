"""What an active preference says of a tag, read by fixed words: one value or nothing. Pure.

Source: decisions (preferences, markets tag).

A statement that denies, compares, sets a condition or speaks of something else than trading says nothing: a tag that is
missing costs less than one that is wrong.
"""

import re

from learning_app.vocabulary import PreferenceDimension
from minara_site.kernel.core.assets import AssetClass, classify
from minara_site.kernel.core.tickers import EntityKind, extract_finance_entities
from profile_app.portrait.core.tags import MARKETS, MULTIPLE, TagValue, allowed_values

BRIDGE = "portrait.bridge_tags"
"""The job that follows preferences."""

TAG_OF = {
    PreferenceDimension.STYLE: "style",
    PreferenceDimension.TIMEFRAME: "frequency",
    PreferenceDimension.RISK_LIMIT: "risk",
    PreferenceDimension.ASSET_UNIVERSE: MARKETS,
}
"""The dimension of tags that a dimension of preferences speaks of."""

MARKET_OF = {
    AssetClass.MAJOR_CRYPTO: "crypto_majors",
    AssetClass.LAYER_1: "crypto_alts",
    AssetClass.LAYER_2: "crypto_alts",
    AssetClass.DEFI_BLUE_CHIP: "crypto_alts",
    AssetClass.CRYPTO_ALT: "crypto_alts",
    AssetClass.MEME_COIN: "memes",
    AssetClass.STOCK: "stocks",
    AssetClass.ETF: "stocks",
    AssetClass.INDEX: "stocks",
    AssetClass.COMMODITY: "commodities",
}
"""The market of a class of assets; stablecoins, forex and what is not known have none, pre_ipo is only declared."""


def any_of(english: str, chinese: str = "") -> re.Pattern[str]:
    """Return a pattern for whole English words and for Chinese ones anywhere."""
    return re.compile(
        rf"\b(?:{english})\b" + (f"|{chinese}" if chinese else ""),
        re.IGNORECASE,
    )


WORDS: dict[str, dict[str, re.Pattern[str]]] = {
    "risk": {
        "conservative": any_of(
            r"conservative(?:ly)?|low[- ]risk|risk[- ]averse|preserv\w+ (?:of )?capital",
            "保守|低风险",
        ),
        "balanced": any_of(r"balanced|moderate[- ]risk|medium[- ]risk", "均衡|中等风险"),
        "aggressive": any_of(r"aggressive(?:ly)?|high[- ]risk", "激进|高风险"),
    },
    "frequency": {
        "passive": any_of(r"passive(?:ly)?|buy[- ]and[- ]hold", "长期持有"),
        "weekly": any_of(r"weekly|every week|once a week", "每周"),
        "daily": any_of(r"daily|every day|once a day", "每天|每日"),
        "active": any_of(r"actively|active trad\w+|(?:several|many) times a day|scalp(?:s|ing)?", "频繁交易"),
    },
    "style": {
        "fundamentals": any_of(r"fundamentals?|fundamental(?:ly)? analysis", "基本面"),
        "technical": any_of(r"technicals?|technically", "技术面|技术分析"),
        "narrative": any_of(r"narratives?", "叙事"),
        "news_event": any_of(r"news|event[- ]driven|events", "新闻|消息面"),
        "community": any_of(r"community|communities", "社区"),
    },
    MARKETS: {
        "crypto_majors": any_of(r"crypto majors|major (?:coins|crypto\w*)", "主流币"),
        "crypto_alts": any_of(r"alt[- ]?coins?|crypto alts|alts", "山寨币"),
        "memes": any_of(r"meme[- ]?coins?|memes", "模因币|迷因币"),
        "stocks": any_of(r"stocks?|equities", "股票|美股|港股"),
        "commodities": any_of(r"commodit(?:y|ies)|gold|silver|(?:crude )?oil", "大宗商品"),
    },
}
"""The words of each value; `pre_ipo` is only declared."""

_DENIES = any_of(
    r"no|not|never|nor|neither|none|without|avoid\w*|don't|dont|cannot|can't|\w+n't|stop\w*|exclud\w+|except|less|fewer"
    r"|too|over|than|rather|instead|but|used to|hates?|dislikes?|skip\w*|ignor\w+|stay\w* (?:away|out)"
    r"|if|when\w*|unless|until|while|during",
    r"不|没|勿|别|无|禁|非|避|少|太|比|而|如果|当|除|曾|讨厌|\?|\uff1f",
)
_HARMLESS = re.compile("比特币|以太坊|(?<![并绝])非常|当前(?!景)")
"""Words in which a character of denial denies nothing: bitcoin, ether, very, now."""
_OF_ELSE: dict[str, re.Pattern[str]] = {
    "frequency": any_of(
        r"charts?|candles?|bars?|time ?frames?|close[sd]?|reports?|summar\w+|digests?|alerts?|updates?|loss\w*",
        "图|线|报告|总结|提醒",
    ),
    "style": any_of(
        r"answers?|repl\w+|respon\w+|languages?|jargon|terms?|tone|writ\w+|explain\w*|explanations?|wording|brief",
        "回答|回复|语言|术语|解释|简短|语气",
    ),
}
"""What such a preference may speak of beside trading: charts and reports, the wording of answers."""


def tag_of(dimension: str, statement: str) -> tuple[str, TagValue] | None:
    """Return the dimension and value of the tag that a preference speaks of, None where it says nothing for certain."""
    name = TAG_OF.get(PreferenceDimension(dimension))
    plain = statement.replace("\u2019", "'")
    if name is None or _DENIES.search(_HARMLESS.sub(" ", plain)) or (name in _OF_ELSE and _OF_ELSE[name].search(plain)):
        return None
    said = {value for value, pattern in WORDS[name].items() if pattern.search(plain)}
    if name in MULTIPLE:
        said |= markets_of(plain)
        return (name, tuple(value for value in allowed_values(name) if value in said)) if said else None
    return (name, said.pop()) if len(said) == 1 else None


def markets_of(text: str) -> set[str]:
    """Return the markets of the assets that a text names."""
    symbols = (entity.key for entity in extract_finance_entities(text) if entity.kind is EntityKind.TICKER)
    classes = (classify(symbol) for symbol in symbols)
    return {MARKET_OF[each] for each in classes if each in MARKET_OF}
