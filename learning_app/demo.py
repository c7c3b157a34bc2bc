"""The app's parts of the demo."""

from learning_app.cases.demo import CasesPart
from learning_app.methodologies.demo import MethodologiesPart
from learning_app.preferences.demo import PreferencesPart

DEMO = (MethodologiesPart(), CasesPart(), PreferencesPart())
