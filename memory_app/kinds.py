"""The app's kinds of stored text."""

from memory_app.facts.services import retire_corrected_facts, unretire_corrected_facts
from memory_app.memories.kinds import MemoryKind
from memory_app.roles.kinds import DecisionKind, LessonKind
from memory_app.search.log import delete_hits
from memory_app.snapshot.services import delete_carried
from memory_app.user_profile.kinds import ProfileKind

KINDS = (
    MemoryKind(
        on_accepted=[retire_corrected_facts],
        on_held_again=[unretire_corrected_facts],
        on_deleted=[delete_hits, delete_carried],
    ),
    ProfileKind(),
    DecisionKind(),
    LessonKind(),
)
