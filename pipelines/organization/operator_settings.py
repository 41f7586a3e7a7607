"""The settings of an organization that an operator may change: each by its name, from text to columns."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from domain import slugs
from domain.attribution.self_referrals import SelfReferralPolicy
from domain.fraud import Strictness
from domain.gateways.basis import CommissionBasis
from domain.gateways.names import Gateway
from domain.money import currencies
from domain.money.money import MAX_AMOUNT_CENTS
from domain.organization import host_names, plans
from domain.payouts import gates
from domain.refusals import Refused
from models.organization.organizations import Organization
from pipelines.payouts import sandbox_rail

Columns = dict[str, object]
Setter = Callable[[str, datetime], Columns]

_TRIAL = timedelta(days=14)

_MAX_GRACE_DAYS = 90
_MAX_AFFILIATES = 10**9
_MAX_LABEL = 63
_MAX_SCORE = 100
_MAX_LEADS_PER_DAY = 1_000_000
_MAX_HOLD_DAYS = 365
_MAX_REFERRERS = 1000
_FUNDING_SOURCE = re.compile(r"cus_[A-Za-z0-9]{1,64}/(pm|card|ba|src)_[A-Za-z0-9]{1,64}")
_PIXEL_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")


def read(assignments: Mapping[str, str], *, now: datetime) -> Columns:
    """Return the columns of settings given as text.

    Raises Refused 400: unknown_setting, bad_value, unsupported_currency.
    """
    changes: Columns = {}
    for name, value in sorted(assignments.items()):  # a new domain before its verified flag
        if name not in _SETTERS:
            raise Refused(
                400, "unknown_setting", f"{name!r} is not a setting; settings: {', '.join(sorted(_SETTERS))}."
            )
        changes.update(_SETTERS[name](value, now))
    return changes


def subscription(status: str, now: datetime) -> Columns:
    """Return the columns of a subscription's status; a trial starts now."""
    chosen = _check_choice(status, list(plans.SubscriptionStatus))
    is_trial = chosen == plans.SubscriptionStatus.Trialing
    return {"subscription_status": chosen, "trial_ends_at": now + _TRIAL if is_trial else None}


def currency(value: str) -> str:
    """Return a currency's code. Raises Refused 400 unsupported_currency."""
    code = currencies.normalize(value)
    if code is None:
        raise Refused(400, "unsupported_currency", f"{value!r} is not a supported currency code.")
    return code


def _gateways(value: str, now: datetime) -> Columns:
    names = [name.strip() for name in value.split(",") if name.strip()]
    return {"gateways": [_check_choice(name, list(Gateway)) for name in names]}


def _trial_ends(value: str, now: datetime) -> Columns:
    try:
        time = datetime.fromisoformat(value)
    except ValueError as error:
        raise _bad_value(value, "is not an ISO 8601 time") from error
    if time.tzinfo is None:
        raise _bad_value(value, "has no time zone; add Z")
    return {"trial_ends_at": time}


def _affiliate_limit(value: str, now: datetime) -> Columns:
    limit = _none_if_empty(value)
    if limit is not None and not _is_integer(limit, 0, _MAX_AFFILIATES):
        raise _bad_value(value, "is neither a number of affiliates nor none")
    return {"affiliate_limit": None if limit is None else int(limit)}


def _subdomain(value: str, now: datetime) -> Columns:
    if not slugs.is_valid_strict(value) or len(value) > _MAX_LABEL or value in slugs.RESERVED:
        raise _bad_value(value, "is not a subdomain: 3 to 63 of a-z, 0-9 and hyphen, and not reserved")
    return {"subdomain": value}


def _tracking_domain(value: str, now: datetime) -> Columns:
    return {**_host_setter("tracking_domain", "go.example.com")(value, now), "tracking_domain_verified": False}


def _banned_referrers(value: str, now: datetime) -> Columns:
    hosts = sorted({host.strip().lower() for host in value.split(",") if host.strip()})
    for host in hosts:
        if not host_names.is_host_name(host):
            raise _bad_value(host, "is not a host name, such as coupons.example.com")
    if len(hosts) > _MAX_REFERRERS:
        raise Refused(400, "bad_value", f"There are {len(hosts)} host names; {_MAX_REFERRERS} can be banned.")
    return {"banned_referrers": hosts}


def _pixel_public_key(value: str, now: datetime) -> Columns:
    key = _none_if_empty(value)
    if key is not None and not _PIXEL_KEY.fullmatch(key):
        raise _bad_value(value, "is neither 8 to 64 of A-Z, a-z, 0-9, _ and -, nor none")
    return {"pixel_public_key": key}


def _funding_source(value: str, now: datetime) -> Columns:
    source = _none_if_empty(value)
    if source is not None and not _FUNDING_SOURCE.fullmatch(source):
        raise _bad_value(
            value, "is neither CUSTOMER/PAYMENT_METHOD of the processor, such as cus_N1k2/pm_1QxYz, nor none"
        )
    return {"deal_funding_source": source}


def _payout_hold(value: str, now: datetime) -> Columns:
    days = {"on": str(gates.HOLD_PERIOD.days), "off": "0"}.get(value, value)
    if not _is_integer(days, 0, _MAX_HOLD_DAYS):
        raise _bad_value(value, f"is neither on, off nor a number of days to {_MAX_HOLD_DAYS}")
    return {"payout_hold_days": int(days)}


def _integer_setter(column: str, noun: str, minimum: int, maximum: int) -> Setter:
    def read(value: str, now: datetime) -> Columns:
        if not _is_integer(value, minimum, maximum):
            raise _bad_value(value, f"is not a {noun} from {minimum} to {maximum}")
        return {column: int(value)}

    return read


def _choice_setter(column: str, allowed: list[str]) -> Setter:
    return lambda value, now: {column: _check_choice(value, allowed)}


def _optional_choice_setter(column: str, allowed: list[str]) -> Setter:
    return lambda value, now: {column: (chosen := _none_if_empty(value)) and _check_choice(chosen, allowed)}


def _mapping_setter(column: str, meanings: Mapping[str, object]) -> Setter:
    return lambda value, now: {column: meanings[_check_choice(value, list(meanings))]}


def _switch_setter(column: str) -> Setter:
    return _mapping_setter(column, {"on": True, "off": False})


def _host_setter(column: str, example: str) -> Setter:
    def read(value: str, now: datetime) -> Columns:
        host = _none_if_empty(value)
        if host is not None and not host_names.is_host_name(host):
            raise _bad_value(value, f"is neither a host name, such as {example}, nor none")
        return {column: host}

    return read


# A threshold above the highest score is never reached.
_THRESHOLD = ("threshold", 1, _MAX_SCORE + 1)

_SETTERS: Mapping[str, Setter] = {
    "plan": _choice_setter("plan_tier", list(plans.Tier)),
    "status": subscription,
    "gateways": _gateways,
    "payoutGraceDays": _integer_setter("payout_grace_days", "number of days", 0, _MAX_GRACE_DAYS),
    "trialEndsAt": _trial_ends,
    "currency": lambda value, now: {"home_currency": currency(value), "home_currency_changed_at": now},
    "affiliateLimit": _affiliate_limit,
    "subdomain": _subdomain,
    "portalHost": _host_setter("portal_host", "partners.example.com"),
    "billingProvider": lambda value, now: {"billing_provider": _none_if_empty(value)},
    "billingInterval": _optional_choice_setter("billing_interval", ["Month", "Year"]),
    "fraudStrictness": _choice_setter("fraud_strictness", list(Strictness)),
    "fraudScore": _integer_setter("fraud_score", "score", 0, _MAX_SCORE),
    "bannedReferrers": _banned_referrers,
    "leadsPerDay": _integer_setter("leads_per_day", "number of leads", 1, _MAX_LEADS_PER_DAY),
    "leadPreview": _switch_setter("lead_preview"),
    "pixelPublicKey": _pixel_public_key,
    "commissionBasis": _choice_setter("commission_basis", list(CommissionBasis)),
    "selfReferrals": _choice_setter("self_referrals", list(SelfReferralPolicy)),
    "sandboxRail": _optional_choice_setter("sandbox_rail", list(sandbox_rail.MODES)),
    "verified": _mapping_setter("verification_state", {"on": "verified", "off": "unverified", "pending": "pending"}),
    "identityRequired": _mapping_setter("identity_required", {"on": True, "off": False, "auto": None}),
    "identityThreshold": _integer_setter("identity_threshold", *_THRESHOLD),
    "highRiskThreshold": _integer_setter("high_risk_threshold", *_THRESHOLD),
    "dealFundingSource": _funding_source,
    "fundingMode": _choice_setter("funding_mode", ["debit", "balance"]),
    "bankBalanceCents": _integer_setter("bank_balance_cents", "number of US cents", 0, MAX_AMOUNT_CENTS),
    "fundingFrozen": _switch_setter("funding_frozen"),
    "needsReview": _switch_setter("payouts_need_review"),
    "payoutHold": _payout_hold,
    "taxFormRequired": _switch_setter("tax_form_required"),
    "trackingDomain": _tracking_domain,
    "trackingDomainVerified": _switch_setter("tracking_domain_verified"),
}

#: The settings that `read` takes.
NAMES = tuple(_SETTERS)

_COLUMNS: Mapping[str, str] = {
    "plan": "plan_tier",
    "status": "subscription_status",
    "currency": "home_currency",
    "verified": "verification_state",
    "needsReview": "payouts_need_review",
    "payoutHold": "payout_hold_days",
    **{name: name for name in ("gateways", "subdomain")},
}
# The text of column values, where it is not on, off or none.
_WORDS: Mapping[str, Mapping[object, str]] = {
    "verified": {"verified": "on", "unverified": "off"},
    "identityRequired": {None: "auto"},
}


def to_text(organization: Organization) -> dict[str, str]:
    """Return every setting of an organization as text that `read` accepts."""
    return {name: _text_from_value(name, getattr(organization, _column(name))) for name in _SETTERS}


def _column(name: str) -> str:
    return _COLUMNS.get(name) or re.sub(r"(?=[A-Z])", "_", name).lower()


def _text_from_value(name: str, value: object) -> str:
    words = _WORDS.get(name, {})
    if value in words:
        return words[value]
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _is_integer(value: str, minimum: int, maximum: int) -> bool:
    return value.isascii() and value.isdigit() and minimum <= int(value) <= maximum


def _none_if_empty(value: str) -> str | None:
    return None if value in ("", "none") else value


def _check_choice(value: str, allowed: list[str]) -> str:
    if value not in allowed:
        raise _bad_value(value, f"must be one of: {', '.join(allowed)}")
    return str(value)


def _bad_value(value: str, why: str) -> Refused:
    return Refused(400, "bad_value", f"{value!r} {why}.")
