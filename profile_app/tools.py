"""The app's tools, as agents read of them."""

from minara_site.access.policy import Act
from minara_site.access.tools import Tool
from profile_app.activity.tools import TradesArgs, search_user_trades
from profile_app.portrait.tools import SearchArgs, SnapshotArgs, personalization_snapshot, search_conversation_memory

TOOLS = (
    Tool(
        "personalization_snapshot",
        "Read the whole portrait of the user: trading summary, newest personalization memories, tags, custom prompt, "
        "reference wallets. It is background, and what the user says now comes first.",
        SnapshotArgs,
        Act.PROFILE_READ,
        personalization_snapshot,
    ),
    Tool(
        "search_conversation_memory",
        "Find what is remembered of the user: preferences, facts about them, constraints, goals, best match first. "
        "Use memory_search for every other category.",
        SearchArgs,
        Act.MEMORY_READ,
        search_conversation_memory,
    ),
    Tool(
        "search_user_trades",
        "Read the newest trades of the user in one asset, as the exchange reports them from their own wallets: side, "
        "direction, size, price, realized P&L before fees.",
        TradesArgs,
        Act.TRADES_READ,
        search_user_trades,
    ),
)
