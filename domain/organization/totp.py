"""Time-based one-time passwords (RFC 6238) and recovery codes: the second factor of a person.

A code has six digits (HMAC-SHA-1 of the number of 30-second steps since 1970), as every authenticator app computes it.
"""

import hashlib
import hmac
import secrets
from datetime import datetime

import pyotp

STEP_S = 30
#: How many recovery codes a person gets.
RECOVERY_CODES = 10

# The clocks of phones differ by seconds: the step before and after the present one count too.
_SKEW_STEPS = 1
# Without letters and digits that look alike.
_RECOVERY_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_RECOVERY_LENGTH = 16
_GROUP = 4


def create_secret() -> str:
    """Return a new secret of 160 bits in base32, as authenticator apps take it."""
    return pyotp.random_base32()


def step_at(now: datetime) -> int:
    """Return the number of the time step of an instant."""
    return int(now.timestamp()) // STEP_S


def code_of(secret: str, step: int) -> str:
    """Return the code of a secret in a time step."""
    return pyotp.HOTP(secret).at(step)


def matching_step(secret: str, code: str, *, now: datetime, last_step: int) -> int | None:
    """Return the time step whose code this is; None for a wrong code, and for one not later than the last used one."""
    present = step_at(now)
    steps = range(present - _SKEW_STEPS, present + _SKEW_STEPS + 1)
    typed = code.encode("utf-8", "surrogatepass")
    matching = [step for step in steps if hmac.compare_digest(code_of(secret, step).encode(), typed)]
    return next((step for step in matching if step > last_step), None)


def provisioning_uri(secret: str, *, account: str, issuer: str) -> str:
    """Return the address that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret, interval=STEP_S).provisioning_uri(name=account, issuer_name=issuer)


def create_recovery_codes() -> list[str]:
    """Return new recovery codes, in groups of four characters."""
    codes = ("".join(secrets.choice(_RECOVERY_LETTERS) for _ in range(_RECOVERY_LENGTH)) for _ in range(RECOVERY_CODES))
    return ["-".join(code[at : at + _GROUP] for at in range(0, _RECOVERY_LENGTH, _GROUP)) for code in codes]


def normalize_code(text: str) -> str:
    """Return a typed code without spaces and hyphens, in lower case."""
    return "".join(character for character in text.lower() if character.isalnum())


def is_recovery_code(code: str) -> bool:
    """Return whether a normalized code has the length of a recovery code, not that of an app's code."""
    return len(code) == _RECOVERY_LENGTH


def recovery_code_hash(code: str, *, email: str) -> bytes:
    """Return the hash under which a person's normalized recovery code is stored."""
    return hashlib.sha256(f"{email} {code}".encode("utf-8", "surrogatepass")).digest()
