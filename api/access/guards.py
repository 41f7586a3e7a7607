"""Who may call a route. Every route declares a Guard; the checks run in one fixed order before the route does.

Order on signed routes: body size (413), key and signature (401), rate limit (429), scope (403), plan (402), gateway
(409).
Order on the others: body size, caller (401), rate limit (429), scope, role and verified email (403), plan (402), and
last whether the login is fresh (403), so that nobody logs in again to be refused for another reason.
Source: core spec, section 5; tracking spec, section 5; rows of the endpoint list.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from flask import current_app, g, request
from werkzeug.exceptions import RequestEntityTooLarge

from adapters import clock
from api.access import callers, frames, integrations, persons, signatures, strangers, subscriptions
from api.access.callers import Caller, NotLetIn
from api.access.frames import FrameViewer
from api.access.persons import Person
from domain.organization import access, plans
from domain.organization.access import Role
from domain.refused import Refused
from pipelines.organization.sign_in import SignedInAffiliate

KIB = 1024

#: How many seconds ago one may have logged in to move money, or to make what can speak for the organization.
FRESH_S = 3600

Audience = Literal["brand", "dashboard", "affiliate", "embed", "operator", "signed", "integration", "public"]


@dataclass(frozen=True, slots=True)
class Guard:
    """What a route asks of its caller.

    `audience`: "brand" is an API key or a person at the dashboard, "dashboard" such a person alone (a valid key gets
    403), "affiliate" one who signed in, "embed" one in the frame of a brand's site, "operator" who runs the
    installation, "signed" a key with a signature, "integration" a program with a key or with a token of its own (one of
    somebody who signed in gets 403), "public" anybody. A program needs `scope`, and its token `role` as well; a person
    at the dashboard needs `role` (None: any who may read, or any who may write) and with `verified_email` an email that
    is theirs; `hides_role` refuses a wrong role without a body. `needs_login` takes only a session that somebody logged
    in to, and refuses programs and other tokens before it looks at anything else of theirs. `fresh_s` is how many
    seconds ago that may have been, where it is known (None: any time). `plan` (None: every plan) holds for programs and
    in frames, with `plan_for_people` for them as well, `needs_active_subscription` for everybody. `bucket` names the
    rate limit; sizes in bytes.
    A route that `counts_itself` counts in its bucket together with what it sends to the same server.
    `accepts_any_trial` and `needs_no_gateway` (which names what the route records) are rules of the signed ingest
    routes, `open_cors` lets any page read,
    `closed_cors` none of another origin, not even our own surfaces.
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
    needs_no_gateway: subscriptions.Recorded | None = None
    open_cors: bool = False
    closed_cors: bool = False

    @property
    def least_role(self) -> Role:
        """The least role that passes: a Viewer reads and never writes."""
        return self.role or (Role.Manager if self.scope == "read_write" else Role.Viewer)


#: A sale or a lead from the brand's own servers: signed, and refused while a gateway brings them by itself.
SIGNED_INGEST = Guard(
    audience="signed",
    scope="read_write",
    plan=plans.Tier.Starter,
    bucket="s2s",
    takes_legacy_header=True,
    accepts_any_trial=True,
    needs_no_gateway="sales",
)
#: A lead from the same servers.
SIGNED_LEADS = replace(SIGNED_INGEST, needs_no_gateway="leads")


def check(guard: Guard) -> None:
    """Let the caller of this request in, or raise Refused."""
    _check_size(guard)
    if guard.audience == "public":
        _check_limit(guard, strangers.network())
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


def may(guard: Guard, person: Person) -> bool:
    """Say whether somebody at the pages would be let in, were they to ask now or after they logged in again.

    Counts nothing.
    """
    if guard.audience == "public":
        return True
    try:
        if guard.audience == "affiliate" and person.account is not None:
            _check_email(guard, person.account.is_email_verified)
        elif guard.audience in ("brand", "dashboard") and person.member is not None:
            _check_standing(guard, person.member)
        else:
            return guard.audience == "operator" and person.kind == "operator"
    except Refused:
        return False
    return True


def caller() -> Caller:
    """Return whom the guard let in to speak for an organization."""
    found: Caller = g.caller
    return found


def organization_id() -> UUID:
    """Return the organization of the caller."""
    return caller().organization_id


def account() -> SignedInAffiliate:
    """Return the affiliate whom the guard let in."""
    found: SignedInAffiliate = g.account
    return found


def viewer() -> FrameViewer:
    """Return the affiliate in a frame whom the guard let in."""
    found: FrameViewer = g.viewer
    return found


def operator() -> Person:
    """Return the operator whom the guard let in."""
    found: Person = g.operator
    return found


def check_standing(guard: Guard) -> None:
    """Refuse the caller what `guard` refuses who is within its limit: scope, role, email, plan. Counts nothing."""
    _check_standing(guard, caller())


def check_scope(guard: Guard) -> None:
    """Refuse (403) the caller who lacks the scope of `guard`."""
    _check_scope(guard, caller())


def count(bucket: str) -> None:
    """Count this request of the caller, on a route that counts itself. Raises Refused (429)."""
    if not current_app.extensions["limiter"].allows(bucket, str(caller().member_id)):
        raise Refused(429)


def check_fresh_login(signed_in_at: datetime | None, *, within_s: int) -> None:
    """Refuse a person who is known to have logged in longer ago than `within_s`; a key never did."""
    if signed_in_at is not None and clock.now() - signed_in_at > timedelta(seconds=within_s):
        message = f"You logged in more than {within_s // 60} minutes ago. Log in again, then repeat this."
        raise Refused(403, "fresh_login_required", message)


def caller_name() -> str:
    """Return what tells this caller's cursors and keys from everybody else's."""
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
    # A chunked body shows its size only when it is read, and is cut off without a word at the length set here.
    request.max_content_length = guard.max_body_bytes + 1
    if (request.content_length or 0) > guard.max_body_bytes or len(request.get_data(cache=True)) > guard.max_body_bytes:
        raise RequestEntityTooLarge


def _check_account(guard: Guard) -> None:
    person = persons.calling(request.environ)
    found = person.account if person else callers.account(callers.bearer(request))
    if found is None:
        raise Refused(401)
    _check_limit(guard, f"account {found.subject}")
    _check_email(guard, found.is_email_verified)
    _check_fresh(guard, found.signed_in_at)
    g.account = found


def _check_viewer(guard: Guard) -> None:
    found = None if persons.calling(request.environ) else frames.viewer(callers.bearer(request))
    if found is None:
        raise Refused(401)
    _check_limit(guard, f"embed {found.token_id}")
    # Our page in the frame asks its own origin; whoever took the token to another page does not.
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise Refused(403, "forbidden", "An embed token is for the page of this service alone.")
    if guard.plan is not None:
        subscriptions.check_plan(guard.plan, found)
    g.viewer = found


def _check_operator(guard: Guard) -> None:
    # A person of the console's pages: nobody is an operator by a key or a token of the network.
    person = persons.calling(request.environ)
    if person is None or person.kind != "operator":
        raise Refused(401)
    _check_limit(guard, f"operator {person.subject}")
    _check_fresh(guard, person.signed_in_at)
    g.operator = person


def _check_signed(guard: Guard) -> None:
    holder = signatures.signed_by(
        callers.key_holder(callers.bearer(request, takes_legacy_header=guard.takes_legacy_header))
    )
    _check_limit(guard, strangers.network())
    _check_scope(guard, holder)
    _check_plan(guard, holder)
    if guard.needs_no_gateway is not None:
        subscriptions.check_no_gateway(holder.gateways, guard.needs_no_gateway)
    g.caller = holder


def _check_integration(guard: Guard) -> None:
    found = integrations.calling(request)
    _check_limit(guard, str(found.member_id))
    _check_standing(guard, found)
    g.caller = found


def _check_brand(guard: Guard) -> None:
    found = _brand_caller()
    if found is None or isinstance(found, NotLetIn):
        raise Refused(401)
    _check_limit(guard, str(found.member_id))
    _check_standing(guard, found)
    _check_fresh(guard, found.signed_in_at)
    g.caller = found


def _brand_caller() -> Caller | NotLetIn | None:
    person = persons.calling(request.environ)
    if person is not None:
        return person.member
    program = integrations.carried(request.environ)
    if program is not None:
        return program
    sent = callers.bearer(request)
    return callers.member(sent) if callers.is_token(sent) else callers.key_holder(sent)


def _check_standing(guard: Guard, found: Caller) -> None:
    _check_login(guard, found)
    _check_is_person(guard, found)
    _check_scope(guard, found)
    _check_role(guard, found)
    _check_email(guard, found.is_email_verified)
    _check_plan(guard, found)
    _check_subscription(guard, found)


def _check_limit(guard: Guard, name: str) -> None:
    if guard.bucket and not guard.counts_itself and not current_app.extensions["limiter"].allows(guard.bucket, name):
        raise Refused(429)


def _check_login(guard: Guard, found: Caller) -> None:
    if guard.needs_login and not found.is_interactive:
        message = "Only a person who logged in to the dashboard can do this; an API key or another token cannot."
        raise Refused(403, "interactive_session_required", message)


def _check_is_person(guard: Guard, found: Caller) -> None:
    if guard.audience == "dashboard" and found.is_integration:
        raise Refused(403, "forbidden", "This needs a person's dashboard session; an API key cannot do it.")


def _check_scope(guard: Guard, found: Caller) -> None:
    if guard.scope == "read_write" and found.scope != "read_write":
        raise Refused(403, "forbidden", "This API key lacks the scope read_write.")


def _check_role(guard: Guard, found: Caller) -> None:
    if access.at_least(found.role, guard.least_role):
        return
    if guard.hides_role:
        raise Refused(403)
    raise Refused(403, "forbidden", f"This needs the role {guard.least_role} or a higher one; yours is {found.role}.")


def _check_email(guard: Guard, is_email_verified: bool) -> None:
    if guard.verified_email and not is_email_verified:
        raise Refused(403, "email_verification_required", "Verify your email address first, then repeat this.")


def _check_fresh(guard: Guard, signed_in_at: datetime | None) -> None:
    if guard.fresh_s is not None:
        check_fresh_login(signed_in_at, within_s=guard.fresh_s)


def _check_plan(guard: Guard, found: Caller) -> None:
    if guard.plan is not None and (found.is_integration or guard.plan_for_people):
        subscriptions.check_plan(guard.plan, found, any_trial=guard.accepts_any_trial)


def _check_subscription(guard: Guard, found: Caller) -> None:
    if guard.needs_active_subscription:
        subscriptions.check_active(found)
