"""What a preference says of a tag: one value, or nothing where the words leave a doubt."""

from minara_site.kernel.core.assets import AssetClass
from profile_app.portrait.core.bridge import MARKET_OF, tag_of
from tests.kit.tables import table

NOTHING = None
SAID = [
    ("risk_limit", "Keeps to conservative sizes", ("risk", "conservative")),
    ("risk_limit", "偏好保守的仓位", ("risk", "conservative")),
    ("risk_limit", "非常保守", ("risk", "conservative")),
    ("risk_limit", "并非常规的保守", NOTHING),
    ("risk_limit", "不是非常保守", NOTHING),
    ("risk_limit", "Wants high-risk, aggressive entries", ("risk", "aggressive")),
    ("risk_limit", "Balanced between conservative and aggressive", NOTHING),
    ("risk_limit", "Is not aggressive", NOTHING),
    ("risk_limit", "Don\u2019t be conservative", NOTHING),
    ("risk_limit", "The agent is too conservative", NOTHING),
    ("risk_limit", "Conservative when volatility is high", NOTHING),
    ("risk_limit", "At most 2% of the account on one trade", NOTHING),
    ("timeframe", "Trades once a week", ("frequency", "weekly")),
    ("timeframe", "每天交易", ("frequency", "daily")),
    ("timeframe", "Looks at daily charts", NOTHING),
    ("timeframe", "只看日线图", NOTHING),
    ("timeframe", "Used to trade daily", NOTHING),
    ("timeframe", "Trades daily or weekly", NOTHING),
    ("style", "Decides by technical setups", ("style", "technical")),
    ("style", "Wants answers in technical language", NOTHING),
    ("style", "Technical over fundamentals", NOTHING),
    ("asset_universe", "Trades BTC, NVDA and gold", ("markets", ("crypto_majors", "stocks", "commodities"))),
    ("asset_universe", "Likes altcoins and DOGE", ("markets", ("crypto_alts", "memes"))),
    ("asset_universe", "关注美股和主流币", ("markets", ("crypto_majors", "stocks"))),
    ("asset_universe", "主流币，比特币和以太坊", ("markets", ("crypto_majors",))),
    ("asset_universe", "非常关注股票", ("markets", ("stocks",))),
    ("asset_universe", "当前只做股票", ("markets", ("stocks",))),
    ("asset_universe", "当前景变差时做股票", NOTHING),
    ("asset_universe", "股票比比特币好", NOTHING),
    ("asset_universe", "Holds USDC and trades EUR/USD", NOTHING),
    ("asset_universe", "Buys pre-IPO shares of companies", NOTHING),
    ("asset_universe", "No meme coins, BTC alone", NOTHING),
    ("asset_universe", "BTC rather than memes", NOTHING),
    ("venue", "Trades memes daily, aggressively", NOTHING),
    ("language", "Be conservative", NOTHING),
    ("style", "", NOTHING),
]


@table(("dimension", "statement", "said"), SAID)
def test_says_one_value_or_nothing(dimension, statement, said):
    assert tag_of(dimension, statement) == said


def test_every_class_has_its_market_but_money():
    assert set(AssetClass) - MARKET_OF.keys() == {AssetClass.STABLECOIN, AssetClass.FOREX}
    assert "pre_ipo" not in MARKET_OF.values()
