"""One word for one thing: no name and no text of a screen uses a word that section 6 of the glossary forbids."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from minara_site.config import Config
from tests.kit.shared import shared_path
from tests.kit.site import APPS, ROOT
from tests.web.catalogue import in_module, in_template

ROW = re.compile(r"^([^|\n]+) \| ([a-z, ]+) \| ([^|\n]+)$", re.MULTILINE)
TAG = re.compile(r"\{#.*?#\}|\{% comment.*?endcomment %\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>", re.DOTALL)
BETWEEN = re.compile(r"_+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=[0-9])|(?<=[0-9])(?=[a-zA-Z])")
EXEMPT = {"NewestRows": "the word that the glossary gives instead"}  # so is what a library's interface demands


def forbidden() -> list[tuple[str, set[str], str]]:
    """Return each word, the kinds of names that must not have it, and what to say instead."""
    section = shared_path("spec/glossary.md").read_text("utf-8").split("\n## 6.")[1]
    return [(word, {*re.split(", ?", kinds)}, instead) for word, kinds, instead in ROW.findall(section)]


def modules() -> Iterator[tuple[str, Path]]:
    """Yield the dotted name and the file of every module of the product; migrations keep their names."""
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py")):
        if "migrations" not in path.parts:
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def names(scope: str, parent: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield kind and full name of every class, function and constant below a node."""
    for node in ast.iter_child_nodes(parent):
        inside = scope
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{scope}.{node.name}"
            yield "class" if isinstance(node, ast.ClassDef) else "function", inside
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = [each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            constants = [each.id for each in bound if each.id.isupper() and isinstance(each.ctx, ast.Store)]
            yield from (("constant", f"{scope}.{name}") for name in constants)
        yield from names(inside, node)


def product_names() -> Iterator[tuple[str, str]]:
    """Yield kind and full name of everything that the product names."""
    for module, path in modules():
        yield "module", module
        yield from names(module, ast.parse(path.read_text("utf-8")))


def screen_texts() -> Iterator[tuple[str, str]]:
    """Yield every English text that a page may show, with its file: messages, what templates say without one, settings."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        texts = [*in_template(path), TAG.sub(" ", path.read_text("utf-8"))]
        yield from ((text, str(path.relative_to(ROOT))) for text in texts)
    yield from ((field.description or "", "minara_site/config.py") for field in Config.model_fields.values())
    for _module, path in modules():
        yield from ((text, str(path.relative_to(ROOT))) for text in in_module(path))


def offenders() -> dict[str, str]:
    """Return what breaks the glossary, a name or a text of a file, with what to say instead."""
    found = {}
    words = forbidden()
    for kind, name in product_names():
        own = name.rpartition(".")[2]
        in_order = f" {' '.join(BETWEEN.split(own)).lower()} "
        for word, kinds, instead in words:
            if kind in kinds and own not in EXEMPT and f" {word} " in in_order:
                found[f"{kind} {name}"] = instead
    phrases = {
        word: (re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE), instead)
        for word, kinds, instead in words
        if "screen" in kinds
    }
    for text, place in screen_texts():
        flat = " ".join(text.split())
        found |= {f"screen {word} | {place}": say for word, (rule, say) in phrases.items() if rule.search(flat)}
    return found


def test_no_name_or_screen_has_a_forbidden_word() -> None:
    assert len(forbidden()) > 80
    faults = [f"{line}: say {instead}" for line, instead in sorted(offenders().items())]
    assert not faults, "\n".join(faults)
