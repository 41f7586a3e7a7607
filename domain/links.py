"""Tracking links: their URLs, the slugs that a URL carries, and how many links an affiliate may have.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits"; tracking spec, short links and "Attribution
parameters".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import quote, unquote_plus, urlsplit, urlunsplit

from domain import slugs, statuses
from domain.statuses import LinkFormat

_PARAMETER = "via"
_MAX_ON_SALES = 20

#: The field of a URL for the slug of a path `/via/SLUG`. No parameter has this name.
PATH_FIELD = "/via/"
#: The parameters of a URL that name the channel; the first one counts.
TAG_PARAMETERS = ("subId", "sub_id", "subid")

_IN_PATH = re.compile(r"/via/([^/?#&]+)", re.IGNORECASE)
# The `&` between two parameters as HTML escapes it; URLs copied from HTML contain it.
_ESCAPED_AMPERSAND = re.compile(r"&(?:amp;|#0*38;)+", re.IGNORECASE)
_REST_OF_AMPERSAND = re.compile(r"\A(?:amp;|#?0*38;)+", re.IGNORECASE)
_MAX_PARAMETERS = 100
_MAX_FORWARDED_CHARS = 4000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Characters that need no encoding in a query; all others are percent-encoded before forwarding.
_SAFE_IN_QUERY = "%!$'()*+,;:@/?=-._~"


def url(*, slug: str, format: str, destination_url: str | None, base_url: str, program_id: str | None = None) -> str:
    """Return the URL to share. `base_url` is our own, `destination_url` the site that the campaign promotes.

    `program_id` is given if the slug alone would lead to another campaign. Without a destination every format becomes
    Short. Parameters and fragment of the destination are kept, except its own `via`. Raises ValueError for an unknown
    format.
    """
    if format == LinkFormat.Short or not destination_url:
        return f"{base_url}/r/{program_id}/{slug}" if program_id else f"{base_url}/r/{slug}"
    kind = LinkFormat(format)
    parts = urlsplit(destination_url)
    if kind == LinkFormat.Query:
        parts = parts._replace(query=_with_slug(parts.query, slug), path=parts.path or "/")
    elif kind == LinkFormat.Path:
        parts = parts._replace(path=f"{parts.path.rstrip('/')}/{_PARAMETER}/{slug}")
    else:
        parts = parts._replace(fragment=_with_slug(parts.fragment, slug))
    return urlunsplit(parts)


def landing_url(*, slug: str, destination_url: str, sub_id: str | None, forwarded: Iterable[str] = ()) -> str:
    """Return the destination of a short link: the campaign's site with the slug and, if given, the channel's tag.

    Host, path, fragment and parameters are the destination's own. `forwarded` are the visitor's parameters
    (`list_forwardable`); those that the destination already has are not added. `sub_id` is normalized
    (`domain.clicks.subid`).
    """
    parts = urlsplit(destination_url)
    own = {name for name, _ in _parameters(parts.query)}
    added = [part for part in forwarded if _name(part) not in own]
    query = "&".join([*filter(None, [parts.query]), *added])
    site = urlunsplit(parts._replace(query=query))
    site = url(slug=slug, format=LinkFormat.Query, destination_url=site, base_url="")
    if sub_id is None:
        return site
    parts = urlsplit(site)
    return urlunsplit(parts._replace(query=_with_parameter(parts.query, TAG_PARAMETERS[0], sub_id)))


def list_forwardable(query: str, *, reserved: Collection[str]) -> list[str]:
    """Return the parameters of a query that may be forwarded, unchanged except for necessary percent-encoding.

    `query` is UTF-8 with other bytes escaped as surrogates. Parameters whose names (lower case) are `reserved`, those
    with control characters, and everything beyond 100 parameters or 4,000 characters are left out.
    """
    forwarded: list[str] = []
    remaining = _MAX_FORWARDED_CHARS
    for part in _ESCAPED_AMPERSAND.sub("&", query).split("&")[:_MAX_PARAMETERS]:
        encoded = quote(_REST_OF_AMPERSAND.sub("", part), safe=_SAFE_IN_QUERY, errors="surrogateescape")
        name = _name(encoded)
        remaining -= len(encoded) + 1
        if remaining < 0:
            break
        if name.strip() and name.lower() not in reserved and not _CONTROL.search(unquote_plus(encoded)):
            forwarded.append(encoded)
    return forwarded


def slugs_from_url(address: object, parameters: Iterable[str]) -> list[str]:
    """Return the slugs that a URL carries in order of priority, each once.

    Those of the parameters come first, in the order of `parameters`, then that of a path `/via/SLUG`.
    """
    return list(dict.fromkeys(slugs_from_fields(fields_from_url(address), parameters)))


def texts_from_url(address: object, parameters: Iterable[str]) -> list[str]:
    """Return the texts of a URL that may be slugs or tokens of a former system, in the order of `slugs_from_url`."""
    return list(dict.fromkeys(texts_from_fields(fields_from_url(address), parameters)))


def fields_from_url(address: object) -> dict[str, str]:
    """Return the parameters in the query and the fragment of a URL or a path, by their names in lower case.

    PATH_FIELD is the SLUG of a path `/via/SLUG`. Of equal names the first that is not blank counts.
    """
    if not isinstance(address, str):
        return {}
    try:
        parts = urlsplit(_ESCAPED_AMPERSAND.sub("&", address))
    except ValueError:
        return {}
    fields: dict[str, str] = {}
    for name, value in _parameters(f"{parts.query}&{parts.fragment.rpartition('?')[2]}"):
        if value.strip():
            fields.setdefault(name.lower(), value.strip())
    in_path = _IN_PATH.search(parts.path) or _IN_PATH.search(parts.fragment)
    return fields | ({PATH_FIELD: in_path[1]} if in_path else {})


def slugs_from_fields(fields: Mapping[str, str], names: Iterable[str]) -> Iterator[str]:
    """Yield the slugs in the fields with these names (lower case), in the order of the names.

    Names of fields are matched in any case and without the rest of an escaped `&`; PATH_FIELD counts last.
    """
    for text in texts_from_fields(fields, names):
        slug = slugs.read(text)
        if slug is not None:
            yield slug


def texts_from_fields(fields: Mapping[str, str], names: Iterable[str]) -> Iterator[str]:
    """Yield the texts of the fields with these names that are not blank, in the order of `slugs_from_fields`."""
    by_name: dict[str, str] = {}
    for name, value in fields.items():
        by_name.setdefault(_REST_OF_AMPERSAND.sub("", name.strip().lower()), value)
    for name in (*names, PATH_FIELD):
        text = by_name.get(name, "").strip()
        if text:
            yield text


def query_names(url: str) -> Iterator[str]:
    """Yield the names of a URL's parameters in order; none for an invalid URL."""
    try:
        query = urlsplit(_ESCAPED_AMPERSAND.sub("&", url)).query
    except ValueError:
        return
    for part in query.split("&"):
        yield _name(part)


def max_links(model: str) -> int:
    """Return how many links, including the default one, an affiliate of a program of this model may have."""
    return _MAX_ON_SALES if statuses.pays_on_sale(model) else 1


def _parameters(query: str) -> Iterator[tuple[str, str]]:
    for part in query.split("&")[:_MAX_PARAMETERS]:
        yield _name(part), unquote_plus(part.partition("=")[2])


def _name(part: str) -> str:
    """Return the name of a parameter, decoded and without the rest of an escaped `&`."""
    return _REST_OF_AMPERSAND.sub("", unquote_plus(part.partition("=")[0]))


def _with_slug(parameters: str, slug: str) -> str:
    return _with_parameter(parameters, _PARAMETER, slug)


def _with_parameter(parameters: str, name: str, value: str) -> str:
    # Edited as text: parsing and serializing would change the brand's spelling.
    others = [part for part in parameters.split("&") if part and part.partition("=")[0] != name]
    return "&".join([*others, f"{name}={value}"])
