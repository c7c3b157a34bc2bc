"""The app's parts of the demo."""

from memory_app.facts.demo import FactsPart
from memory_app.memories.demo import MemoriesPart
from memory_app.roles.demo.decisions import DecisionsPart
from memory_app.search.demo import SearchesPart
from memory_app.user_profile.demo import ProfilePart

DEMO = (
    ProfilePart(),
    MemoriesPart(),
    FactsPart(),
    SearchesPart(),
    DecisionsPart(),
)
