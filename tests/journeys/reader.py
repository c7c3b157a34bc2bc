"""Somebody at a browser without JavaScript: opens pages, follows links, fills in forms and presses buttons."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

from django.test import Client


@dataclass
class Button:
    """A button with the words that it says."""

    words: str
    name: str
    value: str


@dataclass
class Form:
    """A form as it would be sent: its fields and its buttons."""

    action: str
    method: str
    name: str = ""
    fields: dict[str, list[str]] = field(default_factory=dict)
    buttons: list[Button] = field(default_factory=list)


class PageParser(HTMLParser):
    """Reads words, links and forms of a page; a field may name its form by id."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: dict[str, str] = {}
        self.forms: list[Form] = []
        self.boxes: list[tuple[str, str, str]] = []
        self.form: Form | None = None
        self.link: list[str] | None = None
        self.button: Button | None = None
        self.textarea: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "form":
                self.form = Form(given.get("action", ""), given.get("method", "get"), given.get("id", ""))
                self.forms.append(self.form)
            case "input":
                self.keep_input(given, is_checked="checked" in given)
            case "textarea":
                self.textarea = given["name"]
                self.form.fields[self.textarea] = [""]
            case "button":
                self.button = Button("", given.get("name", ""), given.get("value", ""))
            case "a":
                self.link = [given.get("href", ""), ""]

    def keep_input(self, given: dict[str, str], *, is_checked: bool) -> None:
        kind, name = given.get("type", "text"), given.get("name", "")
        if kind in {"checkbox", "radio"} and not is_checked:
            self.boxes.append(
                (
                    given.get("form", self.form.name if self.form else ""),
                    name,
                    given.get("value", "on"),
                )
            )
        elif self.form is not None and name:
            self.form.fields.setdefault(name, []).append(given.get("value", ""))

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "form":
                self.form = None
            case "textarea":
                self.textarea = None
            case "button" if self.button and self.form:
                self.button.words = self.button.words.strip()
                self.form.buttons.append(self.button)
                self.button = None
            case "a" if self.link:
                self.links.setdefault(self.link[1].strip(), self.link[0])
                self.link = None

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.textarea and self.form:
            self.form.fields[self.textarea][0] += data.removeprefix("\n") if data.startswith("\n") else data
        if self.button:
            self.button.words += data
        if self.link:
            self.link[1] += data


class Reader:
    """A person at the console."""

    def __init__(self, user: Any = None) -> None:
        self.client = Client(enforce_csrf_checks=True)
        if user is not None:
            self.client.force_login(user)
        self.path, self.status, self.page = "/", 0, PageParser()

    @property
    def text(self) -> str:
        """What the page says, with one space between words."""
        return " ".join(" ".join(self.page.words).split())

    def open(self, path: str) -> "Reader":
        """Go to an address."""
        return self.take(self.client.get(urljoin(self.path, path), follow=True))

    def follow(self, words: str) -> "Reader":
        """Follow the first link that holds these words."""
        return self.open(next(url for said, url in self.page.links.items() if words in said))

    def press(self, words: str, *, check: tuple[str, ...] = (), **typed: str) -> "Reader":
        """Fill in the form of the first button that says this, and press it; `check` are the values of boxes to check."""
        form, button = next(
            (form, button) for form in self.page.forms for button in form.buttons if button.words.startswith(words)
        )
        fields: dict[str, Any] = {**form.fields, **typed}
        for owner, name, value in self.page.boxes:
            if owner == form.name and value in check:
                fields.setdefault(name, [])
                fields[name] = [*fields[name], value]
        if button.name:
            fields[button.name] = button.value
        send = self.client.post if form.method == "post" else self.client.get
        return self.take(send(urljoin(self.path, form.action), fields, follow=True))

    def take(self, response: Any) -> "Reader":
        """Look at what came."""
        self.path = response.request["PATH_INFO"]
        query = response.request.get("QUERY_STRING")
        if query:
            self.path += f"?{query}"
        self.status = response.status_code
        self.page = PageParser()
        self.page.feed(response.content.decode())
        return self
