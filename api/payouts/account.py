"""The signed-in affiliate's payout account, for all their campaigns.

Source: core spec, "Payout" (method).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Blueprint

from adapters import clock
from api.access import guards
from api.access.guards import FRESH_S, Guard
from api.edge import audit, body
from api.edge.operations import object_of, operation
from api.edge.relay_waker import wake_relay
from domain.payouts import destinations
from domain.payouts.destinations import PayoutAccount
from models import db
from models.payouts.accounts import OwnAccount
from pipelines.payouts import choose_account
from schemas.payouts.account import PayoutAccountBody, PayoutAccountState

blueprint = Blueprint("payout_account", __name__)

_STATE = PayoutAccountState()


@blueprint.get("/api/me/payout-account")
@operation(Guard(audience="affiliate", verified_email=True), object_of(_STATE))
def get_payout_account() -> Mapping[str, object]:
    """Show the caller's payout account; nulls if it is not set."""
    account = guards.account()
    assert account.id is not None  # the guard needs a verified email, which creates the account
    with db.any_org_work():
        return _serialize(choose_account.find_own(account.id))


@blueprint.put("/api/me/payout-account")
@operation(
    Guard(audience="affiliate", scope="read_write", verified_email=True, bucket="strict_write", fresh_s=FRESH_S),
    object_of(_STATE),
    takes=PayoutAccountBody(),
)
def put_payout_account() -> Mapping[str, object]:
    """Set the caller's payout account, from the next run on; method null removes it.

    Existing payouts keep their account. The same account again changes nothing; the caller gets an email of a change.
    """
    account, now = guards.account(), clock.now()
    assert account.id is not None  # as above
    chosen = _account_from_body(body.load())
    with db.any_org_work():
        change = choose_account.any_org_set_own(account_id=account.id, account=chosen, now=now)
        _record(change, chosen, now)
        if account.email is not None:
            choose_account.email_person(change, email=account.email, now=now)
    wake_relay()
    return _serialize(change.now)


def _account_from_body(values: Mapping[str, Any]) -> PayoutAccount | None:
    method = values["method"]
    return None if method is None else PayoutAccount(method, values[destinations.FIELDS[method]])


def _record(change: choose_account.AccountChange, chosen: PayoutAccount | None, now: datetime) -> None:
    """Audit the change in every organization of the affiliate, without the account itself."""
    for organization_id, affiliate_id in change.affiliates:
        audit.record(
            "payout_account.changed",
            affiliate_id,
            before=change.before.audit_fields if change.before else None,
            after=chosen.audit_fields if chosen else None,
            now=now,
            organization_id=organization_id,
        )


def _serialize(own: OwnAccount) -> Mapping[str, object]:
    account = own.account
    accounts: dict[str, str | None] = dict.fromkeys(destinations.FIELDS.values())
    if account is not None:
        accounts[destinations.FIELDS[account.method]] = account.destination
    record: Mapping[str, object] = _STATE.dump(
        {"method": account and account.method, "changed_at": own.changed_at, **accounts}
    )
    return record
