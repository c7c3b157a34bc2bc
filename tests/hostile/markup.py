"""A page as a hostile reader sees it: its elements, its forms, the names it reads from the URL."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

SHOWN_BY_TEXT = {"mark", "ins", "del", "wbr"}  # what text itself may add: hits, changes
BY_CONTENT = {"lang"}  # an attribute that follows from the language of a text
URLS = {
    "href",
    "src",
    "action",
    "formaction",
    "xlink:href",
    "hx-get",
    "hx-post",
    "hx-delete",
    "data",
    "poster",
    "srcset",
}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Form:
    """A form and what a browser would send with it untouched."""

    action: str
    method: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class Markup(HTMLParser):
    """Reads a page. `shape` holds each element as its tag and attribute names, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[tuple[str, tuple[str, ...]]] = []
        self.forms: list[Form] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.text = ""
        self.urls: list[str] = []
        self._form: Form | None = None
        self._area: str | None = None
        self._select: str | None = None
        self._skip = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        got = {name: value or "" for name, value in attrs}
        self.urls += [value for name, value in got.items() if name in URLS]
        if tag == "span" and got.get("class") == "hid":
            self.text += f"<{got['data-hid']}>"
            self._skip += 1
        elif tag not in SHOWN_BY_TEXT:
            self.shape.append((tag, tuple(name for name, _ in attrs if name not in BY_CONTENT)))
        if tag == "form":
            self._form = Form(got.get("action", ""), got.get("method", "get"))
            self.forms.append(self._form)
        for link in (got.get("href"), got.get("hx-get")):
            if link:
                self.links.append(link)
                self.names |= {name for name, _ in parse_qsl(urlsplit(link).query, keep_blank_values=True)}
        if tag in {"input", "textarea", "select", "button"} and got.get("name"):
            self._control(tag, got)
        if tag == "option" and self._select and self._form and "selected" in got:
            self._form.fields[self._select] = [got.get("value", "")]

    def _control(self, tag: str, got: dict[str, str]) -> None:
        name, form = got["name"], self._form
        if form is None:
            return
        if form.method.lower() == "get":
            self.names.add(name)
        kind = got.get("type", "text" if tag == "input" else tag)
        if kind in {"checkbox", "radio"} and "checked" not in got:
            form.fields.setdefault(name, [])
            return
        form.fields.setdefault(name, []).append(got.get("value", ""))
        if kind in {"text", "search", "password", "textarea"}:
            form.texts.append(name)
        if tag == "textarea":
            self._area = name
            form.fields[name] = [""]
        if tag == "select":
            self._select = name

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        if tag == "textarea":
            self._area = None
        if tag == "select":
            self._select = None
        if tag == "span" and self._skip:
            self._skip -= 1
        elif tag not in SHOWN_BY_TEXT | VOID:
            self.shape.append(("/" + tag, ()))

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._area and self._form:
            self._form.fields[self._area][0] += data

    def handle_decl(self, decl: str) -> None:
        self.shape.append(("!" + decl.split(maxsplit=1)[0].lower(), ()))

    def unknown_decl(self, data: str) -> None:
        self.shape.append(("!unknown", ()))

    def handle_pi(self, data: str) -> None:
        self.shape.append(("?pi", ()))

    def handle_comment(self, data: str) -> None:
        self.shape.append(("!--", ()))
