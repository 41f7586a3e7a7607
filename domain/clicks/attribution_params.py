"""The query parameters that identify an affiliate: an organization's own parameters, then the defaults.

Source: tracking spec, "Attribution parameters" and section 8 "Limits".
"""

import re
from dataclasses import dataclass

from domain.refusals import Refused

#: In order of priority: if a URL has several of them, the first in this list counts.
DEFAULTS = (
    "via",
    "ref",
    "fpr",
    "fp_ref",
    "aff",
    "aff_id",
    "affid",
    "affiliate",
    "affiliate_id",
    "referral",
    "referral_code",
    "referrer",
    "refcode",
    "ref_code",
    "ref_id",
    "partner",
    "partner_id",
    "promoter",
    "a_aid",
    "tap_a",
    "atp",
)

MAX_CUSTOM_ENTRIES = 10
MAX_TOTAL_CHARS = 256
MIN_PARAM_LENGTH = 2
MAX_PARAM_LENGTH = 32

_PARAM = re.compile(rf"[a-z0-9_-]{{{MIN_PARAM_LENGTH},{MAX_PARAM_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class Params:
    """Return an organization's own parameters as the stored comma-separated text, None if it has none."""

    custom: str | None

    @property
    def effective_order(self) -> list[str]:
        """Return every parameter in order of priority, each once."""
        return list(dict.fromkeys([*_entries(self.custom or ""), *DEFAULTS]))

    @property
    def printable(self) -> "Params":
        """Return the valid parameters, which are safe to write into scripts and pages."""
        return Params(",".join(entry for entry in _entries(self.custom or "") if _PARAM.fullmatch(entry)) or None)


def normalize(text: str | None) -> str | None:
    """Return the custom parameters as they are stored: trimmed, each once, in the given order; None clears them.

    Raises Refused 400: attribution_params_too_long, too_many_attribution_params, invalid_attribution_param (with the
    list `invalid`), checked in that order.
    """
    if text is None:
        return None
    if len(text) > MAX_TOTAL_CHARS:
        raise _refusal("attribution_params_too_long", f"custom takes at most {MAX_TOTAL_CHARS} characters.")
    entries = _entries(text)
    if len(entries) > MAX_CUSTOM_ENTRIES:
        raise _refusal("too_many_attribution_params", f"custom takes at most {MAX_CUSTOM_ENTRIES} parameters.")
    invalid = [entry for entry in entries if not _PARAM.fullmatch(entry)]
    if invalid:
        raise _refusal(
            "invalid_attribution_param",
            f"A parameter is {MIN_PARAM_LENGTH} to {MAX_PARAM_LENGTH} of a-z, 0-9, underscore and hyphen.",
            invalid=invalid,
        )
    return ",".join(entries) or None


def _entries(text: str) -> list[str]:
    trimmed = (part.strip() for part in text.split(","))
    return list(dict.fromkeys(part for part in trimmed if part))


def _refusal(code: str, message: str, **more: object) -> Refused:
    return Refused(400, code, message, field="custom", **more)
