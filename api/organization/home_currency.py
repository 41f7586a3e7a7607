"""The home currency of an organization: the currency of its totals.

Source: core spec, "Settings, organization and billing" and "Home currency".
"""

from collections.abc import Mapping

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.money import currencies
from domain.organization import access, plans
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.organization import organizations
from models.organization.organizations import Organization
from pipelines.organization import profile
from schemas.organization.home_currency import HomeCurrencyBody, HomeCurrencyChange, HomeCurrencyRecord

blueprint = Blueprint("home_currency", __name__)

_READ = Guard(audience="brand")
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Owner, verified_email=True, plan=plans.Tier.Pro)

_RECORD = HomeCurrencyRecord()
_CHANGE = HomeCurrencyChange()


@blueprint.get("/api/v1/settings/home-currency")
@operation(_READ, object_of(_RECORD))
def get_home_currency() -> Mapping[str, object]:
    """Show the home currency, the supported ones, and whether the caller may change it."""
    with db.unit_of_work(guards.organization_id()):
        organization = _require(organizations.find(guards.organization_id()))
    record: Mapping[str, object] = _RECORD.dump(
        {
            "home_currency": organization.home_currency,
            "changed_at": organization.home_currency_changed_at,
            "supported_currencies": list(currencies.EXPONENTS),
            "can_change": _may_change(),
        }
    )
    return record


@blueprint.put("/api/v1/settings/home-currency")
@operation(_WRITE, object_of(_CHANGE), takes=HomeCurrencyBody(), refuses=("400 unsupported_currency",))
def put_home_currency() -> Response:
    """Set the home currency. 200, also if it does not change. Conversions keep their own currency."""
    code = body.load()["home_currency"]
    return idempotency.run_once(lambda: _change(code))


def _change(code: str) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    before = _require(organizations.lock(guards.organization_id()))
    after = profile.set_home_currency(before, code, now)
    is_changed = after.home_currency != before.home_currency
    if is_changed:
        audit.record(
            "org.home_currency_changed",
            after.id,
            before={"homeCurrency": before.home_currency},
            after={"homeCurrency": after.home_currency},
            now=now,
        )
    return 200, _CHANGE.dump(
        {
            "home_currency": after.home_currency,
            "changed": is_changed,
            "changed_at": after.home_currency_changed_at,
        }
    )


def _may_change() -> bool:
    caller = guards.caller()
    if not access.at_least(caller.role, Role.Owner):
        return False
    if not caller.is_integration:
        return caller.is_email_verified
    refused = plans.check_gate(
        required=plans.Tier.Pro,
        plan_tier=plans.Tier(caller.plan_tier),
        subscription_status=plans.SubscriptionStatus(caller.subscription_status),
        trial_ends_at=caller.trial_ends_at,
        now=clock.now(),
    )
    return caller.scope == "read_write" and refused is None


def _require(organization: Organization | None) -> Organization:
    if organization is None:
        raise not_found("organization", guards.organization_id())
    return organization
