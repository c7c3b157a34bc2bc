"""Message catalogues and the messages that the sources use, read without GNU gettext."""

import ast
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.utils.translation.template import templatize

from tests.kit.site import APPS

FOLDER = settings.BASE_DIR / "minara_site/locale/zh_Hans/LC_MESSAGES"
LITERAL = re.compile(r'(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[0\])? )?(".*")')
CALL = re.compile(r"\b(?:[np]?gettext|_)\(")
CALLED = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext", "pgettext_lazy"}
CONTEXT_ENDS = "\x04"


@dataclass
class Entry:
    """One message of a .po file: its comments, and its texts by keyword."""

    comments: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return what a compiled catalogue finds it by: a context before EOT, the singular, the plural after a NUL."""
        context, plural = self.texts.get("msgctxt"), self.texts.get("msgid_plural")
        texts = self.texts["msgid"] if plural is None else f"{self.texts['msgid']}\0{plural}"
        return texts if context is None else f"{context}{CONTEXT_ENDS}{texts}"

    @property
    def text(self) -> str:
        """Return the translation."""
        return self.texts["msgstr"]


def read_po(path: Path) -> list[Entry]:
    """Return the entries of a .po file of a language with one plural form, its header first."""
    return [read_entry(block) for block in path.read_text("utf-8").strip().split("\n\n")]


def read_entry(block: str) -> Entry:
    """Return the entry of a block of lines; a line that is none of the format's fails."""
    entry, keyword = Entry(), ""
    for line in block.splitlines():
        if line.startswith("#"):
            entry.comments.append(line)
            continue
        literal = LITERAL.fullmatch(line)
        assert literal, f"unexpected line: {line}"
        keyword = literal[1] or keyword
        entry.texts[keyword] = entry.texts.get(keyword, "") + ast.literal_eval(literal[2])
    return entry


def read_mo(path: Path) -> dict[str, str]:
    """Return the messages of a compiled catalogue (GNU gettext manual, The Format of GNU MO Files)."""
    data = path.read_bytes()
    magic, _revision, count, sources, translations = struct.unpack_from("<5I", data)
    assert magic == 0x950412DE

    def text(table: int, place: int) -> str:
        length, offset = struct.unpack_from("<2I", data, table + 8 * place)
        return data[offset : offset + length].decode()

    return {text(sources, place): text(translations, place) for place in range(count)}


def used_messages() -> dict[str, str]:
    """Return every message of templates and modules by the key of a catalogue, with the file that uses it."""
    root: Path = settings.BASE_DIR
    templates, modules = (
        (root / "templates").rglob("*.html"),
        (p for name in APPS for p in (root / name).rglob("*.py")),
    )
    found = {key: path for path in templates for key in in_template(path)}
    found |= {key: path for path in modules for key in in_module(path)}
    return {key: str(path.relative_to(root)) for key, path in found.items()}


def in_template(path: Path) -> Iterator[str]:
    """Yield the messages of a template, in the calls that `makemessages` sees."""
    source = templatize(path.read_text("utf-8"))
    for start in (match.start() for match in CALL.finditer(source)):
        yield key_of(first_call(source[start:]))


def first_call(source: str) -> ast.Call:
    """Return the call that a text begins with: up to the first bracket that closes it."""
    for bracket in re.finditer(r"\)", source):
        try:
            call = ast.parse(source[: bracket.end()], mode="eval").body
        except SyntaxError:
            continue
        assert isinstance(call, ast.Call)
        return call
    raise AssertionError(source[:80])


def in_module(path: Path) -> Iterator[str]:
    """Yield the messages of a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLED:
            yield key_of(node)


def key_of(call: ast.Call) -> str:
    """Return the key of a call; a message that is no literal cannot be translated and fails."""
    assert isinstance(call.func, ast.Name)
    has_context = call.func.id.startswith("p")
    texts = call.args[: 2 if call.func.id.startswith("n") or has_context else 1]
    assert all(isinstance(text, ast.Constant) for text in texts), ast.unparse(call)
    return (CONTEXT_ENDS if has_context else "\0").join(text.value for text in texts if isinstance(text, ast.Constant))
