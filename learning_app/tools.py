"""The app's tools, as agents read of them."""

from learning_app.cases.schemas import NewCase
from learning_app.cases.tools import record
from learning_app.learnings.schemas import NewLearning
from learning_app.learnings.tools import learn
from learning_app.ledger.schemas import NewTrade
from learning_app.ledger.tools import HistoryArgs, query_history, record as record_trade
from minara_site.access.policy import Act
from minara_site.access.tools import Tool

LEARN = (
    "Keep a procedure that worked, for the next request like this one: what was asked, and the tools or the guidance "
    "that helped. It is suggested on similar requests, and never run by itself."
)
TOOLS = (
    Tool(
        "memory_learn",
        LEARN,
        NewLearning,
        Act.LEARNING_WRITE,
        learn,
        is_read_only=False,
        former=("skill_learn",),
    ),
    Tool(
        "record_case",
        "Record a trading decision before its outcome is known, with the ids of the methodologies that were in front "
        "of you. Prices judge it when its window closes; that moves the trust in those methodologies.",
        NewCase,
        Act.CASE_WRITE,
        record,
        is_read_only=False,
    ),
    Tool(
        "record_trade",
        "Record a trade when you open it, and again with exit_price when it is closed; symbol, side and opened_at name "
        "it. The user's trading summary and the pages of its asset are made of these.",
        NewTrade,
        Act.TRADE_WRITE,
        record_trade,
        is_read_only=False,
    ),
    Tool(
        "query_trade_history",
        "Read the user's round trips, the one opened last first: entry, exit, P&L before fees, fees, how far it went "
        "for and against, the market at the entry, and why. Of one trading agent or asset, or of all.",
        HistoryArgs,
        Act.TRADES_READ,
        query_history,
    ),
)
