"""Valid and reserved slugs, and how a slug is parsed from user input.

Source: core spec, "Affiliate invites", invite rules, and tracking spec, "Public storefront", customAlias. The database
decides whether a slug is taken.
"""

import re
import unicodedata
from urllib.parse import unquote

from domain.refusals import Refused

# Leaves room in 64 characters for a suffix that makes a taken slug unique.
_MAX_CHARS_FROM_NAME = 48

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
# A dot or an underscore counts only between two other characters: after a slug it ends a sentence. Words separated by
# spaces are a phrase, and before `://` there is the scheme of a URL.
_READABLE = re.compile(r"(?>[A-Za-z0-9-]+(?:(?:\.|_+)[A-Za-z0-9-]+)*)(?!\s|://)")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_MAX_ENCODED_TIMES = 2
_MAX_TOKEN_CHARS = 190
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


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
    """Return whether a slug in lower case cannot be an affiliate's: a reserved word, or only digits.

    Shops write their own numbers into the fields that carry a slug, so a number as a slug would earn on other sales.
    """
    return slug in RESERVED or (slug.isascii() and slug.isdigit())


def refuse_reserved(slug: str, *, field: str) -> Refused:
    """Return the refusal of a slug that `is_reserved`."""
    why = (
        "This word is reserved for the service."
        if slug in RESERVED
        else "Digits alone could be an order number of a shop. Add a letter."
    )
    return Refused(400, "slug_reserved", why, field=field)


def read(text: str) -> str | None:
    """Return the slug at the start of a text, in lower case; None without one.

    Chats, mail programs and templates add characters around and after links: the slug ends at the first character
    that no slug contains, invisible characters are removed, and remaining percent-encoding is decoded. The loader and
    the web pixel do the same. A phrase is not a slug, nor is a URL: `domain.links.slugs_from_url` parses those.
    """
    # A fast path: most texts are in the stored form.
    return text if _STORED.fullmatch(text) else _split(text)[0]


def read_token(text: str) -> str | None:
    """Return a text as tokens of a former system are stored: decoded and in lower case; None for no token.

    A token has 1 to 190 characters of any kind but control characters. It may look like no slug at all.
    """
    if _STORED.fullmatch(text):
        return text
    token = unicodedata.normalize("NFC", _decode(text).lower())
    return token if 0 < len(token) <= _MAX_TOKEN_CHARS and not _CONTROL.search(token) else None


def list_spellings(text: str) -> list[str]:
    """Return the tokens that a whole text may be; none for a text that is no token.

    A plus in a query is a space, so a text with spaces may be a token with plus signs.
    """
    token = read_token(text)
    return [] if token is None else list(dict.fromkeys([token, token.replace(" ", "+")]))


def list_tokens(text: str) -> list[str]:
    """Return the tokens and slugs that a text of a link may contain: all of it, then the slug at its start."""
    slug = read(text)
    return list(dict.fromkeys([*list_spellings(text), *([] if slug is None else [slug])]))


def read_alone(text: str) -> str | None:
    """Return the slug at the start of a text, as `read` does; None if other words or numbers follow it.

    For fields into which shops write their own texts, such as `order 17`.
    """
    slug, rest = _split(text)
    return None if any(character.isalnum() for character in rest) else slug


def _split(text: str) -> tuple[str | None, str]:
    """Return the slug at the start of a text, and the rest."""
    text = _decode(text)
    match = _READABLE.match(text)
    if match is None or len(match[0]) > _MAX_CHARS:
        return None, text
    return match[0].lower(), text[match.end() :]


def _decode(text: str) -> str:
    for _ in range(_MAX_ENCODED_TIMES):
        text = unquote(text) if "%" in text else text
    return _INVISIBLE.sub("", text).strip()


def from_name(name: str) -> str:
    """Return a slug from a name: without accents, and everything except letters and digits as hyphens.

    A name that leaves fewer than three characters (another script, a single letter) gets the prefix `program`.
    """
    slug = simplify(name)
    return slug if len(slug) >= 3 else f"program-{slug}".strip("-")


def simplify(name: str) -> str:
    """Return a name reduced to a-z, 0-9 and hyphens: without accents, at most 48 characters, possibly empty."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")[:_MAX_CHARS_FROM_NAME].strip("-")
