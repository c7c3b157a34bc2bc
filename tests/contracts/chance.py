"""Tests that fail on purpose, for `test_lanes`: they run only where this file is named."""

import os
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(6))
def test_fails_the_first_time(number: int) -> None:
    ran_before = Path(os.environ["LANES_BUILD"], str(number))
    is_the_first = not ran_before.exists()
    ran_before.touch()
    assert not is_the_first


def test_fails_always() -> None:
    pytest.fail("on purpose")
