"""What the doctor can repair, one module a fix. Source: S1 (doctor --fix), trust R-20 and R-21.

Every fix is idempotent and only ever adds or marks: it deletes no row, activates nothing, and changes no text. None
calls a language model but `reflect_pending`, which runs only when it is named. A vector is a memory's derived value: it
gives way to that of the text that stands now.
"""

from memory_app.doctor.fixes.contract import Fix, FixName, Foreseen, Journal
from memory_app.doctor.fixes.edges import EDGES
from memory_app.doctor.fixes.embeddings import EMBEDDINGS
from memory_app.doctor.fixes.reflect_pending import REFLECT_PENDING
from memory_app.doctor.fixes.search_index import SEARCH_INDEX

FIXES: dict[FixName, Fix] = {fix.name: fix for fix in (EDGES, SEARCH_INDEX, EMBEDDINGS, REFLECT_PENDING)}
"""In the order in which they are done: a provider that is down keeps nothing from being repaired here."""
LATER = frozenset({"methodology_demotion"})
"""Fixes of S1 whose tables this version does not have."""

__all__ = ["FIXES", "LATER", "Fix", "FixName", "Foreseen", "Journal"]
