"""The directions between rooms hold without exception: none in the contracts, none inside a function."""

import ast
import tomllib

from tests.kit.site import APPS, ROOT

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def test_no_contract_of_imports_has_an_exception() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    assert contracts
    assert [contract["name"] for contract in contracts if "ignore_imports" in contract] == []


def test_no_import_of_the_product_is_inside_a_function() -> None:
    found = []
    for path in sorted(path for app in APPS for path in (ROOT / app).rglob("*.py")):
        functions = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, FUNCTION)]
        for node in {inner for function in functions for inner in ast.walk(function)}:
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""] if not node.level else [APPS[0]]
            if {module.split(".")[0] for module in modules} & {*APPS}:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
