"""The report as data: states, buckets, and the form that can be shared."""

import json

from hypothesis import given, strategies as st

from minara_site.kernel.doctor.core import (
    HealthState,
    Line,
    Report,
    Section,
    anonymous_record,
    bucket,
    report_lines,
    report_record,
    worst,
)
from tests.kit.clock import NOON
from tests.kit.tables import table


def report(*lines):
    return Report(NOON, (Section("memory", "Memory health", lines),))


@table(
    ("count", "name"),
    [
        (0, "0"),
        (1, "1-9"),
        (9, "1-9"),
        (10, "10-99"),
        (99, "10-99"),
        (100, "100-999"),
        (999, "100-999"),
        (1_000, "1k-9k"),
        (9_999, "1k-9k"),
        (10_000, "10k+"),
        (10**9, "10k+"),
    ],
)
def test_a_bucket_is_as_wide_as_a_power_of_ten(count, name):
    assert bucket(count) == name


def test_the_worst_state_counts():
    assert worst([]) is HealthState.OK
    assert worst([HealthState.OK, HealthState.WATCH]) is HealthState.WATCH
    found = report(Line("a", "A", state=HealthState.BAD), Line("b", "B", state=HealthState.WATCH))
    assert found.state is HealthState.BAD


@given(st.integers(10, 10**9), *[st.text(alphabet="qxzj", min_size=5)] * 3)
def test_the_anonymous_form_tells_no_count_name_path_or_time(count, path, entity, hint):
    found = report(
        Line("data_folder", "Data folder", words=f"/srv/{path}"),
        Line("entities_top", "Top", 3, names=((entity, count),)),
        Line("edges", "Edges", count, state=HealthState.WATCH, hint=hint),
    )
    text = json.dumps(anonymous_record(found))
    assert not any(secret in text for secret in (path, entity, hint, f'"{count}"', f" {count}", NOON.isoformat()))
    assert bucket(count) in text


def test_the_full_form_tells_all_and_says_where_counting_stopped():
    found = report(
        Line("edges", "Edges", 200, is_exact=False),
        Line("entities_top", "Top", 1, names=(("BTC", 7),), hint="look"),
    )
    record = json.loads(json.dumps(report_record(found), default=str))
    assert record["sections"][0]["lines"][0] == {"name": "edges", "state": "ok", "count": 200, "is_exact": False}
    assert record["sections"][0]["lines"][1]["names"] == [{"name": "BTC", "count": 7}]
    assert list(report_lines(record)) == [
        "memory: ok",
        "  ok    edges: more than 200",
        "  ok    entities top: 1, BTC 7",
        "        look",
    ]
