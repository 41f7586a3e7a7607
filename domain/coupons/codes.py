"""How a code is written, here and where it is minted.

Source: tracking spec, "Affiliate coupon" (code rules).
"""

import re
import secrets
from dataclasses import dataclass

#: Without 0, O, 1, I and L, which people confuse.
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
PATTERN = r"[A-Z0-9_-]{3,32}"

_DRAWN_CHARACTERS = 8
_WRITTEN = re.compile(PATTERN)


def is_written_well(code: str) -> bool:
    """Say whether a code has 3 to 32 of A-Z, 0-9, underscore and hyphen."""
    return _WRITTEN.fullmatch(code) is not None


def draw() -> str:
    """Return a new code of 8 characters that nobody can guess or misread."""
    return "".join(secrets.choice(ALPHABET) for _ in range(_DRAWN_CHARACTERS))


@dataclass(frozen=True, slots=True)
class CodeShape:
    """What a gateway can hold of our codes: which of `_` and `-`, and how many characters."""

    signs: str = "_-"
    longest: int = 32

    def refused(self, code: str) -> str | None:
        """Return what of a code the gateway cannot hold, in words; None when it can."""
        signs = [sign for sign in "_-" if sign in code and sign not in self.signs]
        if signs:
            return f"it cannot hold {' and '.join(signs)}"
        return f"it holds {self.longest} characters at most" if len(code) > self.longest else None
