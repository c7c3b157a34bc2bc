"""The move: check, copy, compare, and only then let the target be used."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from minara_site.console.moving.source import Source, open_source
from minara_site.console.moving.tables import Table, list_tables
from minara_site.console.moving.target import SOURCE, TABLES, Content, Target, open_target
from minara_site.kernel.errors import Conflict

Report = Callable[[str, int, int], None]
"""Takes what is worked on, how many rows are done, and of how many."""


def move_instance(files: dict[str, Path], url: str, *, report: Report) -> dict[str, Content]:
    """Copy the tables of the files, by alias, to the database at `url`; return what each holds.

    After a kill it continues with the table that was not finished. Raises MinaraError for what is in the way.
    """
    tables = list_tables()
    with open_source(files) as source, open_target(url) as target:
        mark = target.read_mark()
        if not mark:
            report(_("checking the files"), 0, 0)
            source.check()
            source.refuse_unstorable(tables)
            target.begin(source.fingerprint)
        elif mark[SOURCE][1] != source.fingerprint:
            raise Conflict(_("The database has a part of other or older SQLite files. Name an empty one."))
        if TABLES not in mark:
            report(_("making the tables"), 0, 0)
            target.make_tables(tables)
        moved = copy_tables(tables, source, target, mark, report)
        for table in tables:
            report(_("comparing"), 0, 0)
            if target.read_back(table) != moved[table.name]:
                raise Conflict(_("Table %(table)s differs. Move to an empty database.") % {"table": table.name})
        source.refuse_changed()
        target.finish(tables, source.last_ids())
    return moved


def copy_tables(
    tables: list[Table], source: Source, target: Target, mark: dict[str, Content], report: Report
) -> dict[str, Content]:
    """Copy the tables that are not finished; return what each holds."""
    total = sum(source.read(table, "count(*)").fetchone()[0] for table in tables)
    done = sum(mark[table.name][0] for table in tables if table.name in mark)
    if mark:
        report(_("continuing"), done, total)

    def reported(table: Table) -> Iterator[list[Any]]:
        nonlocal done
        for rows in source.batches(table):
            report(table.name, done, total)
            yield rows
            done += len(rows)

    return {table.name: mark.get(table.name) or target.copy(table, reported(table)) for table in tables}
