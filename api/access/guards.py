"""Access checks of routes. Every route declares a Guard; its checks run in a fixed order before the view.

Order on signed routes: body size (413), key and signature (401), rate limit (429), scope (403), plan (402), gateway
(409).
Order on the others: body size, caller (401), rate limit (429), scope, role and verified email (403), plan (402), and
last the age of the login (403), so that a person who logs in again is not refused for another reason afterwards.
Source: core spec, section 5; tracking spec, section 5; rows of the endpoint list.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from flask import current_app, g, request
from werkzeug.exceptions import RequestEntityTooLarge

from api.access import (
    callers,
    embed_viewers,
    integrations,
    login_age,
    member_callers,
    persons,
    signatures,
    subscriptions,
    unknown_senders,
)
from api.access.callers import Caller, RejectedKey
from api.access.embed_viewers import FrameViewer
from api.access.persons import Person
from domain.organization import access, plans
from domain.organization.access import Role
from domain.refusals import Refused
from pipelines.organization.sign_in import SignedInAffiliate

KIB = 1024

#: The maximum age of a login, in seconds, where a guard requires a fresh one.
FRESH_S = login_age.FRESH_S

Audience = Literal["brand", "dashboard", "affiliate", "embed", "operator", "signed", "integration", "public"]


@dataclass(frozen=True, slots=True)
class Guard:
    """The requirements of a route for its caller.

    `audience`: "brand" is an API key or a dashboard user; "dashboard" only a dashboard user (a valid key gets 403);
    "affiliate" an affiliate who signed in; "embed" the viewer of an embedded page; "operator" the operator of the
    installation; "signed" a key with a signature; "integration" a program with a key or with its own token (a token of
    a person gets 403); "public" any caller.
    A program needs `scope`, and its token also `role`. A dashboard user needs `role` (None: any role that may read, or
    write) and, with `verified_email`, a verified email; `hides_role` refuses a wrong role without a body.
    `needs_login` accepts only a session with a login, and refuses programs and other tokens before any other check.
    `fresh_s` is the maximum age of that login in seconds, if it is known (None: any age).
    `plan` (None: every plan) applies to programs and embedded pages, with `plan_for_people` also to people;
    `needs_active_subscription` applies to all. `bucket` names the rate limit; sizes are in bytes.
    A route that `counts_itself` counts the request in the round trip of its own call to the same server.
    `accepts_any_trial` and `needs_no_gateway` (what the route records) are rules of the signed ingest routes.
    A member whose organization requires a second factor passes without one only `without_second_factor`.
    `open_cors` lets pages of any origin read the answer, `closed_cors` those of no other origin, not even our own.
    """

    audience: Audience
    scope: Literal["read", "read_write"] = "read"
    role: Role | None = None
    verified_email: bool = False
    hides_role: bool = False
    needs_login: bool = False
    fresh_s: int | None = None
    plan: plans.Tier | None = None
    plan_for_people: bool = False
    needs_active_subscription: bool = False
    bucket: str | None = "standard"
    counts_itself: bool = False
    max_body_bytes: int = 64 * KIB
    takes_legacy_header: bool = False
    accepts_any_trial: bool = False
    needs_no_gateway: subscriptions.IngestKind | None = None
    open_cors: bool = False
    closed_cors: bool = False
    without_second_factor: bool = False

    @property
    def least_role(self) -> Role:
        """The lowest role that passes: a Viewer reads and never writes."""
        return self.role or (Role.Manager if self.scope == "read_write" else Role.Viewer)


#: A signed sale from the brand's own servers, refused while a connected gateway reports sales.
SIGNED_INGEST = Guard(
    audience="signed",
    scope="read_write",
    plan=plans.Tier.Starter,
    bucket="s2s",
    takes_legacy_header=True,
    accepts_any_trial=True,
    needs_no_gateway="sales",
)
#: A signed lead from the same servers.
SIGNED_LEADS = replace(SIGNED_INGEST, needs_no_gateway="leads")


def check(guard: Guard) -> None:
    """Check the caller of this request. Raises Refused."""
    _check_size(guard)
    if guard.audience == "public":
        _check_limit(guard, unknown_senders.sender_network())
    elif guard.audience == "affiliate":
        _check_account(guard)
    elif guard.audience == "embed":
        _check_viewer(guard)
    elif guard.audience == "operator":
        _check_operator(guard)
    elif guard.audience == "signed":
        _check_signed(guard)
    elif guard.audience == "integration":
        _check_integration(guard)
    else:
        _check_brand(guard)


def is_allowed(guard: Guard, person: Person) -> bool:
    """Return whether a person at the pages passes a guard now or after a new login. Counts no request."""
    if guard.audience == "public":
        return True
    try:
        if guard.audience == "affiliate" and person.account is not None:
            _check_email(guard, person.account.is_email_verified)
        elif guard.audience in ("brand", "dashboard") and person.member is not None:
            _check_permissions(guard, person.member)
        else:
            return guard.audience == "operator" and person.kind == "operator"
    except Refused:
        return False
    return True


def caller() -> Caller:
    """Return the caller that acts for an organization, as the guard found it."""
    caller: Caller = g.caller
    return caller


def organization_id() -> UUID:
    """Return the organization of the caller."""
    return caller().organization_id


def account() -> SignedInAffiliate:
    """Return the affiliate account that the guard found."""
    account: SignedInAffiliate = g.account
    return account


def viewer() -> FrameViewer:
    """Return the viewer of an embedded page that the guard found."""
    viewer: FrameViewer = g.viewer
    return viewer


def operator() -> Person:
    """Return the operator that the guard found."""
    operator: Person = g.operator
    return operator


def check_permissions(guard: Guard) -> None:
    """Raise Refused if the caller fails a guard's checks of login, scope, role, email or plan. Counts no request."""
    _check_permissions(guard, caller())


def check_scope(guard: Guard) -> None:
    """Raise Refused (403) if the caller lacks the scope of `guard`."""
    _check_scope(guard, caller())


def count_request(bucket: str) -> None:
    """Count this request in the caller's limit, on a route that counts itself. Raises Refused (429)."""
    if not current_app.extensions["limiter"].allows(bucket, str(caller().member_id)):
        raise Refused(429)


def caller_name() -> str:
    """Return the name that separates this caller's cursors and keys from those of others."""
    if "caller" in g:
        return str(g.caller.organization_id)
    if "operator" in g:
        return f"operator {g.operator.subject}"
    if "viewer" in g:
        return f"embed {g.viewer.affiliate_id}"
    return f"account {g.account.subject}" if "account" in g else "public"


def _check_size(guard: Guard) -> None:
    if not request.content_length and "HTTP_TRANSFER_ENCODING" not in request.environ:
        return  # without either there is no body
    # The size of a chunked body is known only after reading; a longer one is cut off silently at the length set here.
    request.max_content_length = guard.max_body_bytes + 1
    if (request.content_length or 0) > guard.max_body_bytes or len(request.get_data(cache=True)) > guard.max_body_bytes:
        raise RequestEntityTooLarge


def _check_account(guard: Guard) -> None:
    person = persons.person_from_environ(request.environ)
    account = person.account if person else member_callers.find_account(callers.read_bearer(request))
    if account is None:
        raise Refused(401)
    _check_limit(guard, f"account {account.subject}")
    _check_email(guard, account.is_email_verified)
    _check_fresh(guard, account.signed_in_at)
    g.account = account


def _check_viewer(guard: Guard) -> None:
    viewer = (
        None
        if persons.person_from_environ(request.environ)
        else embed_viewers.find_viewer(callers.read_bearer(request))
    )
    if viewer is None:
        raise Refused(401)
    _check_limit(guard, f"embed {viewer.token_id}")
    # Our embedded page calls its own origin; a page of another site that has the token does not.
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise Refused(403, "forbidden", "An embed token works only on the embedded page of this service.")
    if guard.plan is not None:
        subscriptions.check_plan(guard.plan, viewer)
    g.viewer = viewer


def _check_operator(guard: Guard) -> None:
    # Only a person at the console's pages can be an operator, never a key or a token.
    person = persons.person_from_environ(request.environ)
    if person is None or person.kind != "operator":
        raise Refused(401)
    _check_limit(guard, f"operator {person.subject}")
    _check_fresh(guard, person.signed_in_at)
    g.operator = person


def _check_signed(guard: Guard) -> None:
    holder = signatures.verify_signature(
        callers.find_key_holder(callers.read_bearer(request, takes_legacy_header=guard.takes_legacy_header))
    )
    _check_limit(guard, unknown_senders.sender_network())
    _check_scope(guard, holder)
    _check_plan(guard, holder)
    if guard.needs_no_gateway is not None:
        subscriptions.check_no_gateway(holder.gateways, guard.needs_no_gateway)
    g.caller = holder


def _check_integration(guard: Guard) -> None:
    caller = integrations.find_caller(request)
    _check_limit(guard, str(caller.member_id))
    _check_permissions(guard, caller)
    g.caller = caller


def _check_brand(guard: Guard) -> None:
    caller = _brand_caller()
    if caller is None or isinstance(caller, RejectedKey):
        raise Refused(401)
    _check_limit(guard, str(caller.member_id))
    if caller.lacks_second_factor and not guard.without_second_factor:
        message = "This organization requires two-factor authentication. Set it up under Settings, Security."
        raise Refused(403, "second_factor_required", message)
    _check_permissions(guard, caller)
    if guard.fresh_s is not None:
        login_age.check_member(caller, within_s=guard.fresh_s)
    g.caller = caller


def _brand_caller() -> Caller | RejectedKey | None:
    person = persons.person_from_environ(request.environ)
    if person is not None:
        return person.member
    program = integrations.caller_from_environ(request.environ)
    if program is not None:
        return program
    credential = callers.read_bearer(request)
    return (
        member_callers.find_member(credential) if callers.is_token(credential) else callers.find_key_holder(credential)
    )


def _check_permissions(guard: Guard, caller: Caller) -> None:
    _check_login(guard, caller)
    _check_is_person(guard, caller)
    _check_scope(guard, caller)
    _check_role(guard, caller)
    _check_email(guard, caller.is_email_verified)
    _check_plan(guard, caller)
    _check_subscription(guard, caller)


def _check_limit(guard: Guard, name: str) -> None:
    if guard.bucket and not guard.counts_itself and not current_app.extensions["limiter"].allows(guard.bucket, name):
        raise Refused(429)


def _check_login(guard: Guard, caller: Caller) -> None:
    if guard.needs_login and not caller.is_interactive:
        message = "This needs a person who logged in to the dashboard; an API key or another token cannot do it."
        raise Refused(403, "interactive_session_required", message)


def _check_is_person(guard: Guard, caller: Caller) -> None:
    if guard.audience == "dashboard" and caller.is_integration:
        raise Refused(403, "forbidden", "This needs a person's dashboard session; an API key cannot do it.")


def _check_scope(guard: Guard, caller: Caller) -> None:
    if guard.scope == "read_write" and caller.scope != "read_write":
        raise Refused(403, "forbidden", "This API key lacks the scope read_write.")


def _check_role(guard: Guard, caller: Caller) -> None:
    if access.at_least(caller.role, guard.least_role):
        return
    if guard.hides_role:
        raise Refused(403)
    raise Refused(403, "forbidden", f"This needs the role {guard.least_role} or a higher one; yours is {caller.role}.")


def _check_email(guard: Guard, is_email_verified: bool) -> None:
    if guard.verified_email and not is_email_verified:
        raise Refused(403, "email_verification_required", "Verify your email address first, then repeat this.")


def _check_fresh(guard: Guard, signed_in_at: datetime | None) -> None:
    if guard.fresh_s is not None:
        login_age.check(signed_in_at, within_s=guard.fresh_s)


def _check_plan(guard: Guard, caller: Caller) -> None:
    if guard.plan is not None and (caller.is_integration or guard.plan_for_people):
        subscriptions.check_plan(guard.plan, caller, any_trial=guard.accepts_any_trial)


def _check_subscription(guard: Guard, caller: Caller) -> None:
    if guard.needs_active_subscription:
        subscriptions.check_active(caller)
