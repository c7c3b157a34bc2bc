"""Charts: places worked out from values."""

import re
from collections.abc import Sequence

import pytest
from django.template.loader import render_to_string
from hypothesis import given, strategies as st

from minara_site.web import charts
from minara_site.web.charts import BANDS, Point, Value
from tests.kit.page import without_layout
from tests.kit.tables import table

FINITE = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)


def named(values: Sequence[float]) -> list[Value]:
    """Return the values with names, as a chart takes them."""
    return [Value(f"value {place}", value) for place, value in enumerate(values)]


def cells(html: str) -> list[tuple[str, str]]:
    """Return the rows of the table that stands behind a chart."""
    assert html.count("<summary>View as table</summary>") == 1
    return re.findall(r'<tr><td>(.*?)</td><td class="n">(.*?)</td></tr>', html)


class TestTables:
    """Each chart says its numbers without the drawing (screens U-13)."""

    def test_of_a_sparkline(self) -> None:
        spark = charts.sparkline([Value("12 Jun", 7), Value("13 Jun", 10_000, "more than 10,000")], "Written")
        html = render_to_string("parts/chart_sparkline.html", {"chart": spark})
        assert cells(html) == [("12 Jun", "7"), ("13 Jun", "more than 10,000")]

    def test_of_a_line(self) -> None:
        course = charts.line_chart([Point("12 Jun", 7), Point("13 Jun", None)], "course")
        html = render_to_string("parts/chart_line.html", {"chart": course})
        assert cells(html) == [("12 Jun", "7"), ("13 Jun", "no value")]

    def test_of_a_bar_is_its_legend(self) -> None:
        bar = charts.segmented_bar([("Observations", 1500), ("Tags", 0)], "Tokens")
        html = without_layout(render_to_string("parts/chart_bar.html", {"chart": bar}))
        legend = re.findall(r'<dt><i class="key key-\d"></i>(.*?)</dt><dd class="num strong">(.*?)</dd>', html)
        assert legend == [("Observations", "1,500"), ("Tags", "0")]


class TestSparkline:
    def test_runs_from_left_to_right_and_ends_at_the_last_value(self) -> None:
        spark = charts.sparkline(named([0, 10, 5]), "Memories written")
        assert spark is not None
        assert spark.line == "M2.0 28.0L47.0 4.0L92.0 16.0"
        assert spark.end == charts.Spot(92.0, 16.0)

    def test_is_nothing_without_values(self) -> None:
        assert charts.sparkline([], "none") is None
        assert render_to_string("parts/chart_sparkline.html", {"chart": None}).strip() == ""

    @given(values=st.lists(FINITE, min_size=1, max_size=40))
    def test_stays_within_its_field(self, values: list[float]) -> None:
        spark = charts.sparkline(named(values), "any")
        assert spark is not None
        places = [tuple(map(float, spot.split())) for spot in spark.line[1:].split("L")]
        assert all(2 <= x <= 92 and 4 <= y <= 28 for x, y in places)


class TestSegmentedBar:
    def test_gives_each_part_its_share_of_the_whole(self) -> None:
        bar = charts.segmented_bar([("Observations", 500), ("Tags", 250)], "Tokens", total=1000)
        assert [(part.x, part.width, part.series) for part in bar.segments] == [(0.0, 996.0, 1), (1000.0, 496.0, 2)]

    def test_grows_with_parts_beyond_the_whole(self) -> None:
        assert charts.segmented_bar([("a", 30), ("b", 70)], "Tokens", total=50).total == 100

    @given(values=st.lists(st.integers(min_value=0, max_value=10**6), max_size=12))
    def test_never_leaves_its_field(self, values: list[int]) -> None:
        bar = charts.segmented_bar([("x", value) for value in values], "any")
        assert all(part.width >= 0 and part.x + part.width <= 2000.1 for part in bar.segments)


class TestLineChart:
    def test_draws_a_gap_dashed_between_the_stretches(self) -> None:
        points = [Point("1", 1), Point("2", 2), Point("3", None), Point("4", 3), Point("5", 4)]
        drawing = charts.line_chart(points, "course").wide
        assert len(drawing.lines) == 2
        assert len(drawing.gaps) == 1
        assert drawing.gaps[0].split("L")[0][1:] == drawing.lines[0].split("L")[-1]

    def test_cuts_bands_to_the_range(self) -> None:
        drawing = charts.line_chart([Point("1", 75)], "score", low=20, high=100, bands=BANDS).wide
        assert [band.name for band in drawing.bands] == ["healthy", "watch", "degraded", "alarm"]
        assert sum(band.height for band in drawing.bands) == pytest.approx(190 - 22 - 12)
        assert [tick.text for tick in drawing.y_ticks] == ["20", "40", "60", "80", "100"]

    def test_names_first_and_last_day_and_a_few_between(self) -> None:
        points = [Point(f"{n} Jun", n) for n in range(1, 31)]
        ticks = [tick.text for tick in charts.line_chart(points, "course").narrow.x_ticks]
        assert ticks == ["1 Jun", "15 Jun", "30 Jun"]

    @table("values", [[], [None], [5.0], [5.0, 5.0], [None, 1.0, None]])
    def test_draws_any_number_of_values(self, values: list[float | None]) -> None:
        points = [Point(str(n), value) for n, value in enumerate(values)]
        chart = charts.line_chart(points, "course")
        html = render_to_string("parts/chart_line.html", {"chart": chart})
        assert html.count('role="img"') == 2
        assert "style=" not in html
        assert html.count("<tr>") == 1 + len(values)

    def test_escapes_its_words(self) -> None:
        chart = charts.line_chart([Point('"><script>', 1)], '"><script>')
        assert "<script>" not in render_to_string("parts/chart_line.html", {"chart": chart})
