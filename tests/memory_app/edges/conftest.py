"""An agent with a key of its own."""

from typing import Any

import pytest

from tests.kit.api import Agent, agent_of


@pytest.fixture
def agent(ana: Any) -> Agent:
    """An agent of Ana with every scope of an agent."""
    return agent_of(ana)
