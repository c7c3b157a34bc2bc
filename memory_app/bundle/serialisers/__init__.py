"""The kinds of files in a bundle. A further kind is a module of its own and a line here."""

from memory_app.bundle.serialisers.assets import ASSETS
from memory_app.bundle.serialisers.base import Serialiser
from memory_app.bundle.serialisers.memories import MEMORIES
from memory_app.bundle.serialisers.methodologies import METHODOLOGIES
from memory_app.bundle.serialisers.preferences import PREFERENCES
from memory_app.bundle.serialisers.trade_cases import TRADE_CASES
from memory_app.bundle.serialisers.user_profile import USER_PROFILE

SERIALISERS: tuple[Serialiser, ...] = (MEMORIES, USER_PROFILE, METHODOLOGIES, PREFERENCES, TRADE_CASES, ASSETS)
