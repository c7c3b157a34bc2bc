"""What a reader of an export opens first: the table of contents, and the banner that says what was left out."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from django.utils.translation import gettext as _, ngettext

from memory_app.bundle.serialisers.base import ExportScope, LeftOut


def render_index(paths: Mapping[str, Sequence[str]], *, now: datetime) -> str:
    """Return links to every file, by folder."""
    folders: dict[str, list[str]] = {}
    for path in (path for group in paths.values() for path in group):
        folder, _slash, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return "\n".join(index_lines(folders, now=now))


def index_lines(folders: Mapping[str, Sequence[str]], *, now: datetime) -> Iterator[str]:
    """Yield the lines of the index."""
    yield "# " + _("What Minara remembers")
    yield ""
    yield _("Exported at %(at)s.") % {"at": now.strftime("%Y-%m-%d %H:%M:%S UTC")}
    for folder in sorted(folders):
        prefix = f"{folder}/" if folder else ""
        yield ""
        yield f"## {folder or '.'} ({len(folders[folder])})"
        yield ""
        yield from (f"- [{name}]({prefix}{name})" for name in folders[folder])


def render_banner(wanted: ExportScope) -> str:
    """Return what this tree holds and what it does not."""
    lines = [line for reason in LeftOut for line in left_out_lines(reason, wanted.left_out[reason])]
    methods = _("What lies in methodologies belongs to the instance: only an operator imports it.")
    masked = _("A person other than the owner asked for it: secrets are masked, and nothing is signed.")
    return "\n".join(
        [
            "# " + _("An export of Minara"),
            "",
            _("Each file is one memory; `minara memory import` reads the tree back."),
            _("What lies in trade-cases and assets is for reading: an import leaves it alone."),
            _("A file that is changed counts as typed by whoever imports it, also when the export is signed."),
            *([methods] if wanted.by_operator else []),
            *([masked] if wanted.is_masked else []),
            "",
            "## " + _("Left out"),
            "",
            *(lines or [_("Nothing.")]),
        ]
    )


def render_preferences_banner(wanted: ExportScope) -> str:
    """Return what lies beside the preferences: whether hard constraints are among them, and what an import does."""
    left_out = _("Hard constraints are left out: limits of this user alone. `--include-constraints` takes them along.")
    included = _("Hard constraints are among them: limits of this user alone. Keep this folder to yourself.")
    lines = (
        "# " + _("Preferences"),
        _("Each file is one active preference."),
        included if wanted.include_constraints else left_out,
        _("An import never activates a hard constraint: it becomes a proposal, and its owner decides."),
    )
    return "\n\n".join(lines)


def left_out_lines(reason: LeftOut, count: int) -> list[str]:
    """Return the line of the banner about one reason, none when nothing was left out for it."""
    if not count:
        return []
    match reason:
        case LeftOut.CONSTRAINTS:
            words = ngettext(
                "%(count)d hard constraint: a limit of this user alone. `--include-constraints` takes it along.",
                "%(count)d hard constraints: limits of this user alone. `--include-constraints` takes them along.",
                count,
            )
        case LeftOut.HELD:
            words = ngettext("%(count)d text that the guard holds.", "%(count)d texts that the guard holds.", count)
        case LeftOut.IN_TRASH:
            words = ngettext("%(count)d memory in the trash.", "%(count)d memories in the trash.", count)
        case LeftOut.RETIRED:
            words = ngettext("%(count)d retired fact.", "%(count)d retired facts.", count)
        case LeftOut.METHODOLOGIES:
            words = ngettext(
                "%(count)d methodology: it belongs to the instance, and only an operator exports it.",
                "%(count)d methodologies: they belong to the instance, and only an operator exports them.",
                count,
            )
    return [f"- {words % {'count': count}}"]
