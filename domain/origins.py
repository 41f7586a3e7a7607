"""The origins of pages that may frame ours, in the spelling of browsers.

Origins are compared by equality only, so only a browser's own spelling is accepted: nothing is trimmed, lowered or
translated, except that the scheme's default port is dropped.
"""

import re
from collections.abc import Sequence

from domain.organization import host_names
from domain.refusals import Refused

#: The maximum number of origins that may frame one page.
MAX_ORIGINS = 10

_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?")
_MAX_PORT = 65535
_DEFAULT_PORTS = {"http": 80, "https": 443}
# In a frame-ancestors policy browsers accept only these names and addresses of a local machine.
_LOCAL_HOSTS = ("localhost", "127.0.0.1")


def normalize(text: str) -> str | None:
    """Return an origin as browsers write it: `https://host`, with a port if it is not 443. None for an invalid one.

    Hosts are names of at least two labels in lower case ASCII (`xn--` for others), or `localhost` and 127.0.0.1, which
    may also use http.
    """
    match = _ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme, host, port = match.groups()
    is_local = host in _LOCAL_HOSTS
    if not (is_local or (scheme == "https" and host_names.is_host_name(host))):
        return None
    if port is None or int(port) == _DEFAULT_PORTS[scheme]:
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{port}" if int(port) <= _MAX_PORT else None


def validate(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the valid origins, each once and in the order given.

    Raises Refused 400: too_many_origins, invalid_origin (also if there is no origin).
    """
    if len(texts) > MAX_ORIGINS:
        raise refuse_too_many()
    if not texts:
        raise _refuse_invalid("Name at least one origin whose pages may frame it.")
    origins = [_require_origin(text) for text in texts]
    return tuple(dict.fromkeys(origins))


def refuse_too_many() -> Refused:
    """Return the refusal of too many origins."""
    return Refused(400, "too_many_origins", f"At most {MAX_ORIGINS} origins may frame it.", field="allowedOrigins")


def _require_origin(text: str) -> str:
    origin = normalize(text)
    if origin is None:
        message = f"{text[:200]!r} is not an origin such as https://app.example.com: lower case, no path, no wildcard."
        raise _refuse_invalid(message)
    return origin


def _refuse_invalid(message: str) -> Refused:
    return Refused(400, "invalid_origin", message, field="allowedOrigins")
