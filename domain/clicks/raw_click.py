"""The record of a click on its way from the web process to the database.

It contains the visitor's address only as keyed hashes. Source: tracking spec, "Public click endpoint".
"""

import functools
from typing import NamedTuple
from urllib.parse import urlsplit

from domain import links

MAX_AGENT_CHARS = 512
MAX_QUERY_NAMES = 50
_MAX_NAME_CHARS = 64
_MAX_HOST_CHARS = 253
_MAX_LANGUAGES = 20
_MAX_LANGUAGE_CHARS = 35


class RawClick(NamedTuple):
    """A visit as the edge received it, not yet scored. Ids are texts, `occurred_at` is ISO 8601 in UTC.

    `visitor` is a keyed hash (hex) of address and agent, `network` one of the address's IPv4 /24 or IPv6 /48.
    `query_names` are the parameters of the landing page, `visitor_id` is the script's id of the visitor. `country` is
    the ISO 3166 code of the address; None without a file of networks.
    """

    id: str
    organization_id: str
    program_id: str
    affiliate_id: str
    slug: str
    sub_id: str | None
    occurred_at: str
    visitor: str
    network: str
    agent: str
    is_bot: bool = False
    is_data_centre: bool = False
    referrer_host: str | None = None
    query_names: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    visitor_id: str | None = None
    country: str | None = None


def query_names_from_url(url: str) -> tuple[str, ...]:
    """Return the names of a URL's parameters, each once, at most 50; nothing for an invalid URL."""
    names = (name[:_MAX_NAME_CHARS] for name in links.query_names(url))
    return tuple(dict.fromkeys(name for name in names if name and name.isprintable()))[:MAX_QUERY_NAMES]


def host_from_url(url: str) -> str | None:
    """Return the host of a URL in lower case; None where it has none."""
    try:
        name = urlsplit(url).hostname
    except ValueError:
        return None
    return name[:_MAX_HOST_CHARS] if name and name.isprintable() else None


@functools.lru_cache(maxsize=256)  # most browsers of one country send the same few headers
def languages_from_header(accepted: str) -> tuple[str, ...]:
    """Return the language tags of an Accept-Language header in the order sent, at most 20."""
    tags = (part.partition(";")[0].strip() for part in accepted.split(","))
    return tuple(tag for tag in tags if _is_language(tag))[:_MAX_LANGUAGES]


def agent_from_header(header: str) -> str:
    """Return a User-Agent header as it is stored: printable, at most 512 characters."""
    text = header[:MAX_AGENT_CHARS]
    return text if text.isprintable() else "".join(character for character in text if character.isprintable())


def _is_language(tag: str) -> bool:
    return 0 < len(tag) <= _MAX_LANGUAGE_CHARS and tag.isascii() and tag.replace("-", "").isalnum()
