"""What a tracking link looks like when it is shared, and how many of them an affiliate may have.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits"; tracking spec, short links.
"""

from urllib.parse import urlsplit, urlunsplit

from domain import statuses
from domain.statuses import LinkFormat

_PARAMETER = "via"
_TAG_PARAMETER = "subId"
_MOST_ON_SALES = 20


def url(*, slug: str, format: str, destination_url: str | None, base_url: str, program_id: str | None = None) -> str:
    """Return the address to share: `base_url` is ours, `destination_url` the site that the campaign promotes.

    `program_id` is for a short link whose slug alone leads to another campaign. Without a destination every format is
    Short. Parameters and fragment of the destination stay, but for a `via` of its own. Raises ValueError for a format
    that doesn't exist.
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


def landing(*, slug: str, destination_url: str, sub_id: str | None) -> str:
    """Return where a short link leads: the campaign's site with the slug and, if there is one, the channel's tag.

    Host, path, fragment and other parameters are the destination's own. `sub_id` is normalized (`domain.clicks.subid`).
    """
    site = url(slug=slug, format=LinkFormat.Query, destination_url=destination_url, base_url="")
    if sub_id is None:
        return site
    parts = urlsplit(site)
    return urlunsplit(parts._replace(query=_with(parts.query, _TAG_PARAMETER, sub_id)))


def most(model: str) -> int:
    """Return how many links, the default one included, an affiliate of a program of this model may have."""
    return _MOST_ON_SALES if statuses.pays_on_sale(model) else 1


def _with_slug(parameters: str, slug: str) -> str:
    return _with(parameters, _PARAMETER, slug)


def _with(parameters: str, name: str, value: str) -> str:
    # Put together as text: parsing and printing again would change what the brand wrote.
    kept = [part for part in parameters.split("&") if part and part.partition("=")[0] != name]
    return "&".join([*kept, f"{name}={value}"])
