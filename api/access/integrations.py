"""Programs that act for a brand on their own routes: with a key, or authorized by a person at an identity provider.

A program's token is accepted by /mcp and by no other route. Its operations are requested within this process with the
caller in the WSGI environment, which no header from the network can set.
Source: core spec, "Callers"; RFC 6750, RFC 9728; Model Context Protocol, "Authorization".
"""

import functools
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from flask import Request, Response, after_this_request

import settings
from adapters import clock
from adapters.identity import tokens
from adapters.identity.tokens import Claims
from api.access import callers
from api.access.callers import Caller, RejectedKey
from domain.organization.access import Role
from domain.refusals import Refused
from models import db
from pipelines.organization import sign_in
from pipelines.organization.team import changes

_ENVIRON_KEY = "finderfee.program"
_METADATA = "/.well-known/oauth-protected-resource/mcp"


def find_caller(request: Request) -> Caller:
    """Return the caller of a program. Its key may be in X-Service-Api-Key, for relays that use Authorization
    themselves.

    Raises Refused: 401 for an unknown caller; 403 for a person's token, and for a token without any of our scopes.
    """
    credential = callers.read_bearer(request, takes_legacy_header=True)
    caller = _find_by_token(credential or "") if callers.is_token(credential) else callers.find_key_holder(credential)
    if isinstance(caller, RejectedKey):
        raise refuse_unknown()
    if caller.scope == "none":
        raise refuse_missing_scope(tokens.READ_SCOPE)
    return caller


def internal_environ(caller: Caller) -> Mapping[str, object]:
    """Return the environment entries of an internal request for a caller; none for a key, which is sent again."""
    return {_ENVIRON_KEY: caller} if caller.kind == "oauth" else {}


def caller_from_environ(environ: Mapping[str, Any]) -> Caller | None:
    """Return the program that this internal request is for; None for a request from the network."""
    caller: Caller | None = environ.get(_ENVIRON_KEY)
    return caller


def refuse_unknown() -> Refused:
    """Return the refusal of an unknown program; the answer's challenge says how to authenticate."""
    has_issuer = settings.current().identity.mcp_issuer is not None
    _challenge(f'{_metadata_parameter()}, scope="{tokens.READ_SCOPE}"' if has_issuer else 'realm="finderfee"')
    return Refused(401)


def refuse_missing_scope(scope: str) -> Refused:
    """Return the refusal of a program that lacks a scope; the answer's challenge names the scope to request."""
    where = f", {_metadata_parameter()}" if settings.current().identity.mcp_issuer is not None else ""
    _challenge(f'error="insufficient_scope", scope="{scope}"{where}')
    return Refused(
        403, "insufficient_scope", f"This program was not given the scope {scope}. Authorize it again with {scope}."
    )


def _find_by_token(token: str) -> Caller | RejectedKey:
    caller = callers.find_cached(token, "oauth", _find)
    if caller is None and (tokens.verify_dashboard(token) is not None or tokens.verify_affiliate(token) is not None):
        raise Refused(403, "forbidden", "This needs a program with an API key; a person's session cannot do it.")
    return caller or RejectedKey("key_missing")


def _find(token: str) -> tuple[Caller | None, float]:
    """Return the caller of a program's token and for how many seconds. Budget: 1 statement, 3 for a new person."""
    claims = tokens.verify_program(token)
    if claims is None or claims.person.organization_id is None:
        return None, 0
    person, organization_id, role = claims.person, claims.person.organization_id, Role(claims.person.role or "")
    with db.unit_of_work(organization_id):
        member = sign_in.sign_program_in(
            organization_id=organization_id,
            subject=_subject(person.subject),
            email=person.email,
            role=role,
            now=clock.now(),
            issued_at=_issue_time(person),
        )
    if member is None or member.id is None:
        return None, 0
    caller = Caller(
        kind="oauth",
        id=member.id,
        organization_id=organization_id,
        member_id=member.id,
        label=person.email or person.subject,
        scope=_scope(claims.scopes),
        role=role,
        is_email_verified=True,
        is_interactive=False,
        is_test=False,
        plan_tier=member.plan_tier,
        subscription_status=member.subscription_status,
        trial_ends_at=member.trial_ends_at,
        gateways=member.gateways,
    )
    return caller, person.expires_at_s - clock.now().timestamp()


def _issue_time(person: Claims) -> datetime | None:
    """Return when a token was issued, where the team list and not a provider says who a member is."""
    if not changes.is_managed_here() or person.signed_in_at_s is None:
        return None
    return datetime.fromtimestamp(person.signed_in_at_s, UTC)


def _scope(scopes: frozenset[str]) -> str:
    if tokens.WRITE_SCOPE in scopes:
        return "read_write"
    return "read" if tokens.READ_SCOPE in scopes else "none"


def _subject(subject: str) -> str:
    """Return the subject that identifies a person here: another issuer may use it for another person."""
    config = settings.current().identity
    return subject if config.mcp_issuer == config.dashboard_issuer else f"mcp:{subject}"


def _metadata_parameter() -> str:
    return f'resource_metadata="{settings.current().web.url}{_METADATA}"'


def _challenge(parameters: str) -> None:
    after_this_request(functools.partial(_with_challenge, f"Bearer {parameters}"))


def _with_challenge(challenge: str, answer: Response) -> Response:
    answer.headers["WWW-Authenticate"] = challenge
    return answer
