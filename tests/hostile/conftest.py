"""The two tenants of the permission tests, and who attacks them."""

import pytest

from tests.hostile.inputs import CI_SHARE
from tests.hostile.knock import Knocker
from tests.kit.world import World


@pytest.fixture
def ana_page(world: World) -> Knocker:
    """Ana in the browser."""
    return Knocker(world.callers["ana"].headers)


@pytest.fixture
def olga_page(world: World) -> Knocker:
    """An operator in the browser."""
    return Knocker(world.callers["olga"].headers)


@pytest.fixture
def sam_page(world: World) -> Knocker:
    """Support staff in the browser."""
    return Knocker(world.callers["sam"].headers)


@pytest.fixture
def ana_key(world: World) -> Knocker:
    """An agent of Ana with every scope of an agent."""
    return Knocker(world.callers["key_agent"].headers)


@pytest.fixture
def stranger(world: World) -> Knocker:
    """Nobody."""
    return Knocker({})


@pytest.fixture(params=[pytest.param(CI_SHARE, id="some"), pytest.param(1, id="all", marks=pytest.mark.soak)])
def share(request: pytest.FixtureRequest) -> int:
    """Every how manieth row of a corpus is sent: all of them only by `make soak`."""
    return int(request.param)
