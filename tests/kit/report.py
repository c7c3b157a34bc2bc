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
        "--shuffle",
        type=int,
        help="run modules, and the tests of each, in an order that this number decides",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep a report in the process that hears of every test, and the last word on their order."""
    config.pluginmanager.register(Order(config.getoption("shuffle")))
    if config.getoption("report") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(config.getoption("report"))))


class Report:
    """Collects outcome and seconds by node id: those of the test itself, for whoever comes first builds for all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of a test; one that fails is what the test came to."""
        test = self.tests.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0})
        test["seconds"] += report.duration if report.when == "call" else 0.0
        if report.outcome != "passed" and test["outcome"] != "failed":
            test["outcome"] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Add a module whose tests cannot be read."""
        if report.failed:
            self.tests[report.nodeid] = {"outcome": "broken", "seconds": 0.0}

    def pytest_sessionfinish(self) -> None:
        """Write it down."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.tests))


class Order:
    """Puts tests in an order that a number decides, and in any order those last that commit: they empty the tables."""

    def __init__(self, shuffle: int | None) -> None:
        self.shuffle = shuffle

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Any:
        """Order after everybody else, failed tests first too; every process of a run does it alike."""
        result = yield
        if self.shuffle is not None:
            items[:] = shuffled(items, random.Random(self.shuffle))
        items.sort(key=commits)
        return result


def shuffled(items: list[pytest.Item], dice: random.Random) -> list[pytest.Item]:
    """Return modules, and the tests of each, by chance."""
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    groups = list(modules.values())
    dice.shuffle(groups)
    for group in groups:
        dice.shuffle(group)
    return [item for group in groups for item in group]


def commits(item: pytest.Item) -> bool:
    """Say whether a test works without a transaction around it."""
    marker = item.get_closest_marker("django_db")
    fixtures = {"transactional_db", "live_server"} & {*getattr(item, "fixturenames", ())}
    return bool(fixtures or (marker and marker.kwargs.get("transaction")))
