"""Organizations and their members, as the operator makes and changes them."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from domain import currencies, host_names, payout_gates, plans, slugs
from domain.fraud import Strictness
from domain.money import MAX_AMOUNT_CENTS
from domain.refused import Refused
from models import ids, members, organizations
from pipelines import holds, sandbox_rail

TRIAL = timedelta(days=14)

#: The fifteen native connections; while one is marked connected, signed sales and leads are refused.
GATEWAYS = [
    "stripe",
    "braintree",
    "mollie",
    "shopify",
    "bigcommerce",
    "wix",
    "woocommerce",
    "paddle",
    "chargebee",
    "recurly",
    "maxio",
    "gumroad",
    "lemonsqueezy",
    "thrivecart",
    "paypal",
]


_MOST_AFFILIATES = 10**9
_LONGEST_LABEL = 63
_HIGHEST_SCORE = 100
_MOST_LEADS_PER_DAY = 1_000_000
_LONGEST_HOLD_DAYS = 365
_MOST_REFERRERS = 1000
_PIXEL_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
_HOST = re.compile(r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")


def create(*, name: str, plan: str, status: str, currency: str, owner_email: str, now: datetime) -> UUID:
    """Create an organization with its first Owner; runs in a transaction that sees every tenant."""
    organization_id = ids.new_id()
    slug = f"{_slug(name)}-{organization_id.hex[-12:]}"
    organizations.insert(
        {
            "id": organization_id,
            "name": name,
            "slug": slug,
            "subdomain": slug,
            "plan_tier": plans.Tier(plan).value,
            "subscription_status": plans.SubscriptionStatus(status).value,
            "trial_ends_at": now + TRIAL if status == plans.SubscriptionStatus.Trialing else None,
            "home_currency": _currency(currency),
            "created_at": now,
        }
    )
    members.insert(
        {
            "id": ids.new_id(),
            "organization_id": organization_id,
            "email": owner_email.strip().lower(),
            "role": "Owner",
            "created_at": now,
        }
    )
    return organization_id


def change(*, organization_id: UUID, assignments: Mapping[str, str], now: datetime) -> Mapping[str, object]:
    """Change settings that only an operator may, given as text; returns the columns that were set.

    Raises Refused for a setting or a value that does not exist, and then nothing is changed.
    """
    changes: dict[str, object] = {}
    for name, value in sorted(assignments.items()):  # a new domain first, then that it is verified
        if name not in _SETTERS:
            raise Refused(400, "unknown_setting", f"{name!r} is no setting; there are: {', '.join(sorted(_SETTERS))}.")
        changes.update(_SETTERS[name](value, now))
    if organizations.find(organization_id) is None:
        raise Refused(404, "not_found", f"There is no organization {organization_id}.")
    if not organizations.update_unless_taken(organization_id, changes):
        raise Refused(409, "already_taken", "Another organization has this subdomain, portalHost or trackingDomain.")
    if "payout_grace_days" in changes:
        holds.renew(organization_id)
    return changes


def _plan(value: str, now: datetime) -> dict[str, object]:
    return {"plan_tier": _one_of(value, list(plans.Tier))}


def _status(value: str, now: datetime) -> dict[str, object]:
    status = _one_of(value, list(plans.SubscriptionStatus))
    return {
        "subscription_status": status,
        "trial_ends_at": now + TRIAL if status == plans.SubscriptionStatus.Trialing else None,
    }


def _gateways(value: str, now: datetime) -> dict[str, object]:
    names = [name.strip() for name in value.split(",") if name.strip()]
    return {"gateways": [_one_of(name, GATEWAYS) for name in names]}


def _grace_days(value: str, now: datetime) -> dict[str, object]:
    if not value.isascii() or not value.isdigit() or int(value) > 90:
        raise Refused(400, "bad_value", f"{value!r} is no number of days from 0 to 90.")
    return {"payout_grace_days": int(value)}


def _trial_ends(value: str, now: datetime) -> dict[str, object]:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise Refused(400, "bad_value", f"{value!r} is no ISO 8601 moment.") from error
    if moment.tzinfo is None:
        raise Refused(400, "bad_value", f"{value!r} says no time zone; add Z.")
    return {"trial_ends_at": moment}


def _affiliate_limit(value: str, now: datetime) -> dict[str, object]:
    limit = _or_none(value)
    if limit is not None and (not limit.isascii() or not limit.isdigit() or int(limit) > _MOST_AFFILIATES):
        raise Refused(400, "bad_value", f"{value!r} is neither a number of affiliates nor none.")
    return {"affiliate_limit": None if limit is None else int(limit)}


def _subdomain(value: str, now: datetime) -> dict[str, object]:
    if not slugs.is_valid_strict(value) or len(value) > _LONGEST_LABEL or value in slugs.RESERVED:
        raise Refused(400, "bad_value", f"{value!r} is no subdomain: 3 to 63 of a-z, 0-9 and hyphen, and not reserved.")
    return {"subdomain": value}


def _portal_host(value: str, now: datetime) -> dict[str, object]:
    host = _or_none(value)
    if host is not None and not _HOST.fullmatch(host):
        raise Refused(400, "bad_value", f"{value!r} is neither a host name, such as partners.example.com, nor none.")
    return {"portal_host": host}


def _billing_interval(value: str, now: datetime) -> dict[str, object]:
    interval = _or_none(value)
    return {"billing_interval": interval and _one_of(interval, ["Month", "Year"])}


def _sandbox_rail(value: str, now: datetime) -> dict[str, object]:
    mode = _or_none(value)
    return {"sandbox_rail": mode and _one_of(mode, list(sandbox_rail.MODES))}


def _fraud_score(value: str, now: datetime) -> dict[str, object]:
    if not value.isascii() or not value.isdigit() or int(value) > _HIGHEST_SCORE:
        raise Refused(400, "bad_value", f"{value!r} is no score from 0 to {_HIGHEST_SCORE}.")
    return {"fraud_score": int(value)}


def _identity_required(value: str, now: datetime) -> dict[str, object]:
    required = {"on": True, "off": False, "auto": None}
    return {"identity_required": required[_one_of(value, list(required))]}


def _verified(value: str, now: datetime) -> dict[str, object]:
    states = {"on": "verified", "off": "unverified", "pending": "pending"}
    return {"verification_state": states[_one_of(value, list(states))]}


def _threshold(column: str) -> Callable[[str, datetime], dict[str, object]]:
    def read(value: str, now: datetime) -> dict[str, object]:
        # One more than the highest score is a threshold that none reaches.
        if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= _HIGHEST_SCORE + 1:
            raise Refused(400, "bad_value", f"{value!r} is no threshold from 1 to {_HIGHEST_SCORE + 1}.")
        return {column: int(value)}

    return read


def _payout_hold(value: str, now: datetime) -> dict[str, object]:
    known = {"on": str(payout_gates.HOLDING.days), "off": "0"}
    days = known.get(value, value)
    if not days.isascii() or not days.isdigit() or int(days) > _LONGEST_HOLD_DAYS:
        raise Refused(400, "bad_value", f"{value!r} is neither on, off nor a number of days to {_LONGEST_HOLD_DAYS}.")
    return {"payout_hold_days": int(days)}


def _bank_balance(value: str, now: datetime) -> dict[str, object]:
    if not value.isascii() or not value.isdigit() or int(value) > MAX_AMOUNT_CENTS:
        raise Refused(400, "bad_value", f"{value!r} is no number of US cents from 0 to {MAX_AMOUNT_CENTS}.")
    return {"bank_balance_cents": int(value)}


def _switch(column: str) -> Callable[[str, datetime], dict[str, object]]:
    return lambda value, now: {column: _one_of(value, ["on", "off"]) == "on"}


def _leads_per_day(value: str, now: datetime) -> dict[str, object]:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= _MOST_LEADS_PER_DAY:
        raise Refused(400, "bad_value", f"{value!r} is no number of leads from 1 to {_MOST_LEADS_PER_DAY}.")
    return {"leads_per_day": int(value)}


def _banned_referrers(value: str, now: datetime) -> dict[str, object]:
    hosts = sorted({host.strip().lower() for host in value.split(",") if host.strip()})
    for host in hosts:
        if not host_names.is_host_name(host):
            raise Refused(400, "bad_value", f"{host!r} is no host name, such as coupons.example.com.")
    if len(hosts) > _MOST_REFERRERS:
        raise Refused(400, "bad_value", f"There are {len(hosts)} host names; {_MOST_REFERRERS} can be banned.")
    return {"banned_referrers": hosts}


def _pixel_public_key(value: str, now: datetime) -> dict[str, object]:
    key = _or_none(value)
    if key is not None and not _PIXEL_KEY.fullmatch(key):
        raise Refused(400, "bad_value", f"{value!r} is neither 8 to 64 of A-Z, a-z, 0-9, _ and -, nor none.")
    return {"pixel_public_key": key}


def _tracking_domain(value: str, now: datetime) -> dict[str, object]:
    host = _or_none(value)
    if host is not None and not host_names.is_host_name(host):
        raise Refused(400, "bad_value", f"{value!r} is neither a host name, such as go.example.com, nor none.")
    return {"tracking_domain": host, "tracking_domain_verified": False}


_SETTERS: dict[str, Callable[[str, datetime], dict[str, object]]] = {
    "plan": _plan,
    "status": _status,
    "gateways": _gateways,
    "payoutGraceDays": _grace_days,
    "trialEndsAt": _trial_ends,
    "currency": lambda value, now: {"home_currency": _currency(value), "home_currency_changed_at": now},
    "affiliateLimit": _affiliate_limit,
    "subdomain": _subdomain,
    "portalHost": _portal_host,
    "billingProvider": lambda value, now: {"billing_provider": _or_none(value)},
    "billingInterval": _billing_interval,
    "fraudStrictness": lambda value, now: {"fraud_strictness": _one_of(value, list(Strictness))},
    "fraudScore": _fraud_score,
    "bannedReferrers": _banned_referrers,
    "leadsPerDay": _leads_per_day,
    "leadPreview": lambda value, now: {"lead_preview": _one_of(value, ["on", "off"]) == "on"},
    "pixelPublicKey": _pixel_public_key,
    "sandboxRail": _sandbox_rail,
    "verified": _verified,
    "identityRequired": _identity_required,
    "identityThreshold": _threshold("identity_threshold"),
    "highRiskThreshold": _threshold("high_risk_threshold"),
    "fundingMode": lambda value, now: {"funding_mode": _one_of(value, ["debit", "balance"])},
    "bankBalanceCents": _bank_balance,
    "fundingFrozen": _switch("funding_frozen"),
    "needsReview": _switch("payouts_need_review"),
    "payoutHold": _payout_hold,
    "taxFormRequired": _switch("tax_form_required"),
    "trackingDomain": _tracking_domain,
    "trackingDomainVerified": lambda value, now: {"tracking_domain_verified": _one_of(value, ["on", "off"]) == "on"},
}


def _or_none(value: str) -> str | None:
    return None if value in ("", "none") else value


def _one_of(value: str, allowed: list[str]) -> str:
    if value not in allowed:
        raise Refused(400, "bad_value", f"{value!r} must be one of: {', '.join(allowed)}.")
    return str(value)


def _currency(value: str) -> str:
    code = currencies.normalize(value)
    if code is None:
        raise Refused(400, "unsupported_currency", f"{value!r} is not a supported currency code.")
    return code


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "org"
