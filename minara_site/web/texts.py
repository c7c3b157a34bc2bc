"""Stored text on a page: escaped, its hidden characters shown, its hits and changes marked, its language named."""

import re
from collections.abc import Iterable
from functools import lru_cache

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from minara_site.kernel.core.hidden import HiddenChar, HiddenKind, has_hidden, split_hidden

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
KANA = re.compile("[\u3041-\u30ff\u31f0-\u31ff]")
HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7af]")
LETTER = re.compile(r"[^\W\d_]")
HAN_SHARE = 0.2  # a Han character says about as much as five Latin letters


def visible_html(text: str) -> SafeString:
    """Return text escaped, with each hidden character as a span that names it (screens U-17, trust P-3)."""
    if not has_hidden(text):
        return escape(text)
    runs = split_hidden(text)
    return mark_safe("".join(hidden_span(run.hidden) if run.hidden else escape(run.text) for run in runs))  # noqa: S308 - every run is escaped


def hidden_span(hidden: HiddenChar) -> SafeString:
    """Return the span that the style sheet shows as a code point."""
    return format_html(
        '<span class="hid" data-hid="{}" title="{}"></span>',
        hidden.code,
        hidden_name(hidden),
    )


CHARS = {
    "\u200b": _("zero width space"),
    "\u200c": _("zero width non-joiner"),
    "\u200d": _("zero width joiner"),
    "\u2060": _("word joiner"),
    "\ufeff": _("zero width no-break space"),
}
KINDS = {
    HiddenKind.CONTROL: _("control character"),
    HiddenKind.ZERO_WIDTH: _("zero width character"),
    HiddenKind.BIDI: _("change of text direction"),
    HiddenKind.TAG: _("tag character"),
    HiddenKind.VARIATION: _("variation selector"),
    HiddenKind.SOFT_HYPHEN: _("soft hyphen"),
    HiddenKind.FILLER: _("filler"),
    HiddenKind.LINE_BREAK: _("line separator"),
    HiddenKind.SURROGATE: _("half of a character"),
    HiddenKind.PRIVATE: _("private character"),
    HiddenKind.OTHER: _("hidden character"),
}


def hidden_name(hidden: HiddenChar) -> str:
    """Return what a hidden character is called."""
    return str(CHARS.get(hidden.char, KINDS[hidden.kind]))


def highlighted_html(segments: Iterable[tuple[str, bool]]) -> SafeString:
    """Return segments of (text, is a hit), the hits in `<mark>`."""
    shown = ((visible_html(text), hit) for text, hit in segments)
    return joined(format_html("<mark>{}</mark>", html) if hit else html for html, hit in shown)


DIFF_TAGS = {"insert": "ins", "delete": "del"}


def diff_html(segments: Iterable[tuple[str, str]]) -> SafeString:
    """Return segments of (equal, insert or delete; text) as a word diff."""
    return joined(changed_html(kind, visible_html(text)) for kind, text in segments)


def changed_html(kind: str, html: SafeString) -> SafeString:
    """Return one segment of a diff."""
    tag = DIFF_TAGS.get(kind)
    return format_html("<{tag}>{html}</{tag}>", tag=mark_safe(tag), html=html) if tag else html  # noqa: S308 - a fixed word


def joined(pieces: Iterable[SafeString]) -> SafeString:
    """Join pieces that are escaped already."""
    return mark_safe("".join(pieces))  # noqa: S308 - every piece is a SafeString


@lru_cache(maxsize=1024)
def language_of(text: str) -> str:
    """Return zh-Hans, ja or ko for text in that script, else an empty text: the page's language holds."""
    letters = len(LETTER.findall(text))
    if not letters:
        return ""
    if KANA.search(text):
        return "ja"
    if len(HANGUL.findall(text)) / letters >= HAN_SHARE:
        return "ko"
    return "zh-Hans" if len(HAN.findall(text)) / letters >= HAN_SHARE else ""
