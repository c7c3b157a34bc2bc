"""`minara simulate`: no database, the same bytes each time, no look into the future, one sentence for what is wrong."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from learning_app.lessons.core import hash_lessons_text
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.paper import PaperBroker
from learning_app.ticks.core.simulate import MemoryLedger
from learning_app.ticks.simulate import load_bars, simulate
from minara_site.kernel.llm.models import LlmUsage
from tests.kit.messages_api import error
from tests.kit.shared import shared_path
from tests.kit.site import ROOT
from tests.kit.tables import table
from tests.learning_app.ticks import strategies

HOUR = timedelta(hours=1)
HEADER = "ts,open,high,low,close,volume\n"
ROWS = "".join(f"2026-01-01T{hour:02}:00:00Z,10,12,9,{10 + hour % 3},5\n" for hour in range(12))
STRATEGY = "tests.learning_app.ticks.strategies:"


def run(tmp_path, *flags, rows=HEADER + ROWS, strategy="nothing", **options):
    """Run the command over rows in this process."""
    prices = tmp_path / "prices.csv"
    prices.write_text(rows)
    given = {"prices": prices, "symbol": "XRP", "interval": "1h", "strategy": STRATEGY + strategy, **options}
    pairs = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    call_command("simulate", *pairs, *flags)


def lines_of(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_needs_no_database_and_says_the_same_each_time(tmp_path):
    command = [sys.executable, str(ROOT / "manage.py"), "simulate", "--symbol", "XRP", "--interval", "1h", "--json"]
    command += ["--prices", str(shared_path("data/xrp_usdt_1h.csv")), "--strategy", "mine:means", "--fee-bps", "4.5"]
    (tmp_path / "mine.py").write_text(Path(strategies.__file__).read_text())
    unreachable = {"DATABASE_URL": "postgres://nobody:x@127.0.0.1:9/none", "MINARA_DATA_DIR": str(tmp_path / "data")}
    ended = [
        subprocess.run(command, cwd=tmp_path, env=os.environ | unreachable, capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert ended[0] == ended[1]
    *steps, last = map(json.loads, ended[0].splitlines())
    assert [set(step) for step in steps] == [{"tick", "ops", "context"}] * 100
    opened = [op for step in steps for op in step["ops"] if op["op"] in {"OpenTrade", "FlipTrade"}]
    assert len(last["trades"]) == len(opened) > 5
    assert {trade["entry_reason"] for trade in last["trades"]} == {"means say long", "means say short"}


def test_a_strategy_is_asked_at_each_close_and_sees_no_later_candle():
    bars = load_bars(shared_path("data/xrp_usdt_1h.csv"), length=timedelta(hours=1), now=datetime.now(UTC))
    bars = bars + [bar.__class__(bar.opens_at + 100 * HOUR, bar.open, bar.high, bar.low, bar.close) for bar in bars]
    seen, answers = [], []

    def watch(window, portfolio, context):
        seen.append([candle.ts for candle in window])
        answers.append(context)
        assert portfolio["equity_usd"] == "500"
        window.clear()

    broker = PaperBroker("XRP", Decimal(500), Decimal(1), Decimal(0), Decimal(0))
    steps = list(simulate(bars, watch, broker, MemoryLedger(SkillConfig()), length=HOUR))
    opened = [int(bar.opens_at.timestamp() * 1000) for bar in bars]
    assert seen == [opened[max(0, end - 100) : end] for end in range(1, len(bars) + 1)]
    assert [step["tick"]["tick_at"] for step in steps] == [(bar.opens_at + HOUR).isoformat() for bar in bars]
    assert answers[1:] == [step["context"] for step in steps[:-1]]


def test_what_is_said_at_the_end_has_its_costs_and_a_config_rules_the_context(tmp_path, capsys):
    config = tmp_path / "config.json"
    config.write_text('{"avoid": ["Never short"], "memory": {"enabled": false}}')
    run(tmp_path, strategy="borrowed", equity="100", leverage="20", slippage_bps="100", config=config)
    assert "Trades closed: 0. P&L net of fees: +0.00 USD. Equity: 480.00 USD." in capsys.readouterr().out
    run(tmp_path, "--json", config=config)
    *steps, last = lines_of(capsys)
    assert last == {"trades": []}
    assert {step["context"]["segments"]["leash"] for step in steps} == {
        "Never do (the user's avoid rules):\n- Never short"
    }
    assert not any(any(step["context"]["sections"].values()) for step in steps)


REFLECTING = {
    "avoid": ["Never short"],
    "memory": {"reflection": {"cadence": "per_n_trades", "everyNTrades": 2, "compare": "alternate"}},
}
SLOTS = dict.fromkeys(("entry_timing", "sizing", "symbol_selection", "exit_timing", "regime_fit"), ())


@pytest.mark.django_db
def test_a_model_is_asked_when_it_is_wanted_and_its_lessons_stand_from_the_next_tick_on(models):
    asked = []

    def answer(question):
        asked.append(json.loads(question.content.splitlines()[1]))
        return {**SLOTS, "sizing": [f"Lesson {len(asked)} of {len(asked[-1]['trades'])} trades"]}

    models.answer = answer
    models.answers = [error(400)]
    ledger = MemoryLedger(SkillConfig(**REFLECTING), "sim")
    bars = load_bars(shared_path("data/xrp_usdt_1h.csv"), length=HOUR, now=datetime.now(UTC))
    broker = PaperBroker("XRP", Decimal(5000), Decimal(1), Decimal(3), Decimal(0))
    steps = list(simulate(bars, strategies.means, broker, ledger, length=HOUR, is_reflecting=True))
    assert len(asked) == len(ledger.notes) == len(ledger.closed) // 2 - 1 > 2, (
        "the first was refused, and changed nothing"
    )
    assert [len(each["trades"]) for each in asked] == [2 * number for number in range(2, len(asked) + 2)]
    assert [bool(each["lessons_in_force"]) for each in asked] == [False] + [True] * (len(asked) - 1)
    assert asked[0]["avoid"] == ["Never short"]
    assert asked[0]["trades"][0]["regime"]
    assert set(LlmUsage.objects.values_list("category", flat=True)) == {"experiment"}
    check_lessons(ledger, steps)


def check_lessons(ledger, steps):
    """Each opening names the lessons that stood in the context before it, of each two one under the older ones."""
    said, lessons = {}, None
    for step in steps:
        for op in step["ops"]:
            opened = op.get("open", op)
            if "entry_lessons_hash" in opened:
                assert opened["entry_lessons_hash"] == hash_lessons_text(lessons)
        segment = step["context"]["segments"]["lessons"]
        lessons = segment.partition("\n")[2] if segment else None
        said[hash_lessons_text(lessons)] = lessons
    assert said.keys() >= {note.content_hash for note in ledger.notes[1:]}
    under = [row.entry_lessons_hash for row in ledger.trades]
    assert len(set(under)) > 2
    assert None in under


def test_without_the_flag_nobody_is_asked(models):
    ledger = MemoryLedger(SkillConfig(**REFLECTING))
    bars = load_bars(shared_path("data/xrp_usdt_1h.csv"), length=HOUR, now=datetime.now(UTC))
    broker = PaperBroker("XRP", Decimal(5000), Decimal(1), Decimal(3), Decimal(0))
    assert list(simulate(bars, strategies.means, broker, ledger, length=HOUR))
    assert models.calls == 0


@table(
    "options, words",
    [
        (
            {"strategy": "raises"},
            "The strategy failed at 2026-01-01T03:00:00+00:00. ZeroDivisionError: division by zero",
        ),
        ({"strategy": "nonsense"}, "strategy.action: Input should be 'open',"),
        ({"strategy": "number"}, "strategy: Input should be a valid dictionary"),
        ({"strategy": "missing"}, "The strategy could not be loaded. AttributeError: module "),
        ({"strategy": "NO_FUNCTION"}, "TypeError: 'int' object is not callable"),
        ({"strategy": ""}, "The strategy could not be loaded."),
        ({"strategy": "nothing", "symbol": "buy now"}, "account.symbol: Give the venue's symbol"),
        ({"interval": "5x"}, "Write --interval as a length like 5m, 1h, 1d or 1w."),
        ({"interval": "1d"}, "The rows lie 1h apart, closer than 1d."),
        ({"equity": "-5"}, "account.cash: A price is more than 0."),
        ({"fee_bps": "NaN"}, "account.fee_bps: This is no number."),
        ({"slippage_bps": "10000"}, "account.slippage_bps: Input should be less than 10000"),
        ({"rows": HEADER}, "There are no candles in the file."),
        ({"rows": ""}, "The first line has no column for ts"),
        (
            {"rows": HEADER + ROWS + "2026-01-02,1,1,1,0,1\n"},
            "Line 14 of the file cannot be used. A price is more than 0.",
        ),
        ({"rows": HEADER + "2999-01-02,1,1,1,1,1\n"}, "Line 2 of the file cannot be used."),
        ({"prices": "nowhere.csv"}, "There is no file nowhere.csv."),
        ({"config": "nowhere.json"}, "The configuration nowhere.json is no file of JSON that can be read."),
    ],
)
def test_what_is_wrong_is_one_sentence(tmp_path, options, words):
    with pytest.raises(CommandError) as refused:
        run(tmp_path, **options)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_wrong_config_and_a_module_that_is_not_there_are_one_sentence(tmp_path):
    config = tmp_path / "config.json"
    config.write_text('{"memory": {"recentTradesK": 31}}')
    with pytest.raises(
        CommandError, match=r"^config\.memory\.recentTradesK: Input should be less than or equal to 30$"
    ):
        run(tmp_path, config=config)
    with pytest.raises(CommandError, match="ModuleNotFoundError: No module named"):
        run(tmp_path, "--strategy", "no_such_module:function")
