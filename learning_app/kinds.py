"""The app's kinds."""

from learning_app.cases.kinds import CaseKind
from learning_app.learnings.kinds import LearningChanges, LearningKind
from learning_app.ledger.kinds import DeploymentChanges, SkillVersionKind, SnapshotKind, TradeKind
from learning_app.lessons.kinds import LessonsKind
from learning_app.methodologies.kinds import MethodologyChanges, MethodologyKind
from learning_app.notes.kinds import OwnNoteChanges
from learning_app.preferences.kinds import PreferenceChanges, PreferenceTextKind
from minara_site.kernel.registry import Kind

KINDS = (
    Kind(MethodologyKind.name, (MethodologyKind(), MethodologyChanges())),
    CaseKind(),
    TradeKind(),
    DeploymentChanges(),
    SnapshotKind(),
    SkillVersionKind(),
    LessonsKind(),
    OwnNoteChanges(),
    Kind(LearningKind.name, (LearningKind(), LearningChanges())),
    Kind(PreferenceTextKind.name, (PreferenceTextKind(), PreferenceChanges())),
)
