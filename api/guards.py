"""Who may call a route. Every route declares a Guard; the checks run in one fixed order before the route does.

Order on signed routes: body size (413), key and signature (401), rate limit (429), plan (402), gateway (409).
Order on the others: body size, caller (401), rate limit (429), scope (403), plan (402).
Source: core spec, section 5; tracking spec, section 5; rows of the endpoint list.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from flask import current_app, g, request
from werkzeug.exceptions import RequestEntityTooLarge

from api import callers
from domain import plans, signing
from domain.refused import Refused
from models.organizations import KeyHolder
from pipelines import clock

KIB = 1024


@dataclass(frozen=True, slots=True)
class Guard:
    """What a route asks of its caller.

    `audience` is "key", "signed" or "public". `plan` None is every plan; `bucket` names the rate limit; sizes in
    bytes. `accepts_any_trial` and `needs_no_gateway` are rules of the signed ingest routes.
    """

    audience: str
    scope: str = "read"
    plan: plans.Tier | None = None
    bucket: str | None = "standard"
    max_body_bytes: int = 64 * KIB
    takes_legacy_header: bool = False
    accepts_any_trial: bool = False
    needs_no_gateway: bool = False


View = TypeVar("View", bound=Callable[..., Any])


def guarded(guard: Guard) -> Callable[[View], View]:
    """Run the guard's checks before the view; the guard stays readable on the view as `guard`."""

    def wrap(view: View) -> View:
        @functools.wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            _check_size(guard)
            if guard.audience == "public":
                _check_limit(guard, request.remote_addr or "")
            else:
                _check_key(guard)
            return view(*args, **kwargs)

        checked.guard = guard  # type: ignore[attr-defined]  # read by the test that every route declares one
        return checked  # type: ignore[return-value]  # functools.wraps keeps the view's signature

    return wrap


def caller() -> KeyHolder:
    """Return the API key's holder whom the guard let in."""
    holder: KeyHolder = g.caller
    return holder


def organization_id() -> UUID:
    """Return the organization of the caller."""
    return caller().organization_id


def _check_size(guard: Guard) -> None:
    # A chunked body shows its size only when it is read, and is cut off without a word at the length set here.
    request.max_content_length = guard.max_body_bytes + 1
    if (request.content_length or 0) > guard.max_body_bytes or len(request.get_data(cache=True)) > guard.max_body_bytes:
        raise RequestEntityTooLarge


def _check_key(guard: Guard) -> None:
    holder = callers.key_holder(callers.bearer(request, takes_legacy_header=guard.takes_legacy_header))
    if guard.audience == "signed":
        holder = _signed_by(holder)
        _check_limit(guard, request.remote_addr or "")
    elif holder is not None:
        _check_limit(guard, str(holder.member_id))
    if holder is None:
        raise Refused(401)
    _check_scope(guard, holder)
    _check_plan(guard, holder)
    if guard.needs_no_gateway:
        _check_gateway(holder)
    g.caller = holder


def _signed_by(holder: KeyHolder | None) -> KeyHolder:
    # A wrong key and a wrong signature take the same path, so neither can be told from the other.
    secret = callers.signing_secret(holder) if holder else b"no key, no secret"
    is_signed = signing.verify_inbound(
        header=request.headers.get("X-Service-Signature", ""),
        secret=secret,
        body=request.get_data(cache=True),
        now_s=int(clock.now().timestamp()),
    )
    if holder is None or not is_signed:
        raise Refused(401)
    return holder


def _check_limit(guard: Guard, caller_name: str) -> None:
    if guard.bucket and not current_app.extensions["limiter"].allows(guard.bucket, caller_name):
        raise Refused(429)


def _check_scope(guard: Guard, holder: KeyHolder) -> None:
    if guard.scope == "read_write" and holder.scope != "read_write":
        raise Refused(403, "forbidden", "This API key lacks the scope read_write.")


def _check_plan(guard: Guard, holder: KeyHolder) -> None:
    if guard.plan is None:
        return
    refused = plans.gate(
        required=guard.plan,
        plan_tier=plans.Tier(holder.plan_tier),
        subscription_status=plans.SubscriptionStatus(holder.subscription_status),
        trial_ends_at=holder.trial_ends_at,
        now=clock.now(),
        any_trial=guard.accepts_any_trial,
    )
    if refused is not None:
        raise Refused(
            402,
            "plan_tier_required",
            f"This needs the {refused.required} plan or a higher one; the organization is on {refused.current}.",
            required=refused.required,
            current=refused.current,
            trialing=refused.trialing,
        )


def _check_gateway(holder: KeyHolder) -> None:
    if holder.gateways:
        name = holder.gateways[0]
        raise Refused(
            409,
            f"{name}_connect_active",
            f"The {name} connection records this organization's sales already. Disconnect it to send them from here.",
        )
