"""Says which texts can be a slug, and which words are kept for the service.

Source: core spec, "Affiliate invites", invite rules, and tracking spec, "Public storefront", customAlias. Whether a
slug is taken is the database's to know.
"""

import re
import unicodedata

# Leaves room in 64 characters for what makes a taken slug unique.
_LONGEST_FROM_NAME = 48

#: A slug: 3 to 64 characters of a-z, 0-9 and hyphen. Anchored, so `match` is as strict as `fullmatch`.
PATTERN = re.compile(r"\A[a-z0-9-]{3,64}\Z")

_RESERVED_WORDS = """
    abuse about account accounts admin administrator affiliate affiliates answers api app apply assets auth billing
    blog cdn contact dashboard demo docs embed error favicon finderfee health healthz help home images invite
    invites join legal llms loader login logout mail mcp metrics null oauth official organization
    organizations owner partner partners payout payouts portal postmaster pricing privacy program programs
    public ready readyz register robots root security settings signin signout signup sitemap static status
    support system team terms test thanks track tracking undefined untagged users via webhook webhooks www
"""

#: Words that name a part of the service or pretend to; lower case. A slug among them is refused as `slug_reserved`.
RESERVED = frozenset(_RESERVED_WORDS.split())


def is_valid(slug: str) -> bool:
    """Return whether the text has the characters and the length of a slug.

    Source: tracking spec, "Public storefront", customAlias.
    """
    return PATTERN.fullmatch(slug) is not None


def is_valid_strict(slug: str) -> bool:
    """Return whether the text is a slug that neither starts nor ends with a hyphen.

    Source: core spec, "Affiliate invites", invite rules.
    """
    return is_valid(slug) and not slug.startswith("-") and not slug.endswith("-")


def from_name(name: str) -> str:
    """Return a slug that resembles a name: accents dropped, everything else but letters and digits a hyphen.

    A name that leaves fewer than three characters (another script, a single letter) gets `program` in front.
    """
    slug = plain(name)
    return slug if len(slug) >= 3 else f"program-{slug}".strip("-")


def plain(name: str) -> str:
    """Return what of a name is left in a-z, 0-9 and hyphens: accents dropped, at most 48 characters, perhaps none."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")[:_LONGEST_FROM_NAME].strip("-")
