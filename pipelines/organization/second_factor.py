"""The second factor of people who sign in by email: an authenticator app, and recovery codes for a lost phone.

It belongs to an email address and counts in all of the person's organizations. Its rows have no tenant, so these
functions run in any transaction.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from adapters.secret_key import sealing
from domain.organization import totp
from domain.refusals import Refused
from models.organization import second_factors
from models.organization.second_factors import SecondFactor

#: How many wrong codes in a row are accepted before a wait.
MAX_WRONG_CODES = 5
#: How long no code is accepted after that.
WAIT = timedelta(minutes=15)

_ISSUER = "Finderfee"

CodeResult = Literal["right", "wrong", "blocked"]


@dataclass(frozen=True, slots=True)
class NewSecret:
    """The secret of a second factor that is not enabled yet, and the address for a QR code."""

    secret: str
    uri: str


def is_enabled(email: str) -> bool:
    """Return whether a person has a second factor."""
    factor = second_factors.find(email)
    return factor is not None and factor.enabled_at is not None


def start(email: str, *, now: datetime) -> NewSecret:
    """Store a new secret for a person; it counts after `enable`. Raises Refused 409 second_factor_enabled."""
    secret = totp.create_secret()
    sealed = sealing.seal(secret, belongs_to=_sealing_context(email))
    if not second_factors.start(email=email, secret_sealed=sealed, at=now):
        raise Refused(409, "second_factor_enabled", "Two-factor authentication is on already. Turn it off first.")
    return NewSecret(secret, totp.provisioning_uri(secret, account=email, issuer=_ISSUER))


def enable(email: str, code: str, *, now: datetime) -> list[str] | CodeResult:
    """Make a started second factor count, and return its recovery codes; or how the code was refused.

    The caller commits in each case. Raises Refused 409 second_factor_not_started, second_factor_enabled.
    """
    factor = second_factors.lock(email)
    if factor is None:
        message = "Two-factor authentication was not set up yet. Scan the QR code first."
        raise Refused(409, "second_factor_not_started", message)
    if factor.enabled_at is not None:
        raise Refused(409, "second_factor_enabled", "Two-factor authentication is on already.")
    result = _check(factor, code, now=now)
    if result != "right":
        return result
    second_factors.stage_enabled(email=email, at=now)
    return _replace_recovery_codes(email)


def use_code(email: str, code: str, *, now: datetime) -> CodeResult:
    """Use up a code of the app, or a recovery code. The caller commits in each case: wrong codes are counted.

    A person without a second factor has no right code.
    """
    factor = second_factors.lock(email)
    return "wrong" if factor is None or factor.enabled_at is None else _check(factor, code, now=now)


def replace_recovery_codes(email: str, code: str, *, now: datetime) -> list[str] | CodeResult:
    """Return new recovery codes, which replace all former ones; or how the code was refused. The caller commits."""
    result = use_code(email, code, now=now)
    return _replace_recovery_codes(email) if result == "right" else result


def disable(email: str, code: str, *, now: datetime) -> CodeResult:
    """Turn the second factor of a person off, if the code is right. The caller commits in each case."""
    result = use_code(email, code, now=now)
    if result == "right":
        second_factors.delete(email)
    return result


def _check(factor: SecondFactor, code: str, *, now: datetime) -> CodeResult:
    """Return whether a code is right, and stage that it was used, or that it was wrong."""
    if factor.blocked_until is not None and factor.blocked_until > now:
        return "blocked"
    typed = totp.normalize_code(code)
    if factor.enabled_at is not None and totp.is_recovery_code(typed):
        code_hash = totp.recovery_code_hash(typed, email=factor.email)
        if second_factors.use_recovery_code(email=factor.email, code_hash=code_hash):
            second_factors.stage_right_code(email=factor.email, step=factor.last_step)
            return "right"
    else:
        step = totp.matching_step(_unseal(factor), typed, now=now, last_step=factor.last_step)
        if step is not None:
            second_factors.stage_right_code(email=factor.email, step=step)
            return "right"
    is_last = factor.wrong_codes + 1 >= MAX_WRONG_CODES
    second_factors.stage_wrong_code(
        email=factor.email,
        wrong_codes=0 if is_last else factor.wrong_codes + 1,
        blocked_until=now + WAIT if is_last else None,
    )
    return "blocked" if is_last else "wrong"


def _replace_recovery_codes(email: str) -> list[str]:
    codes = totp.create_recovery_codes()
    hashes = [totp.recovery_code_hash(totp.normalize_code(code), email=email) for code in codes]
    second_factors.stage_recovery_codes(email=email, code_hashes=hashes)
    return codes


def _unseal(factor: SecondFactor) -> str:
    # Not through the cache of sealed secrets, which lives as long as the process.
    return sealing.unseal.__wrapped__(factor.secret_sealed, belongs_to=_sealing_context(factor.email))


def _sealing_context(email: str) -> str:
    return f"second factor of {email}"
