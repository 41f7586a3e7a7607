"""What a tracking link looks like when it is shared, and how many of them an affiliate may have.

Source: core spec, "Affiliate" (tracking link) and section 8 "Limits"; tracking spec, short links.
"""

from urllib.parse import urlsplit, urlunsplit

from domain import statuses
from domain.statuses import LinkFormat

_PARAMETER = "via"
_MOST_ON_SALES = 20


def url(*, slug: str, format: str, destination_url: str | None, base_url: str) -> str:
    """Return the address to share: `base_url` is ours, `destination_url` the site that the campaign promotes.

    Without a destination every format is Short. Parameters and fragment of the destination stay, but for a `via` of
    its own. Raises ValueError for a format that doesn't exist.
    """
    if format == LinkFormat.Short or not destination_url:
        return f"{base_url}/r/{slug}"
    kind = LinkFormat(format)
    parts = urlsplit(destination_url)
    if kind == LinkFormat.Query:
        parts = parts._replace(query=_with_slug(parts.query, slug), path=parts.path or "/")
    elif kind == LinkFormat.Path:
        parts = parts._replace(path=f"{parts.path.rstrip('/')}/{_PARAMETER}/{slug}")
    else:
        parts = parts._replace(fragment=_with_slug(parts.fragment, slug))
    return urlunsplit(parts)


def most(model: str) -> int:
    """Return how many links, the default one included, an affiliate of a program of this model may have."""
    return _MOST_ON_SALES if statuses.pays_on_sale(model) else 1


def _with_slug(parameters: str, slug: str) -> str:
    # Put together as text: parsing and printing again would change what the brand wrote.
    kept = [part for part in parameters.split("&") if part and part.partition("=")[0] != _PARAMETER]
    return "&".join([*kept, f"{_PARAMETER}={slug}"])
