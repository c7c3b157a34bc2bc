"""What is wrong with a folder, in words. Sources: issue 20 (bad input), screens U-xx (errors say what to do)."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _, gettext_lazy

from profile_app.documents.core import MAX_CHARS, WORKSPACE_FILE
from profile_app.workspace.core.problems import ProblemCode

DETAILS = {
    ProblemCode.UNREADABLE_FOLDER: gettext_lazy(
        "The folder cannot be read. Check that it is a folder, and who may open it. What is stored here is used."
    ),
    ProblemCode.BUSY: gettext_lazy("Another process works in the folder. It is read again within a minute."),
    ProblemCode.TOO_LARGE: gettext_lazy("Shorten the file to %(max)d characters. The version stored here is used."),
    ProblemCode.NOT_UTF8: gettext_lazy("Save the file as UTF-8. The version stored here is used."),
    ProblemCode.NOT_TEXT: gettext_lazy("Remove the NUL character from the file. The version stored here is used."),
    ProblemCode.SYMLINK: gettext_lazy("Put the file itself in the place of the link. Links are not followed."),
    ProblemCode.NOT_A_FILE: gettext_lazy("Put a plain file in its place."),
    ProblemCode.UNREADABLE: gettext_lazy("It cannot be read. Check who may read it."),
    ProblemCode.NOT_WRITTEN: gettext_lazy(
        "It cannot be written to the folder. Check who may write there, and the space on the disk. It is tried again."
    ),
    ProblemCode.FUTURE_NOTE: gettext_lazy("The day of this note is not here yet. Rename the file."),
    ProblemCode.IMPOSSIBLE_DATE: gettext_lazy("There is no such day. Rename the file."),
    ProblemCode.BOTH_CHANGED: gettext_lazy(
        "It was changed in the folder and here. The folder's text is used; the other is among the versions."
    ),
}


def described(problems: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return stored problems in the language of who asks: `{name, code, detail}`; unknown codes are left out."""
    known = [(each["name"], ProblemCode(each["code"])) for each in problems if each["code"] in list(ProblemCode)]
    return [
        {
            "name": name,
            "code": str(code),
            "detail": detail_of(code),
        }
        for name, code in known
    ]


def detail_of(code: ProblemCode) -> str:
    """Return what is wrong and what to do."""
    return str(DETAILS[code]) % {"max": MAX_CHARS[WORKSPACE_FILE]}


def unknown_name_label() -> str:
    """Return which files there are."""
    return _(
        "There is no such file. Files are SOUL.md, AGENTS.md, USER.md, MEMORY.md, IDENTITY.md, TOOLS.md, BOOTSTRAP.md, "
        "HEARTBEAT.md and memory/YYYY-MM-DD.md."
    )
