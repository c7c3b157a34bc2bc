"""Template tags of the console, built in: no template loads them. Each escapes what it is given."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from html import escape
from typing import Any

from django import template
from django.forms import (
    BaseForm,
    BoundField,
    CheckboxInput,
    CheckboxSelectMultiple,
    RadioSelect,
    Select,
    Textarea,
    TextInput,
)
from django.http import HttpRequest
from django.template.base import Node, NodeList, Parser, TextNode, Token
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from minara_site.web import texts
from minara_site.web.badges import Badge, source_of, state_of
from minara_site.web.charts import Drawing, Point, Value
from minara_site.web.filters import Text, changed_query
from minara_site.web.labels import declared_label
from minara_site.web.lists import ListSpec
from minara_site.web.market_labels import tone_of
from minara_site.web.moments import (
    age,
    cost_label,
    day,
    day_and_time,
    exact,
    money_label,
    number_label,
    share_label,
    signed_money_label,
)
from minara_site.web.page_acts import load_page_acts

register = template.Library()
NOTHING = SafeString("")
SPRITE = "img/icons.svg"
TAG_OR_LINE_BREAK = re.compile(r"(<[a-zA-Z])|(>)|\s*\n\s*")
ICON_SIZES = {"": "i", "s": "i i-s", "l": "i i-l"}


register.filter("declared", declared_label)
register.filter("tone", tone_of)
register.simple_tag(texts.highlighted_html, name="highlight")
register.simple_tag(texts.diff_html, name="worddiff")
register.simple_tag(texts.hidden_name)
register.simple_tag(number_label, name="number")
register.simple_tag(money_label, name="money")
register.simple_tag(cost_label, name="cost")
register.simple_tag(share_label, name="percent")


@register.simple_tag
def result(amount: Decimal) -> SafeString:
    """Return what was won or lost in dollars, with its sign and in its tone."""
    return format_html('<span class="num {}">{}</span>', tone_of(amount), signed_money_label(amount))


@register.simple_tag
def icon(name: str, size: str = "", label: Text = "") -> SafeString:
    """Return an icon of the sprite; `label` names it where no word stands beside it."""
    href = f"{static(SPRITE)}#i-{name}"
    if label:
        inner = '<svg class="{}" role="img" aria-label="{}"><use href="{}"/></svg>'
        return format_html(inner, ICON_SIZES[size], label, href)
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}"/></svg>',
        ICON_SIZES[size],
        href,
    )


@register.simple_tag
def undo_text(act: str) -> str:
    """Return how the act of that address is undone, for the title of its button."""
    known = load_page_acts().get(act)  # a list of another app may declare none
    return known.text if known else ""


@register.simple_tag
def undo_note(act: str) -> SafeString:
    """Return how the act of that address is undone, as a line of its form."""
    return format_html('<p class="small ink-2">{}</p>', undo_text(act))


@register.simple_tag
def source_badge(source: str, *, is_own: bool = True) -> SafeString:
    """Return where a memory came from; "you" is its reader only when it is their own."""
    return badge_html(
        "src",
        source_of(source, is_own=is_own),
        title=f"source: {source}",
    )


@register.simple_tag
def state_badge(state: str, word: Text = "") -> SafeString:
    """Return the state of a row; `word` says more than the state's own word."""
    known = state_of(state)
    return badge_html("state", Badge(known.shape, known.icon, word or known.word))


def badge_html(family: str, badge: Badge, title: str = "") -> SafeString:
    """Return a badge."""
    sign = icon(badge.icon) if badge.icon else NOTHING
    hint = format_html(' title="{}"', title) if title else NOTHING
    return format_html(
        '<span class="badge {} {}"{}>{}{}</span>',
        family,
        badge.shape,
        hint,
        sign,
        badge.word,
    )


@register.simple_tag
def category(name: str) -> SafeString:
    """Return a category as it looks in the prompt: [lesson]."""
    return format_html('<span class="cat">{}</span>', name)


@register.simple_tag
def visible(text: str | None) -> SafeString:
    """Return stored text, its hidden characters shown."""
    return texts.visible_html(text or "")


@register.simple_tag
def cjk(text: str | None) -> SafeString:
    """Return a `lang` attribute when the text is Chinese, Japanese or Korean."""
    language = texts.language_of(text or "")
    return format_html(' lang="{}"', language) if language else NOTHING


@register.simple_tag
def ago(moment: datetime | None) -> SafeString:
    """Return how long ago a moment was, the exact time in its title."""
    return time_html(moment, age(moment, timezone.localtime())) if moment else dash()


@register.simple_tag
def when(moment: datetime | None, *, seconds: bool = False) -> SafeString:
    """Return day and time in the reader's zone, where the order of things counts with `seconds=True`."""
    zone = timezone.get_current_timezone()
    return time_html(moment, day_and_time(moment, zone, seconds=seconds)) if moment else dash()


@register.simple_tag(name="day")
def day_tag(moment: datetime | None) -> SafeString:
    """Return the day in the reader's zone."""
    return time_html(moment, day(moment, timezone.get_current_timezone())) if moment else dash()


def time_html(moment: datetime, words: str) -> SafeString:
    """Return a `<time>` with the moment in UTC for machines and in the reader's zone on hover."""
    machine = moment.astimezone(UTC).isoformat()
    title = exact(moment, timezone.get_current_timezone())
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, title, words)


@register.simple_tag
def dash() -> SafeString:
    """Return the sign for what never was."""
    return format_html('<span class="ink-3" title="{}">—</span>', _("never"))


@register.simple_tag
def chart_rows(rows: Iterable[Value | Point]) -> SafeString:
    """Return the rows of the table behind a chart. In one go: a chart has hundreds, and a page six charts."""
    cells = (
        (
            row.label,
            _("no value") if row.value is None else row.text or row.value,
        )
        for row in rows
    )
    return SafeString(
        "".join(f'<tr><td>{escape(label)}</td><td class="n">{escape(str(text))}</td></tr>' for label, text in cells)
    )


@register.simple_tag
def chart_spots(drawing: Drawing) -> SafeString:
    """Return the places of a line chart that say their value when pointed at; the last one stands out."""
    looks = ['class="c-hit"'] * len(drawing.spots)
    if looks:
        looks[-1] = f'class="c-point{" c-point-ink" if drawing.bands else ""}" tabindex="0"'
    return SafeString(
        "".join(
            f'<circle {look} cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="4"><title>{escape(spot.title)}</title></circle>'
            for look, spot in zip(looks, drawing.spots, strict=True)
        )
    )


@register.simple_tag
def score(value: float | None) -> str:
    """Return a score with one decimal."""
    return number_label(value, 1)


@register.inclusion_tag("parts/field.html")
def field(bound: BoundField, **attrs: Any) -> dict[str, Any]:
    """Return a form field with label, hint and error; `attrs` go to the control (`rows=4`, `autocomplete="off"`)."""
    widget = bound.field.widget
    if isinstance(widget, CheckboxInput):
        kind = "check"
    elif isinstance(widget, RadioSelect | CheckboxSelectMultiple):
        kind = "choices"
    else:
        kind = "text"
        attrs["class"] = "input"
    if isinstance(widget, TextInput | Textarea) and (language := texts.language_of(str(bound.value() or ""))):
        attrs["lang"] = language
    control = bound.as_widget(attrs=attrs) if kind != "choices" else NOTHING
    is_optional = not bound.field.required and not isinstance(widget, Select)
    return {
        "field": bound,
        "kind": kind,
        "is_optional": is_optional,
        "control": control,
    }


@register.inclusion_tag("parts/errors.html")
def errors(form: BaseForm) -> dict[str, Any]:
    """Return what is wrong with a form as a whole."""
    return {
        "messages": form.non_field_errors(),
        "hidden_errors": [f for f in form.hidden_fields() if f.errors],
    }


@register.simple_tag(takes_context=True)
def pick(context: template.Context, row_id: int | str, label: Text = "") -> SafeString:
    """Return the cell with the checkbox of a row; nothing when the list has no bulk acts."""
    spec: ListSpec = context["spec"]
    if not spec.bulk:
        return NOTHING
    box = '<input type="checkbox" name="ids" value="{}" form="{}-bulk" aria-label="{}">'
    cell = f'<td class="pick"><label>{box}</label></td>'
    return format_html(cell, row_id, spec.name, label or _("Select this row"))


@register.simple_block_tag
def menu(content: str, label: Text) -> SafeString:
    """Return the acts of one row behind a button: links, and forms with one button each."""
    dots = icon("more")
    head = '<details class="row-menu"><summary class="icon-btn" aria-label="{}" title="{}">{}</summary>'
    return format_html(
        head + '<div class="menu">{}</div></details>',
        label,
        label,
        dots,
        content,
    )


class JoinedNode(Node):
    """Template code that stands on several lines and is one line in the page."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: template.Context) -> SafeString:
        """Return what the code renders."""
        return self.nodelist.render(context)


@register.tag
def joined(parser: Parser, token: Token) -> JoinedNode:
    """Join the lines of the template up to `endjoined` without a space; one that shall show is written `{{ " " }}`.

    Attributes stay apart, and line breaks in values stay. For words that touch: a text, a comma that a condition adds.
    """
    nodelist = parser.parse(("endjoined",))
    parser.delete_first_token()
    is_inside_tag = False

    def join(found: re.Match[str]) -> str:
        nonlocal is_inside_tag
        if found[1] or found[2]:
            is_inside_tag = bool(found[1])
            return found[0]
        return " " if is_inside_tag else ""

    for node in nodelist.get_nodes_by_type(TextNode):
        if isinstance(node, TextNode):
            node.s = TAG_OR_LINE_BREAK.sub(join, node.s)
    return JoinedNode(nodelist)


@register.simple_tag(takes_context=True)
def params(context: template.Context, **changes: str | None) -> str:
    """Return the query string of this page with parameters changed; None leaves one out."""
    return changed_query(context["request"].GET, **changes)


@register.simple_tag(takes_context=True)
def here(context: template.Context) -> str:
    """Return the address that the reader sees, also inside a fragment."""
    request: HttpRequest = context["request"]
    htmx = getattr(request, "htmx", None)
    seen = htmx.current_url_abs_path if htmx else None
    return str(seen or request.get_full_path())


@register.inclusion_tag("parts/_crumbs.html", takes_context=True)
def crumbs(context: template.Context) -> dict[str, Any]:
    """Return the way to this page; a view with more than one step below its tab gives them as `crumbs`."""
    shell, title = context["shell"], str(context.get("title", ""))
    return {
        "crumbs": shell.crumbs(title, context.get("crumbs")),
        "back_url": "" if shell.is_tab else shell.back_url,
    }
