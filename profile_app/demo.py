"""The app's parts of the demo."""

from profile_app.prompt.demo import SessionsPart

DEMO = (SessionsPart(),)
