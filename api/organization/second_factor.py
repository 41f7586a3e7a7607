"""The caller's own second factor: an authenticator app (TOTP, RFC 6238) with recovery codes.

It belongs to the person who signs in by email, and counts in all of their organizations. Where an identity provider
signs people in, it is that provider's.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from flask import Blueprint, Response, request

from adapters import clock
from api.access import callers, guards, persons
from api.access.guards import FRESH_S, Guard
from api.edge import audit, body, errors, idempotency
from api.edge.operations import object_of, operation
from domain.organization.access import Role
from domain.refusals import Refused
from models import db
from models.organization import organizations, second_factors
from pipelines.organization import second_factor, sessions
from pipelines.organization.second_factor import WAIT, CodeResult
from pipelines.organization.team import changes
from schemas.organization.second_factor import (
    NewRecoveryCodes,
    NewSecondFactor,
    SecondFactorCodeBody,
    SecondFactorRecord,
)

blueprint = Blueprint("second_factor", __name__)

_READ = Guard(audience="dashboard", needs_login=True, without_second_factor=True)
# Every role has it. A code is a login, so a session that is not fresh may not choose the app that shows codes.
_SET_UP = Guard(
    audience="dashboard",
    scope="read_write",
    role=Role.Viewer,
    verified_email=True,
    needs_login=True,
    fresh_s=FRESH_S,
    bucket="strict_write",
    without_second_factor=True,
)
_CHANGE = replace(_SET_UP, fresh_s=None)

_RECORD = SecondFactorRecord()
_CODE = SecondFactorCodeBody()
_MANAGED = "409 managed_by_identity_provider"
_CODE_REFUSALS = ("400 second_factor_code_invalid", "409 second_factor_blocked", _MANAGED)


@blueprint.get("/api/v1/second-factor")
@operation(_READ, object_of(_RECORD))
def get_second_factor() -> Mapping[str, object]:
    """Show whether the caller has a second factor, and whether their organization requires one."""
    email, organization_id = guards.caller().label, guards.organization_id()
    with db.unit_of_work(organization_id):
        factor = second_factors.find(email)
        codes = second_factors.count_recovery_codes(email)
        organization = organizations.find(organization_id)
    assert organization is not None  # the caller is its member
    enabled_at = factor.enabled_at if factor else None
    return _RECORD.dump(
        {
            "enabled": enabled_at is not None,
            "enabled_at": enabled_at,
            "recovery_codes_left": codes,
            "is_required": organization.require_second_factor,
        }
    )


@blueprint.post("/api/v1/second-factor")
@operation(
    _SET_UP,
    object_of(NewSecondFactor()),
    status=201,
    refuses=("409 second_factor_enabled", _MANAGED),
    shows_secret=True,
)
def create_second_factor() -> Response:
    """Create a secret for an authenticator app. 201 with it; it counts once `enable` has received its first code."""
    _check_signs_in_by_email()
    return idempotency.run_once(_start)


def _start() -> idempotency.Answer:
    now = clock.now()
    new = second_factor.start(guards.caller().label, now=now)
    audit.record("second_factor.started", guards.caller().member_id, now=now)
    return 201, {"secret": new.secret, "otpauthUri": new.uri}


@blueprint.post("/api/v1/second-factor/enable")
@operation(
    _SET_UP,
    object_of(NewRecoveryCodes()),
    takes=_CODE,
    refuses=(*_CODE_REFUSALS, "409 second_factor_enabled", "409 second_factor_not_started"),
    shows_secret=True,
)
def confirm_second_factor() -> Response:
    """Turn the second factor on with its first code. 200 with ten recovery codes, which are never shown again.

    All other sessions of the person end: they began without a code.
    """
    answer = _run_with_code(
        "second_factor.enabled", lambda email, code: second_factor.enable(email, code, now=clock.now())
    )
    if answer.status_code == 200:
        person = persons.person_from_environ(request.environ)
        with db.any_org_work():
            sessions.any_org_end_others(guards.caller().label, kept=person.session if person else None)
    callers.clear_cache()
    return answer


@blueprint.post("/api/v1/second-factor/recovery-codes")
@operation(_CHANGE, object_of(NewRecoveryCodes()), takes=_CODE, refuses=_CODE_REFUSALS, shows_secret=True)
def rotate_recovery_codes() -> Response:
    """Replace all recovery codes. 200 with ten new ones, which are never shown again."""
    return _run_with_code(
        "second_factor.codes_replaced",
        lambda email, code: second_factor.replace_recovery_codes(email, code, now=clock.now()),
    )


@blueprint.post("/api/v1/second-factor/disable")
@operation(_CHANGE, status=204, takes=_CODE, refuses=_CODE_REFUSALS)
def delete_second_factor() -> Response:
    """Turn the second factor off, with a code of the app or a recovery code. 204."""
    answer = _run_with_code(
        "second_factor.disabled", lambda email, code: second_factor.disable(email, code, now=clock.now())
    )
    callers.clear_cache()
    return answer


def _run_with_code(action: str, use: Callable[[str, str], list[str] | CodeResult]) -> Response:
    """Run what needs a code, once. A wrong code is refused in a transaction that commits, since it is counted."""
    _check_signs_in_by_email()
    code = body.load()["code"]

    def run() -> idempotency.Answer:
        result = use(guards.caller().label, code)
        if isinstance(result, str) and result != "right":
            refusal = code_refusal(result)
            return refusal.status, errors.envelope(refusal)
        audit.record(action, guards.caller().member_id, now=clock.now())
        return (204, None) if isinstance(result, str) else (200, {"recoveryCodes": result})

    return idempotency.run_once(run)


def code_refusal(result: CodeResult) -> Refused:
    """Return the refusal of a code that was not accepted."""
    if result == "blocked":
        minutes = int(WAIT.total_seconds() // 60)
        message = f"Too many wrong codes. Wait {minutes} minutes, then try again."
        return Refused(409, "second_factor_blocked", message, field="code")
    message = "This code is wrong, expired or already used. Enter the current code of your app, or a recovery code."
    return Refused(400, "second_factor_code_invalid", message, field="code")


def _check_signs_in_by_email() -> None:
    if not changes.signs_in_by_email():
        message = "You sign in at an identity provider. Set up two-factor authentication there."
        raise Refused(409, "managed_by_identity_provider", message)
