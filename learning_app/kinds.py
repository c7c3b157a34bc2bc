"""The app's kinds of stored text."""

from learning_app.cases.kinds import CaseKind
from learning_app.methodologies.kinds import MethodologyKind

KINDS = (MethodologyKind(), CaseKind())
