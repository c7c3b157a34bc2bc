"""The app's kinds of rows that writers write: which a roll-back changes, and which stay."""

from learning_app.cases.rollback import CaseRollback
from learning_app.learnings.rollback import LearningRollback
from learning_app.methodologies.rollback import MethodologyRollback
from learning_app.preferences.rollback import PreferenceRollback

ROLLBACKS = (
    MethodologyRollback(),
    CaseRollback(),
    LearningRollback(),
    PreferenceRollback(),
)
