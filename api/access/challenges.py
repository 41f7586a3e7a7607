"""The WWW-Authenticate header of a 401: which credential the service takes, and whether the sent one was refused.

It depends on the request alone, never on what is stored, so it does not tell whether a key exists. Signed routes always
have the plain challenge: all their 401s are the same, whether the key or the signature was refused.
Source: RFC 9110, section 11.6.1; RFC 6750, section 3.
"""

from flask import Response, g, request

from api.access import callers

_CHALLENGE = 'Bearer realm="finderfee"'
_REFUSED = f'{_CHALLENGE}, error="invalid_token"'


def add_challenge(response: Response) -> None:
    """Add the challenge to a 401 that has none."""
    if "WWW-Authenticate" not in response.headers:
        has_credential = bool(callers.read_bearer(request, takes_legacy_header=True))
        is_refused = has_credential and not _is_signed_route()
        response.headers["WWW-Authenticate"] = _REFUSED if is_refused else _CHALLENGE


def _is_signed_route() -> bool:
    return "operation" in g and g.operation.guard.audience == "signed"
