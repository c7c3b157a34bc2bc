"""What `tests.lanes` wants to know of a run: how each test ended and how long it took; and an order by chance."""

import json
import random
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the lanes pass."""
    parser.addoption("--report", help="write how each test ended to this file, as JSON")
    parser.addoption(
        "--shuffle", type=int, help="run modules, and the tests of each, in an order that this number decides"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep a report in the process that hears of every test."""
    if config.getoption("report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(config.getoption("report"))))


class Report:
    """Collects outcome and seconds by node id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test; one that fails is what the test came to."""
        test = self.tests.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0})
        test["seconds"] += report.duration
        if report.outcome != "passed" and test["outcome"] != "failed":
            test["outcome"] = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write it down."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.tests))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle modules and the tests in each; every process of a run does it alike."""
    if config.getoption("shuffle") is None:
        return
    dice = random.Random(config.getoption("shuffle"))
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    groups = list(modules.values())
    dice.shuffle(groups)
    for group in groups:
        dice.shuffle(group)
    items[:] = [item for group in groups for item in group]
