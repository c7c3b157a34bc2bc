"""What support staff must not read in a text is found, however it is written; prices and percentages stay."""

from minara_site.kernel.core.amounts import mask_amounts

WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
HIDDEN = [  # the text, and what support reads of it
    ("paid $12,400 in fees", "paid # in fees"),
    ("short $2.5k at 2.285", "short # at 2.285"),
    ("-$400 to $500, US$1.2M", "#, #"),
    ("$12,\u200b400", "#"),
    ("€ 1.200,50 and 1 200 €", "# and # €"),
    ("1,20,000 INR, 1'000 CHF, .5 ETH", "# INR, # CHF, # ETH"),
    ("0.5 BTC, 12k USDT, 12kUSDT, 500U", "# BTC, # USDT, #USDT, #U"),
    ("0.5-0.7 BTC, 1e5 USDT", "# BTC, # USDT"),
    ("3 million USDC, 5000 in USDC, 500 US dollars", "# USDC, # in USDC, # US dollars"),
    ("USD 500 or USDT500", "USD # or USDT#"),
    ("20 sol, 2 ETH, 100 of my ETH", "# sol, # ETH, # of my ETH"),
    ("3 contracts, 300 lots, 40 shares", "# contracts, # lots, # shares"),
    ("bought 0.5 at 61,204", "bought # at 61,204"),
    ("size: 5000, notional of 12 000", "size: #, notional of #"),
    ("a loss of 400 after a profit 1,200", "a loss of # after a profit #"),
    ("five thousand dollars, half BTC", "# dollars, # BTC"),
    ("1.5万美元 加仓 300", "#美元 加仓 #"),
    ("１２，４００美元", "#美元"),
    ("五千块，一百二十万美元，5000刀", "#块，#美元，#刀"),
    ("买入0.5个比特币，仓位5000左右，100 股", "买入#个比特币，仓位#左右，# 股"),
    (f"from {WALLET} to 0x5290…9EE7", "from # to #"),
    ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "#"),
    ("TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE", "#"),
    ("DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy", "#"),
    (f"tx 0x{'ab' * 32}, {'0c' * 32}", "tx #, #"),
    ("to vitalik.eth转", "to #转"),
    ("to 0xab12cd or a.b+c@d-e.io, order 990 at 2.285", "to # or #, order # at 2.285"),
]
SHOWN = [
    "short at 2.285, failed breakout above 2.38, funding +0.09%",
    "突破 2.38 失败且资金费率偏高，预计回落至区间下沿。",
    "RSI 45.07 on five-minute candles at 168.87, RSI(14) below 30, EMA 20",
    "57 % right, 57%, 50 bps, 3x leverage",
    "short 24h, long 4-hour, a 24 h window, BTC 4h close",
    "2.285 near support, stop loss 2.31, take profit at 2.31",
    "BTC/USDT 2.285 and XRP-USD 2.285",
    "buy 2 of 3 signals, ticket 8841, trade 9f-22-1, 2026-05-19",
    "3 个信号，做多 4 小时，第一手资料，短线 15分钟",
]


def read(text: str) -> str:
    """Return what a reader of the masked text sees."""
    return "".join("#" if is_masked else part for part, is_masked in mask_amounts(text))


def test_masks_amounts_addresses_and_hashes_and_leaves_prices() -> None:
    wrong = [(text, read(text), said) for text, said in HIDDEN if read(text) != said]
    wrong += [(text, read(text), text) for text in SHOWN if read(text) != text]
    assert wrong == []


def test_gives_every_character_back() -> None:
    texts = ["$", "", *(unit * 2000 for unit in ("1", "1,", "1 000", "one ", "0x", "a@", "a.-+", "一"))]
    assert ["".join(part for part, _is_masked in mask_amounts(text)) for text in texts] == texts
