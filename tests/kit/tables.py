"""Tables of inputs: one test for all rows, each in a savepoint of its own, with every row that failed at the end."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from itertools import count
from typing import Any

import pytest
from _pytest._io.saferepr import saferepr
from _pytest.mark.structures import ParameterSet
from django.core.cache import cache
from django.db import connections, transaction

Test = Callable[..., None]
LONGEST_NAME = 120
FAULTS = (Exception, pytest.fail.Exception)


def table(names: str | Sequence[str], rows: Iterable[Any], *, ids: Any = None) -> Callable[[Test], Test]:
    """Run a test once for each row; `names`, `rows` and `ids` are those of `pytest.mark.parametrize`.

    What a row writes is rolled back, what it patches is put back, and its `tmp_path` is its own. Other fixtures are
    made once for all rows.
    """
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table_rows = [values_of(row, single=len(fields) == 1) for row in rows]
    assert table_rows, "a table without rows tests nothing"
    given = ids if ids is None or callable(ids) else list(ids)

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        assert signature.parameters.keys() >= set(fields), f"{test.__name__} does not take {fields}"

        @wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            collected = Faults()
            for number, values in enumerate(table_rows):
                with collected.row(partial(label_of, values, given, number)), own_row(fixtures) as own:
                    test(*args, **{**fixtures, **own}, **dict(zip(fields, values, strict=True)))
            collected.show()

        kept = [each for name, each in signature.parameters.items() if name not in fields]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate


def values_of(row: Any, *, single: bool) -> tuple[Any, ...]:
    """Return the values of a row of a table."""
    if isinstance(row, ParameterSet):
        assert not row.marks, "a row with a mark is a test of its own: use pytest.mark.parametrize"
        return tuple(row.values)
    return (row,) if single else tuple(row)


def label_of(values: tuple[Any, ...], ids: Any, number: int) -> str:
    """Return the name of a row in the list of faults."""
    if ids is None:
        return saferepr(values, maxsize=LONGEST_NAME)
    return ", ".join(str(ids(value)) for value in values) if callable(ids) else str(ids[number])


class Faults:
    """Collects what failed, so that one test says everything that is wrong; a row that was skipped is no fault."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.first: BaseException | None = None
        self.skipped: BaseException | None = None

    @contextmanager
    def row(self, label: str | Callable[[], str]) -> Any:
        """Keep what fails inside under this name."""
        try:
            yield
        except pytest.skip.Exception as error:
            self.skipped = error
        except FAULTS as error:
            self.first = self.first or error
            name = label() if callable(label) else label
            self.found.append(f"{name}: {type(error).__name__}: {str(error)[:1000]}")

    def show(self) -> None:
        """Fail with everything that was collected."""
        if self.found:
            raise AssertionError(f"{len(self.found)} failed:\n" + "\n".join(self.found)) from self.first
        if self.skipped:
            raise self.skipped


ROW_FOLDERS = count()


@contextmanager
def own_row(fixtures: dict[str, Any]) -> Any:
    """Give one row savepoints, an empty cache, and its own of the fixtures that keep state."""
    own: dict[str, Any] = {}
    with ExitStack() as stack:
        for alias in connections:
            if connections[alias].connection is not None and connections[alias].in_atomic_block:
                stack.enter_context(taken_back(alias))
                cache.clear()
        if "monkeypatch" in fixtures:
            own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
        if "tmp_path" in fixtures:
            own["tmp_path"] = fixtures["tmp_path"] / f"row{next(ROW_FOLDERS)}"
            own["tmp_path"].mkdir()
        if "caplog" in fixtures:
            fixtures["caplog"].clear()
        yield own


@contextmanager
def taken_back(alias: str) -> Any:
    """Open a savepoint, or a transaction, that leaves nothing behind; like a test's own it is no transaction of the product's."""
    block = transaction.atomic(using=alias)
    block._from_testcase = True
    with block:
        try:
            yield
        finally:
            transaction.set_rollback(True, using=alias)
