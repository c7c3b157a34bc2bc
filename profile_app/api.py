"""The app's HTTP routers, room by room."""

from profile_app.onboarding.api import router as onboarding
from profile_app.portrait.api.profile import router as profile
from profile_app.prompt.api import router as prompt
from profile_app.prompt.suggestions_api import router as suggestions

routers = (onboarding, profile, prompt, suggestions)
