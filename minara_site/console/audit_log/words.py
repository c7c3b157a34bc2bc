"""What the acts of the audit log are called. One that has no words here is shown by its own name."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

WORDS: dict[str, str | Promise] = {
    "memory_write": _("Memory written"),
    "memory_read": _("Memory read by an agent"),
    "memory_search": _("Memory searched by an agent"),
    "memory_import": _("Memories imported"),
    "memory_edited": _("Memory edited"),
    "memory_reverted": _("Edit of a memory taken back"),
    "memory_held": _("Memories held again by a new scan"),
    "memory_released": _("Held memories released"),
    "memory_discarded": _("Held memories discarded"),
    "memory_removed": _("Memories deleted"),
    "memory_restored": _("Memories restored"),
    "memory_purged": _("Memories removed for good"),
    "user_profile_set": _("Value of the user profile set"),
    "user_profile_removed": _("Value of the user profile removed"),
    "user_profile_held": _("Values of the user profile held again by a new scan"),
    "user_profile_released": _("Held values of the user profile released"),
    "user_profile_discarded": _("Held values of the user profile discarded"),
    "rescan_requested": _("New scan asked for"),
    "write_rollback": _("Writes rolled back"),
    "write_rollback_undone": _("Roll-back undone"),
    "session_started": _("Session started"),
    "turn_recorded": _("Turn recorded"),
    "session_ended": _("Session ended"),
    "signed_in": _("Signed in"),
    "sign_in_ended": _("Signed out elsewhere"),
    "setup_claimed": _("First operator set up"),
    "user_created": _("Account made"),
    "user_disabled": _("Account disabled"),
    "user_enabled": _("Account enabled"),
    "invitation_made": _("Invitation made"),
    "invitation_accepted": _("Invitation accepted"),
    "role_changed": _("Role changed"),
    "sessions_ended": _("Signed out everywhere"),
    "second_factor_added": _("Second factor added"),
    "second_factor_removed": _("Second factor removed"),
    "second_factor_reset": _("Second factors reset"),
    "recovery_codes_renewed": _("Recovery codes renewed"),
    "password_changed": _("Password changed"),
    "settings_changed": _("Settings changed"),
    "api_key_created": _("API key made"),
    "api_key_revoked": _("API key revoked"),
    "demo_loaded": _("Demo loaded"),
    "demo_removed": _("Demo removed"),
    "job_requested": _("Job asked for"),
    "job_cancelled": _("Job run cancelled"),
    "job_retried": _("Job run tried again"),
}


def act_words(tool_call: str) -> str:
    """Return what an act is called; empty when nobody named it."""
    return str(WORDS.get(tool_call, ""))
