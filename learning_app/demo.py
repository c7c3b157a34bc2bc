"""The app's parts of the demo."""

from learning_app.audit.demo import AuditPart
from learning_app.cases.demo import CasesPart
from learning_app.institution.demo import InstitutionPart
from learning_app.learnings.demo import LearningsPart
from learning_app.ledger.demo import TradesPart
from learning_app.methodologies.demo import MethodologiesPart
from learning_app.preferences.demo import PreferencesPart
from learning_app.ticks.demo import DeploymentsPart

DEMO = (
    MethodologiesPart(),
    CasesPart(),
    LearningsPart(),
    PreferencesPart(),
    InstitutionPart(),
    AuditPart(),
    TradesPart(),
    DeploymentsPart(),
)
