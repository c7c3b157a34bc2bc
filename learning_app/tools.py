"""The app's tools, as agents read of them."""

from learning_app.cases.schemas import NewCase
from learning_app.cases.tools import record
from learning_app.learnings.schemas import NewLearning
from learning_app.learnings.tools import learn
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
)
