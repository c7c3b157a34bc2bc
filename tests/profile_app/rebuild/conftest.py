"""What most tests of rebuilds need: a model server, and what it answers by flow."""

from typing import Any

import pytest

from tests.kit.messages_api import MessagesApi


class Answers:
    """What the model says of each flow; a value may be a function of what was asked."""

    def __init__(self) -> None:
        self.trading_summary: Any = {"platformWalletSummary": "Trades BTC every day."}
        self.tags: Any = {"tags": []}
        self.memories: Any = {"facts": []}

    def __call__(self, asked: Any) -> Any:
        properties = asked.tool["input_schema"]["properties"]
        value = self.memories if "facts" in properties else self.tags if "tags" in properties else self.trading_summary
        return value(asked) if callable(value) else value


@pytest.fixture
def answers(models: MessagesApi) -> Answers:
    """Let the model answer by flow."""
    models.answer = said = Answers()
    return said
