"""Programs that work for a brand at routes of their own: with a key, or let in by a person at an identity provider.

A program's token is for /mcp and for no other route. The operations that it has done are asked for within this process,
and carry the caller that the door let in; no header of the network gets there.
Source: core spec, "Callers"; RFC 6750, RFC 9728; Model Context Protocol, "Authorization".
"""

import functools
from collections.abc import Mapping
from typing import Any

from flask import Request, Response, after_this_request

import settings
from adapters import clock
from adapters.identity import tokens
from api.access import callers
from api.access.callers import Caller, NotLetIn
from domain.organization.access import Role
from domain.refused import Refused
from models import db
from pipelines.organization import sign_in

_ENVIRON_KEY = "finderfee.program"
_METADATA = "/.well-known/oauth-protected-resource/mcp"


def calling(request: Request) -> Caller:
    """Return whom a program speaks for. Its key may come in X-Service-Api-Key, where a relay needs Authorization.

    Raises Refused: 401 for nobody we know; 403 for somebody who signed in, and is no program, and for a token that lets
    a program do nothing here.
    """
    sent = callers.bearer(request, takes_legacy_header=True)
    found = _of_token(sent or "") if callers.is_token(sent) else callers.key_holder(sent)
    if isinstance(found, NotLetIn):
        raise unknown()
    if found.scope == "none":
        raise lacking(tokens.READ_SCOPE)
    return found


def to_carry(caller: Caller) -> Mapping[str, object]:
    """Return what a request that is made within this process carries of a caller; a key says by itself who it is."""
    return {_ENVIRON_KEY: caller} if caller.kind == "oauth" else {}


def carried(environ: Mapping[str, Any]) -> Caller | None:
    """Return for which program this request is made; None for every request that came over the network."""
    found: Caller | None = environ.get(_ENVIRON_KEY)
    return found


def unknown() -> Refused:
    """Return the refusal of a program that nobody knows; the answer says what it should have sent."""
    is_told = settings.current().identity.mcp_issuer is not None
    _challenge(f'{_where()}, scope="{tokens.READ_SCOPE}"' if is_told else 'realm="finderfee"')
    return Refused(401)


def lacking(scope: str) -> Refused:
    """Return the refusal of a program whose person has to let it do more; the answer says what to ask them for."""
    where = f", {_where()}" if settings.current().identity.mcp_issuer is not None else ""
    _challenge(f'error="insufficient_scope", scope="{scope}"{where}')
    return Refused(403, "insufficient_scope", f"The person who let this program in did not give it {scope}.")


def _of_token(token: str) -> Caller | NotLetIn:
    found = callers.looked_up(token, "oauth", _find)
    if found is None and (tokens.dashboard(token) is not None or tokens.affiliate(token) is not None):
        raise Refused(403, "forbidden", "This is for programs with an API key; a person's session cannot do it.")
    return found or NotLetIn("key_missing")


def _find(token: str) -> tuple[Caller | None, float]:
    """Return whom a program's token speaks for, and for how many seconds. Budget: 1 statement, a new person's 3."""
    claims = tokens.program(token)
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


def _scope(given: frozenset[str]) -> str:
    if tokens.WRITE_SCOPE in given:
        return "read_write"
    return "read" if tokens.READ_SCOPE in given else "none"


def _subject(subject: str) -> str:
    """Return by which subject we know a person: another issuer may call somebody else the same."""
    chosen = settings.current().identity
    return subject if chosen.mcp_issuer == chosen.dashboard_issuer else f"mcp:{subject}"


def _where() -> str:
    return f'resource_metadata="{settings.current().web.url}{_METADATA}"'


def _challenge(said: str) -> None:
    after_this_request(functools.partial(_with_challenge, f"Bearer {said}"))


def _with_challenge(challenge: str, answer: Response) -> Response:
    answer.headers["WWW-Authenticate"] = challenge
    return answer
