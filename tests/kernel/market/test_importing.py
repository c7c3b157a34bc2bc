"""A file of candles is imported once, however often, and every row of it is accounted for."""

import io
import os

import pytest
from django.core.management import CommandError, call_command

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.market.models import PriceBar
from minara_site.kernel.market.selectors import find_price
from tests.kernel.market.rows import HOUR, T0
from tests.kit.shared import shared_path
from tests.kit.tables import table

pytestmark = pytest.mark.django_db

HEADER = "ts,open,high,low,close,volume\n"
LINE = "2026-06-01T{hour:02}:00:00Z,1,3,0.5,2,10\n"


def run(path, *options, symbol="BTC/USDT", interval="1h"):
    """Run the command; return its output and exit code."""
    out = io.StringIO()
    try:
        call_command(
            "market",
            "import",
            str(path),
            "--symbol",
            symbol,
            "--interval",
            interval,
            *options,
            stdout=out,
        )
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


@pytest.fixture
def write(tmp_path):
    def write_file(*lines, header=HEADER):
        path = tmp_path / "candles.csv"
        path.write_text(header + "".join(lines))
        return path

    return write_file


@pytest.mark.database
@table(
    ("name", "symbol", "stored", "interval", "rows"),
    [("eth_btc_5m.csv", "ETH/BTC", "ETH/BTC", "5m", 5760), ("xrp_usdt_1h.csv", "XRP/USDT", "XRP", "1h", 100)],
)
def test_a_real_file_twice_is_stored_once(name, symbol, stored, interval, rows):
    path = shared_path(f"data/{name}")
    said, code = run(path, symbol=symbol, interval=interval)
    assert (said.strip(), code) == (f"{stored}: of {rows} rows {rows} new, 0 corrected, 0 refused.", 0)
    entries = AuditEntry.objects.count()
    said, code = run(path, symbol=symbol, interval=interval)
    assert (said.strip(), code) == (f"{stored}: of {rows} rows 0 new, 0 corrected, 0 refused.", 0)
    assert (PriceBar.objects.count(), AuditEntry.objects.count()) == (rows, entries)
    assert set(PriceBar.objects.values_list("symbol", "source", "owner_id")) == {(stored, f"csv:{name}", None)}


def test_says_which_rows_it_refuses_and_why_and_exits_with_2(write):
    path = write(
        LINE.format(hour=2), LINE.format(hour=0), "2026-06-01T01:00:00Z,1,3,0.5,oops,10\n", LINE.format(hour=1),
        LINE.format(hour=1), LINE.format(hour=2).replace(",2,", ",2.5,"), "2026-06-01T03:00:00Z,1,3\n",
    )  # fmt: skip
    said, code = run(path)
    assert code == 2
    assert said.splitlines() == [
        "line 4, close: This is no number. Write it like 61250.5, without separators of thousands.",
        "line 7, ts: Line 2 says something else of the same time.",
        "line 8: The line has too few cells.",
        "BTC: of 7 rows 3 new, 0 corrected, 3 refused. 1 row says what an earlier one says.",
    ]
    assert PriceBar.objects.count() == 3


def test_of_very_many_refused_rows_the_first_hundred_are_shown(write):
    said, code = run(write(LINE.format(hour=0), *("x,1,1,1,1,1\n" for _ in range(150))))
    assert (len(said.splitlines()), code) == (102, 2)
    assert "50 further rows were refused." in said


@pytest.mark.database
def test_a_changed_row_is_a_correction(write):
    run(write(LINE.format(hour=0), LINE.format(hour=1)))
    said, code = run(write(LINE.format(hour=0), LINE.format(hour=1).replace(",2,", ",2.5,")))
    assert (said.strip(), code) == ("BTC: of 2 rows 0 new, 1 corrected, 0 refused.", 0)
    assert find_price("BTC", at=T0 + 2 * HOUR, owner_id=None, tolerance=HOUR).price == 2.5
    said, _code = run(write(LINE.format(hour=2).replace("1,3,0.5,2", "99,99,99,99")))
    assert said.strip().endswith("1 judge nothing yet: see the page Prices.")


def test_a_dry_run_stores_nothing(write):
    said, code = run(write(LINE.format(hour=0)), "--dry-run")
    assert (said.strip(), code) == ("BTC: of 1 rows 1 would be new, 0 corrected, 0 refused.", 0)
    assert not PriceBar.objects.exists()
    assert not AuditEntry.objects.exists()


@table(
    ("interval", "said"),
    [("5m", "No two rows lie closer than 1h; --interval says 5m"), ("1d", "1h apart, closer than 1d")],
)
def test_a_wrong_interval_is_noticed(write, interval, said):
    path = write(LINE.format(hour=0), LINE.format(hour=1))
    with pytest.raises(CommandError, match=said):
        run(path, interval=interval)
    assert not PriceBar.objects.exists()
    if interval == "5m":
        assert run(path, "--gaps", interval=interval)[1] == 0


def test_a_day_in_summer_time_may_have_23_hours(write):
    days = ("2026-03-27T23:00", "2026-03-28T23:00", "2026-03-29T22:00")
    assert run(write(*(f"{day},1,3,0.5,2,10\n" for day in days)), interval="1d")[1] == 0


@table(
    ("content", "said"),
    [
        (b"", "no column for ts, open, high, low, close"),
        (b"a,b\n1,2\n", "no column for ts"),
        (b"ts,open,high,low,close,last\n", "names close twice"),
        (b"ts,open\xff", "not UTF-8"),
        (HEADER.encode() + LINE.format(hour=0).encode() + b"\xff\n", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content, said):
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=said):
        run(path)


def test_only_a_regular_file_is_opened(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "missing", "/dev/zero", "a\0b"):
        with pytest.raises(CommandError, match="There is no file"):
            run(path)


def test_a_line_without_end_is_one_refused_row(write):
    said, code = run(write(LINE.format(hour=0), "9" * 3_000_000 + "\n", LINE.format(hour=1)))
    assert (said.splitlines()[0], code) == ("line 3: This is no line of a CSV file.", 2)
    assert PriceBar.objects.count() == 2


@table(("symbol", "interval", "said"), [("USD", "1h", "Name both, such as EURUSD"), ("BTC", "1y", "write a length")])
def test_refuses_a_symbol_or_an_interval_that_is_none(write, symbol, interval, said):
    with pytest.raises(CommandError, match=said):
        run(write(LINE.format(hour=0)), symbol=symbol, interval=interval)
