"""The app's HTTP routers, room by room."""

from memory_app.entities.api import router as edges
from memory_app.facts.api import router as facts
from memory_app.memories.api import router as memories
from memory_app.pages.api import router as pages
from memory_app.roles.api import router as roles
from memory_app.roles.reflect_api import router as reflect
from memory_app.search.api import router as search
from memory_app.user_profile.api import router as user_profile
from memory_app.why.api import router as why

routers = (memories, why, facts, search, user_profile, pages, edges, roles, reflect)
