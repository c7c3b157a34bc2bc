"""The app's kinds."""

from learning_app.cases.kinds import CaseKind
from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.kinds import LearningChanges, LearningKind
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.kinds import MethodologyChanges, MethodologyKind
from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.kinds import PreferenceChanges, PreferenceTextKind
from minara_site.kernel.registry import Kind

KINDS = (
    Kind(METHODOLOGY_KIND, (MethodologyKind(), MethodologyChanges())),
    CaseKind(),
    Kind(LEARNING_KIND, (LearningKind(), LearningChanges())),
    Kind(PREFERENCE_KIND, (PreferenceTextKind(), PreferenceChanges())),
)
