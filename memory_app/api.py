"""The app's HTTP routers, room by room."""

from memory_app.memories.api import router as memories
from memory_app.search.api import router as search
from memory_app.user_profile.api import router as user_profile

routers = (memories, search, user_profile)
