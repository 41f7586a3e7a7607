"""Which texts are origins of pages that may frame ours, and how browsers write them.

An origin is compared by equality and in no other way, so only what a browser would write itself is taken: nothing is
trimmed, lowered or translated, but for the port that the scheme has anyway.
"""

import re
from collections.abc import Sequence

from domain.organization import host_names
from domain.refused import Refused

#: How many origins may frame one page.
MOST = 10

_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?")
_LARGEST_PORT = 65535
_USUAL_PORTS = {"http": 80, "https": 443}
# Browsers look at the addresses of no other machine in the policy that names who may frame.
_THIS_MACHINE = ("localhost", "127.0.0.1")


def normalized(text: str) -> str | None:
    """Return an origin as browsers write it, None for what is none: `https://host`, with a port where it is not 443.

    Hosts are names of at least two labels in lower case ASCII (`xn--` for others), and `localhost` and 127.0.0.1, which
    also may be http.
    """
    found = _ORIGIN.fullmatch(text)
    if found is None:
        return None
    scheme, host, port = found.groups()
    is_here = host in _THIS_MACHINE
    if not (is_here or (scheme == "https" and host_names.is_host_name(host))):
        return None
    if port is None or int(port) == _USUAL_PORTS[scheme]:
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{port}" if int(port) <= _LARGEST_PORT else None


def allowed(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the origins that are meant, each once and in the order given.

    Raises Refused 400: too_many_origins, invalid_origin (also for none at all).
    """
    if len(texts) > MOST:
        raise too_many()
    if not texts:
        raise _invalid("Name at least one origin whose pages may show it.")
    origins = [_needed(text) for text in texts]
    return tuple(dict.fromkeys(origins))


def too_many() -> Refused:
    """Return the refusal of more origins than there may be."""
    return Refused(400, "too_many_origins", f"At most {MOST} origins may show it.", field="allowedOrigins")


def _needed(text: str) -> str:
    origin = normalized(text)
    if origin is None:
        message = f"{text[:200]!r} is not an origin such as https://app.example.com: lower case, no path, no wildcard."
        raise _invalid(message)
    return origin


def _invalid(message: str) -> Refused:
    return Refused(400, "invalid_origin", message, field="allowedOrigins")
