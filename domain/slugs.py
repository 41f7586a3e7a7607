"""Which texts can be a slug, which are reserved, and how a slug is read from what people send.

Source: core spec, "Affiliate invites", invite rules, and tracking spec, "Public storefront", customAlias. Whether a
slug is taken is the database's to know.
"""

import re
import unicodedata
from urllib.parse import unquote

from domain.refused import Refused

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

_MAX_CHARS = 64
_STORED = re.compile(rf"[a-z0-9-]{{1,{_MAX_CHARS}}}")
# A dot or an underscore counts between two other characters only: behind a slug it ends a sentence. Words with a space
# between them are a phrase, and in front of `://` there is the scheme of an address.
_READABLE = re.compile(r"(?>[A-Za-z0-9-]+(?:(?:\.|_+)[A-Za-z0-9-]+)*)(?!\s|://)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_MAX_ENCODED_TIMES = 2


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


def is_reserved(slug: str) -> bool:
    """Return whether a slug in lower case may not be given to an affiliate: a reserved word, or digits alone.

    Shops write numbers of their own where gateways carry a slug, so a number as a slug would earn on other sales.
    """
    return slug in RESERVED or (slug.isascii() and slug.isdigit())


def reserved_refusal(slug: str, *, field: str) -> Refused:
    """Return the refusal of a slug that `is_reserved`."""
    why = (
        "This word is kept for the service."
        if slug in RESERVED
        else "Digits alone could be an order number of a shop. Add a letter."
    )
    return Refused(400, "slug_reserved", why, field=field)


def read(text: str) -> str | None:
    """Return the slug that a text begins with, in lower case; None where it begins with none.

    Links come with what chats, mail programs and templates put around and behind them: the slug ends at the first
    character that none can have, invisible characters are left out, and what is still percent-encoded is decoded. The
    loader and the web pixel read alike. A phrase is no slug, nor is an address: `domain.links.slugs_from_url` reads
    those.
    """
    # Most come as they are stored, by the thousand.
    return text if _STORED.fullmatch(text) else _split(text)[0]


def read_alone(text: str) -> str | None:
    """Return the slug that a text begins with, as `read` does; None where other words or numbers follow it.

    For fields in which shops write things of their own, such as `order 17`.
    """
    slug, rest = _split(text)
    return None if any(character.isalnum() for character in rest) else slug


def _split(text: str) -> tuple[str | None, str]:
    """Return the slug that a text begins with, and what follows it."""
    for _ in range(_MAX_ENCODED_TIMES):
        text = unquote(text) if "%" in text else text
    text = _INVISIBLE.sub("", text).strip()
    match = _READABLE.match(text)
    if match is None or len(match[0]) > _MAX_CHARS:
        return None, text
    return match[0].lower(), text[match.end() :]


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
