"""The app's kinds of stored text."""

from profile_app.documents.kinds import CustomPromptKind, ProfileSummaryKind, WorkspaceFileKind

KINDS = (WorkspaceFileKind(), CustomPromptKind(), ProfileSummaryKind())
