"""The app's kinds of stored text."""

from functools import partial

from memory_app.facts.changes import ConflictChanges, MemoryChanges
from memory_app.facts.services import compare_written, replace_corrected, restore_corrected
from memory_app.memories.kinds import MemoryKind
from memory_app.memories.proposals import MemoryProposed
from memory_app.roles.kinds import DecisionKind, LessonKind
from memory_app.search.log import delete_hits
from memory_app.snapshot.services import delete_carried
from memory_app.user_profile.kinds import ProfileKind
from minara_site.kernel.proposals.services import delete_proposals
from minara_site.kernel.registry import Kind

KINDS = (
    Kind(
        MemoryKind.name,
        (
            MemoryKind(
                on_accepted=[replace_corrected],
                on_held_again=[restore_corrected],
                on_stated=[compare_written],
                on_deleted=[delete_hits, delete_carried, partial(delete_proposals, MemoryKind.name)],
            ),
            MemoryChanges(),
            MemoryProposed(),
        ),
    ),
    Kind(ConflictChanges.name, (ConflictChanges(),)),
    ProfileKind(),
    DecisionKind(),
    LessonKind(),
)
