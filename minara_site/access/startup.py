"""What access does once a process, after every app is loaded."""

from allauth.account.signals import user_logged_in as came_in
from django.contrib.auth.signals import user_logged_in, user_logged_out

from minara_site.access.security.sessions import begin_session, forget_session
from minara_site.access.visits import note_visit, record_sign_in


def start() -> None:
    """Record each sign-in as a visit, as a session and in the audit log, and each sign-out as the end of one."""
    user_logged_in.connect(note_visit, dispatch_uid="access.note_visit")
    came_in.connect(record_sign_in, dispatch_uid="access.record_sign_in")
    user_logged_in.connect(begin_session, dispatch_uid="access.begin_session")
    user_logged_out.connect(forget_session, dispatch_uid="access.forget_session")
