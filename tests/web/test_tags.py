"""Template tags: what they show, and that nothing stored becomes markup (trust W-06, W-24)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser
from typing import Any
from zoneinfo import ZoneInfo

import time_machine
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone
from hypothesis import given, strategies as st

from minara_site.kernel.core.diff import word_diff
from tests.kit.clock import NOON
from tests.kit.page import without_layout
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.web.site import ENTRIES, EntryForm

STORED = """
{% visible text %}<p{% cjk text %}>{% category text %}{% source_badge text %}{% state_badge text %}{% state_badge "held" text %}</p>
{% highlight hits %}{% worddiff changes %}{% icon "memory" label=text %}{% pick text text %}
{% menu text %}<a href="/">{{ text }}</a>{% endmenu %}<a href="/{% params q=text %}">x</a>
{% include "parts/callout.html" with title=text text=text kind="info" icon="info" %}
{% include "parts/empty.html" with icon="memory" title=text text=text action=text action_url="/" %}
"""


class Shape(HTMLParser):
    """The elements of a page with the names of their attributes; shown hidden characters left out."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        names = tuple(name for name, _ in attrs if name != "lang")
        if ("class", "hid") not in attrs:
            self.elements.append((tag, names))


@cache
def compiled(source: str) -> Template:
    return Template(source)


def render(source: str, **context: Any) -> str:
    request = RequestFactory().get("/memories/", {"state": "held", "cursor": "c"})
    return compiled(source).render(Context({"request": request, "spec": ENTRIES, **context}))


def stored(text: str) -> str:
    hits, changes = [(text, False), (text, True)], [("equal", text), ("insert", text), ("delete", text)]
    return render(STORED, text=text, hits=hits, changes=changes)


class TestEscaping:
    def test_hostile_text_never_changes_the_shape_of_a_page(self) -> None:
        plain = Shape(stored("plain")).elements
        for row in corpus("xss"):
            assert Shape(stored(row["text"])).elements == plain, row["text"]

    @given(text=st.text(max_size=60))
    def test_no_text_changes_the_shape_of_a_page(self, text: str) -> None:
        assert Shape(stored(text or "x")).elements == Shape(stored("plain")).elements

    @table("text", ["{{7*7}}", "{% debug %}", "%(password)s", "{0.__class__}"])
    def test_template_marks_are_shown_as_they_are(self, text: str) -> None:
        assert stored(text).count(text) >= 10

    def test_form_fields_escape_what_was_sent(self) -> None:
        form = EntryForm({"statement": "</textarea><script>alert(1)</script>", "kind": '"><img src=x onerror=1>'})
        html = render("{% errors form %}{% for f in form %}{% field f %}{% endfor %}", form=form)
        assert "<script" not in html
        assert "<img" not in html


class TestVisible:
    @table("char", ["\u200b", "\u202e", "\x00", "\u00ad", "\U000e0041", "\ufeff"])
    def test_shows_a_hidden_character_by_its_code_point(self, char: str) -> None:
        assert f'data-hid="U+{ord(char):04X}"' in render("{% visible text %}", text=f"a{char}b")

    def test_leaves_ordinary_text_alone_and_shows_nothing_for_nothing(self) -> None:
        assert render("{% visible text %}", text="止损 & 3% <b>\n") == "止损 &amp; 3% &lt;b&gt;\n"
        assert render("{% visible text %}", text=None) == ""


def test_marks_hits_and_what_was_put_in_and_taken_out() -> None:
    assert render("{% highlight s %}", s=[("a ", False), ("stop", True)]) == "a <mark>stop</mark>"
    segments = [("equal", "by "), ("delete", "5%"), ("insert", "8%")]
    assert render("{% worddiff s %}", s=segments) == "by <del>5%</del><ins>8%</ins>"
    assert render("{% worddiff s %}", s=word_diff("by 5%", "by 8%")) == "by <del>5</del><ins>8</ins>%"


class TestLanguage:
    @table(
        ("text", "language"),
        [
            ("山寨币单笔仓位不超过总资金的 3%", ' lang="zh-Hans"'),
            ("BTC 总是被插针扫损", ' lang="zh-Hans"'),
            ("Confirm every trade above $500", ""),
            ("the word 止损 in a long English sentence about stops", ""),
            ("ビットコインを買う", ' lang="ja"'),
            ("비트코인", ' lang="ko"'),
            ("12.5%", ""),
            (None, ""),
        ],
    )
    def test_names_the_language_of_the_script(self, text: str | None, language: str) -> None:
        assert render("{% cjk text %}", text=text) == language


class TestTime:
    @table(
        ("span", "words"),
        [
            (timedelta(seconds=0), "just now"),
            (timedelta(seconds=59), "just now"),
            (timedelta(seconds=60), "1 min ago"),
            (timedelta(minutes=59, seconds=59), "59 min ago"),
            (timedelta(hours=1), "1 h ago"),
            (timedelta(hours=23, minutes=59), "23 h ago"),
            (timedelta(days=1), "1 d ago"),
            (timedelta(days=29, hours=23), "29 d ago"),
            (timedelta(days=30), "13 May 2026"),
            (timedelta(minutes=-5), "in 5 min"),
            (timedelta(days=-3), "in 3 d"),
        ],
    )
    def test_says_the_age(self, span: timedelta, words: str) -> None:
        with time_machine.travel(NOON, tick=False):
            assert f">{words}</time>" in render("{% ago moment %}", moment=NOON - span)

    @table(
        ("zone", "title"),
        [
            ("UTC", "12 Jun 2026 12:00:00 UTC"),
            ("Asia/Shanghai", "12 Jun 2026 20:00:00 UTC+8"),
            ("America/St_Johns", "12 Jun 2026 09:30:00 UTC\u22122:30"),
            ("Asia/Kolkata", "12 Jun 2026 17:30:00 UTC+5:30"),
        ],
    )
    def test_gives_the_exact_time_in_the_readers_zone(self, zone: str, title: str) -> None:
        with timezone.override(ZoneInfo(zone)):
            html = render("{% ago moment %}", moment=NOON)
        assert f'datetime="2026-06-12T12:00:00+00:00" title="{title}"' in html

    def test_follows_daylight_saving(self) -> None:
        before, after = datetime(2026, 3, 29, 0, 59, 59, tzinfo=UTC), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
        with timezone.override(ZoneInfo("Europe/Berlin")):
            assert ">29 Mar 2026 01:59</time>" in render("{% when moment %}", moment=before)
            assert ">29 Mar 2026 03:00</time>" in render("{% when moment %}", moment=after)
            assert ">29 Mar 2026 01:59:59</time>" in render("{% when moment seconds=True %}", moment=before)

    def test_shows_a_dash_for_what_never_happened(self) -> None:
        html = render("{% ago none %}{% when none %}{% day none %}", none=None)
        assert html.count('title="never">—<') == 3


class TestNumbers:
    def test_separates_thousands_and_writes_a_true_minus(self) -> None:
        assert render("{% number a %} {% number b %} {% number c 2 %}", a=1412, b=-5, c=0.126) == "1,412 \u22125 0.13"

    def test_writes_money_from_decimals(self) -> None:
        values = {"a": Decimal("1284.5"), "b": Decimal("-9.70"), "c": Decimal("0.005")}
        assert render("{% money a %} {% money b %} {% money c %}", **values) == "$1,284.50 \u2212$9.70 $0.00"

    def test_says_so_when_there_is_no_value(self) -> None:
        assert render("{% number v %}|{% score v %}|{% money v %}", v=None) == "|".join(["Not enough data"] * 3)


class TestJoined:
    def test_lines_touch_and_a_space_is_written(self) -> None:
        source = """{% joined %}
            <b>{{ name }}</b>
            {% if note %}
              ,{{ " " }}
              {% for each in note %}
                [{{ each }}]
              {% endfor %}
            {% endif %}
        {% endjoined %}"""
        assert render(source, name="a", note="xy") == "<b>a</b>, [x][y]"
        assert render(source, name="a b", note="") == "<b>a b</b>"

    def test_attributes_stay_apart_also_beside_conditions(self) -> None:
        source = """{% joined %}
            <input name="q"
                   value="{{ text }}"
                   {% if text %}required{% endif %}
                   autofocus
                   placeholder="a">
            <b>1</b>
        {% endjoined %}"""
        html = render(source, text="x")
        assert html == '<input name="q" value="x" required autofocus placeholder="a"><b>1</b>'

    def test_line_breaks_of_values_stay(self) -> None:
        assert (
            render("{% joined %}\n  <p>\n    {% visible text %}\n  </p>\n{% endjoined %}", text="a\n  b")
            == "<p>a\n  b</p>"
        )


class TestField:
    def html(self, data: dict[str, Any] | None = None) -> str:
        return without_layout(render("{% for f in form %}{% field f %}{% endfor %}", form=EntryForm(data)))

    def test_ties_label_hint_and_control(self) -> None:
        html = self.html()
        assert '<label for="id_statement">Statement</label>' in html
        assert 'aria-describedby="id_statement_helptext"' in html
        assert '<span class="hint" id="id_statement_helptext">At most 40 characters.</span>' in html
        assert 'rows="4"' in render("{% field form.statement rows=4 %}", form=EntryForm())

    def test_ties_the_error_to_the_control(self) -> None:
        html = self.html({"statement": "", "kind": "lesson"})
        assert 'aria-invalid="true"' in html
        assert 'aria-describedby="id_statement_helptext id_statement_error"' in html
        assert 'id="id_statement_error" role="alert"' in html

    def test_says_which_fields_are_optional_and_never_of_a_choice(self) -> None:
        assert self.html().count('<span class="hint">optional</span>') == 1
        form = EntryForm()
        form.fields["kind"].required = False
        assert "optional" not in render("{% field form.kind %}", form=form)

    def test_names_the_language_of_what_a_text_control_holds(self) -> None:
        assert 'lang="zh-Hans"' in self.html({"statement": "止损必须随开仓一起下单"})
        assert "lang=" not in self.html({"statement": "stop-loss"})


def test_params_changes_one_and_leaves_one_out() -> None:
    assert render('{% params state="all" cursor=None %}') == "?state=all"
