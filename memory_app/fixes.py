"""The app's fixes, in the order in which they are done: a provider that is down keeps nothing from being repaired."""

from memory_app.doctor.fixes.edges import EDGES
from memory_app.doctor.fixes.embeddings import EMBEDDINGS
from memory_app.doctor.fixes.methodology_demotion import METHODOLOGY_DEMOTION
from memory_app.doctor.fixes.reflect_pending import REFLECT_PENDING
from memory_app.doctor.fixes.search_index import SEARCH_INDEX

FIXES = (EDGES, SEARCH_INDEX, METHODOLOGY_DEMOTION, EMBEDDINGS, REFLECT_PENDING)
