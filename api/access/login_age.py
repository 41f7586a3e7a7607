"""The age of a login, for what needs a fresh one: money, and what would outlive a stolen session (decision 29)."""

from datetime import datetime, timedelta

from adapters import clock
from api.access.callers import Caller
from domain.refusals import Refused

#: The maximum age of a login, in seconds, for moving money and for creating credentials of the organization.
FRESH_S = 3600


def check(signed_in_at: datetime | None, *, within_s: int) -> None:
    """Raise Refused (403) if a person logged in longer ago than `within_s`; keys, and unknown logins, pass."""
    if signed_in_at is not None and clock.now() - signed_in_at > timedelta(seconds=within_s):
        message = f"You logged in more than {within_s // 60} minutes ago. Log in again, then repeat this."
        raise Refused(403, "fresh_login_required", message)


def check_member(caller: Caller, *, within_s: int) -> None:
    """Raise Refused (403) if a caller of an organization logged in longer ago than `within_s`.

    A login by email or by a code counts for a shorter time than others (decision 77).
    """
    check(caller.signed_in_at, within_s=min(within_s, caller.max_login_age_s or within_s))
