"""Agents with keys of their own."""

from typing import Any

import pytest

from tests.kit.api import Agent, agent_of


@pytest.fixture
def agent(ana: Any) -> Agent:
    """An agent of Ana with every scope of an agent."""
    return agent_of(ana)


@pytest.fixture
def other(ben: Any) -> Agent:
    """An agent of Ben, the stranger."""
    return agent_of(ben)


@pytest.fixture
def stranger(db: None) -> Agent:
    """Somebody without a key."""
    return Agent()
