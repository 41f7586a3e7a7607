"""The form of a coupon code, here and at the gateways.

Source: tracking spec, "Affiliate coupon" (code rules).
"""

import re
import secrets
from dataclasses import dataclass

#: Without 0, O, 1, I and L, which are easily confused.
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
PATTERN = r"[A-Z0-9_-]{3,32}"

_GENERATED_LENGTH = 8
_CODE = re.compile(PATTERN)


def is_valid(code: str) -> bool:
    """Return whether a code has 3 to 32 of A-Z, 0-9, underscore and hyphen."""
    return _CODE.fullmatch(code) is not None


def generate() -> str:
    """Return a new random code of 8 characters that cannot be misread."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_GENERATED_LENGTH))


@dataclass(frozen=True, slots=True)
class CodeShape:
    """The limits of a gateway's codes: which of `_` and `-`, and how many characters."""

    allowed_signs: str = "_-"
    max_length: int = 32

    def explain_refusal(self, code: str) -> str | None:
        """Return in words why the gateway cannot have this code; None if it can."""
        signs = [sign for sign in "_-" if sign in code and sign not in self.allowed_signs]
        if signs:
            return f"it cannot hold {' and '.join(signs)}"
        return f"it holds {self.max_length} characters at most" if len(code) > self.max_length else None
