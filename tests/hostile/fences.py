"""How a careless reader reads a block of the prompt, and the texts that try to leave it (trust R-28)."""

import re
import unicodedata

from tests.kit.shared import corpus

INVISIBLE = {"Cf", "Cc", "Cs", "Mn", "Me"}
LETTERS = str.maketrans("аеорсухіѕјһмтκοενρ‐‑‒–—―−", "aeopcyxisjhmtkoevp-------")


def as_read(text: str) -> str:
    """Return what a careless reader makes of a text: folded, unescaped, without what cannot be seen."""
    text = re.sub(r"&(lt|#0*60|#x0*3c);?", "<", text, flags=re.IGNORECASE)
    text = re.sub(r"&(gt|#0*62|#x0*3e);?", ">", text, flags=re.IGNORECASE)
    text = unicodedata.normalize("NFKC", text).casefold().translate(LETTERS)
    kept = "".join(char for char in text if char in "\n\r" or unicodedata.category(char) not in INVISIBLE)
    return re.sub(r"[ \t]+", " ", kept)


def lines_of(block: str) -> list[str]:
    """Return the lines as any reader may break them."""
    return re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", block)


def tags(block: str, name: str) -> tuple[int, int]:
    """Return how often a tag opens and closes in a block, as a careless reader sees it."""
    spelled = re.sub("[-_]", "[-_ ]?", name)
    read = as_read(block)
    return len(re.findall(rf"<\s*{spelled}", read)), len(re.findall(rf"<\s*[/∕⁄]\s*{spelled}", read))


def texts() -> list[str]:
    """Return what tries to close a fence, to look like one of our lines, or to give orders."""
    injections = [row["text"] for row in corpus("prompt_injection") if row["tier"] in {"S", "A"}]
    return [row["text"] for row in corpus("fence_escapes")] + injections


def groups(rows: list[str], size: int) -> list[list[str]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
