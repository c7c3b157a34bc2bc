"""The app's HTTP routers, room by room."""

from profile_app.activity.api import router as activity
from profile_app.onboarding.api import router as onboarding
from profile_app.portrait.api.profile import router as profile
from profile_app.portrait.api.tags import router as tags
from profile_app.prompt.api import router as prompt
from profile_app.prompt.suggestions_api import router as suggestions
from profile_app.strategies.api import router as strategies
from profile_app.workspace.api import router as workspace

routers = (onboarding, profile, activity, tags, prompt, suggestions, workspace, strategies)
