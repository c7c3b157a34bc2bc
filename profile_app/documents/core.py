"""What kinds of documents there are, and the rules of their texts. Sources: S3, decisions (trusted input). Pure."""

from enum import StrEnum

WORKSPACE_FILE, CUSTOM_PROMPT, PROFILE_SUMMARY = "workspace_file", "custom_prompt", "profile_summary"
"""The names of the stored kinds: holds keep them."""
MAX_CHARS = {WORKSPACE_FILE: 32_000, CUSTOM_PROMPT: 4_000, PROFILE_SUMMARY: 4_000}


class DocumentKind(StrEnum):
    """What a document is."""

    WORKSPACE_FILE = WORKSPACE_FILE
    CUSTOM_PROMPT = CUSTOM_PROMPT
    PROFILE_SUMMARY = PROFILE_SUMMARY


class Origin(StrEnum):
    """Through what a version came in."""

    PAGE = "page"
    KEY = "key"
    FOLDER = "folder"
    SETUP = "setup"
    COMMAND = "command"
    REVERT = "revert"
    PROPOSAL = "proposal"
    SERVICE = "service"


def kept_newlines(text: str, before: str) -> str:
    """Return a text that a browser sent, which ends lines with CRLF, with the line ends that the stored one has.

    The stored one itself where they differ in nothing else, also one of mixed line ends.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if plain == before.replace("\r\n", "\n").replace("\r", "\n"):
        return before
    return plain.replace("\n", "\r\n") if "\r\n" in before else plain
