"""The app's kinds of stored text."""

from learning_app.cases.kinds import CaseKind
from learning_app.learnings.kinds import LearningKind
from learning_app.methodologies.kinds import MethodologyKind
from learning_app.preferences.kinds import PreferenceTextKind

KINDS = (MethodologyKind(), CaseKind(), LearningKind(), PreferenceTextKind())
