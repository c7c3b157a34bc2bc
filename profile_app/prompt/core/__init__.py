"""The prompt as one text: its blocks in order, and the sections that pages and counts read it by.

The three blocks are given to agents one by one; pages, download and hash use them joined. Sources: S3 (placement).
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from memory_app.snapshot.core import Block, SectionName

BLOCK_SEPARATOR = "\n\n"


class BlockName(StrEnum):
    """The blocks of a prompt, in their order."""

    PREFIX = "prefix"
    PERSONALIZATION = "personalization"
    MEMORY_CONTEXT = "memory_context"


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """A section without its text: what stays of it when the text is wiped."""

    block: BlockName
    name: SectionName
    chars: int
    rows: int
    tokens: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: three blocks, of which the first two may be empty, and the record of their sections."""

    prefix: str
    personalization: str
    memory_context: str
    sections: tuple[SectionRecord, ...]
    memory_ids: tuple[int, ...] = ()
    lesson_ids: tuple[int, ...] = ()

    @property
    def has_bootstrap(self) -> bool:
        """Whether it carries what only the first session reads."""
        return any(section.name is SectionName.BOOTSTRAP for section in self.sections)

    @property
    def text(self) -> str:
        """The whole prompt as one text."""
        blocks = (self.prefix, self.personalization, self.memory_context)
        return BLOCK_SEPARATOR.join(block for block in blocks if block)

    @property
    def tokens(self) -> int:
        """What it costs, estimated: the sum of its sections."""
        return sum(section.tokens for section in self.sections)

    @property
    def dropped(self) -> int:
        """How many hidden characters of what is stored were left out."""
        return sum(section.dropped for section in self.sections)

    @property
    def size_bytes(self) -> int:
        """Its length in UTF-8."""
        return len(self.text.encode())

    @property
    def sha256(self) -> str:
        """The hash of its bytes, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def assemble_prompt(
    *,
    prefix: Block | None,
    personalization: Block | None,
    memory: Block,
) -> Prompt:
    """Join the blocks; the first two say nothing where there is nothing to say."""
    blocks = [
        (BlockName.PREFIX, prefix),
        (BlockName.PERSONALIZATION, personalization),
        (BlockName.MEMORY_CONTEXT, memory),
    ]
    return Prompt(
        prefix=prefix.text if prefix else "",
        personalization=personalization.text if personalization else "",
        memory_context=memory.text,
        sections=tuple(
            SectionRecord(
                name,
                each.name,
                len(each.text),
                each.rows,
                each.tokens,
                each.dropped,
            )
            for name, block in blocks
            for each in (block.sections if block else ())
        ),
        memory_ids=tuple(memory_id for _, block in blocks if block for memory_id in block.memory_ids),
        lesson_ids=memory.lesson_ids,
    )


def section_texts(prompt: Prompt) -> Iterator[tuple[SectionRecord, str]]:
    """Yield each section with its text; the texts joined are the whole prompt."""
    text, end = prompt.text, 0
    for record, following in zip(
        prompt.sections,
        [*prompt.sections[1:], None],
        strict=True,
    ):
        start, end = end, end + record.chars
        if following is not None and following.block is not record.block:
            end += len(BLOCK_SEPARATOR)
        yield record, text[start:end]
