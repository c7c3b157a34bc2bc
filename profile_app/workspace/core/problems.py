"""What can be wrong with a folder or a file in it. Pure."""

from enum import StrEnum


class ProblemCode(StrEnum):
    """Why a file was not read or written; its words are the pages'."""

    UNREADABLE_FOLDER = "unreadable_folder"
    BUSY = "busy"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NOT_TEXT = "not_text"  # it has a NUL
    SYMLINK = "symlink"
    NOT_A_FILE = "not_a_file"
    UNREADABLE = "unreadable"
    NOT_WRITTEN = "not_written"
    FUTURE_NOTE = "future_note"
    IMPOSSIBLE_DATE = "impossible_date"
    BOTH_CHANGED = "both_changed"


class FileProblem(Exception):
    """A file or folder that cannot be used as it is."""

    def __init__(self, code: ProblemCode) -> None:
        super().__init__(code)
        self.code = code


def decode_text(data: bytes, *, max_chars: int) -> str:
    """Return the text of a file, byte for byte. Raises FileProblem."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise FileProblem(ProblemCode.NOT_UTF8) from error
    if "\0" in text:
        raise FileProblem(ProblemCode.NOT_TEXT)
    if len(text) > max_chars:
        raise FileProblem(ProblemCode.TOO_LARGE)
    return text
