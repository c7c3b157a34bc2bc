"""The app's kinds of stored text."""

from profile_app.documents.kinds import CustomPromptKind, ProfileSummaryKind, WorkspaceFileKind
from profile_app.portrait.services.profile import copy_texts_in_force

KINDS = (WorkspaceFileKind(), CustomPromptKind(on_accepted=[copy_texts_in_force]), ProfileSummaryKind(on_accepted=[copy_texts_in_force]))
