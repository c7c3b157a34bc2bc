"""The app's tools, as agents read of them."""

from learning_app.cases.schemas import NewCase
from learning_app.cases.tools import record
from minara_site.access.policy import Act
from minara_site.access.tools import Tool

TOOLS = (
    Tool(
        "record_case",
        "Record a trading decision before its outcome is known, with the ids of the methodologies that were in front "
        "of you. Prices judge it when its window closes; that moves the trust in those methodologies.",
        NewCase,
        Act.CASE_WRITE,
        record,
        is_read_only=False,
    ),
)
