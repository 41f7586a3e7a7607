"""A click on its way from the web process that saw it to the database: what is known of it.

Of the visitor's address only keyed hashes travel. Source: tracking spec, "Public click endpoint".
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
    """A visit as the edge saw it, nothing judged yet. Ids are texts, `occurred_at` is ISO 8601 in UTC.

    `visitor` is a keyed hash (hex) of address and agent, `network` one of the address's IPv4 /24 or IPv6 /48.
    `query_names` are the parameters of the page that the visitor landed on, `visitor_id` is what its script calls them.
    `country` is the address's, an ISO 3166 code; None where no file says it.
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


def query_names(url: str) -> tuple[str, ...]:
    """Return the names of an address's parameters, each once, at most 50; nothing if the address cannot be read."""
    names = (name[:_MAX_NAME_CHARS] for name in links.query_names(url))
    return tuple(dict.fromkeys(name for name in names if name and name.isprintable()))[:MAX_QUERY_NAMES]


def host(url: str) -> str | None:
    """Return the host of an address in lower case; None for what has none."""
    try:
        found = urlsplit(url).hostname
    except ValueError:
        return None
    return found[:_MAX_HOST_CHARS] if found and found.isprintable() else None


@functools.lru_cache(maxsize=256)  # browsers of one country send one of a few
def languages(accepted: str) -> tuple[str, ...]:
    """Return the language tags of an Accept-Language header in the order sent, at most 20."""
    tags = (part.partition(";")[0].strip() for part in accepted.split(","))
    return tuple(tag for tag in tags if _is_language(tag))[:_MAX_LANGUAGES]


def agent(sent: str) -> str:
    """Return a User-Agent header as it is kept: printable, at most 512 characters."""
    kept = sent[:MAX_AGENT_CHARS]
    return kept if kept.isprintable() else "".join(one for one in kept if one.isprintable())


def _is_language(tag: str) -> bool:
    return 0 < len(tag) <= _MAX_LANGUAGE_CHARS and tag.isascii() and tag.replace("-", "").isalnum()
