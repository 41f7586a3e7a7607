"""Where the affiliate who signed in wants to be paid, in every campaign that has them.

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
    """Show where the caller wants to be paid; nulls while they have not said."""
    account = guards.account()
    assert account.id is not None  # the guard wants a verified email, which makes the account
    with db.any_org_work():
        return _shown(choose_account.find_own(account.id))


@blueprint.put("/api/me/payout-account")
@operation(
    Guard(audience="affiliate", scope="read_write", verified_email=True, bucket="strict_write", fresh_s=FRESH_S),
    object_of(_STATE),
    takes=PayoutAccountBody(),
)
def put_payout_account() -> Mapping[str, object]:
    """Say where the caller wants to be paid, from the next run on; method null takes it back.

    A payout that was run before keeps its account. The same words again change nothing; a change is told by mail.
    """
    account, now = guards.account(), clock.now()
    assert account.id is not None  # as above
    wanted = _wanted(body.load())
    with db.any_org_work():
        change = choose_account.any_org_set_own(account_id=account.id, account=wanted, now=now)
        _record(change, wanted, now)
        if account.email is not None:
            choose_account.email_person(change, email=account.email, now=now)
    wake_relay()
    return _shown(change.now)


def _wanted(sent: Mapping[str, Any]) -> PayoutAccount | None:
    method = sent["method"]
    return None if method is None else PayoutAccount(method, sent[destinations.FIELDS[method]])


def _record(change: choose_account.AccountChange, wanted: PayoutAccount | None, now: datetime) -> None:
    """Tell every organization that has the affiliate, without the account itself."""
    for organization_id, affiliate_id in change.affiliates:
        audit.record(
            "payout_account.changed",
            affiliate_id,
            before=change.before.audit_fields if change.before else None,
            after=wanted.audit_fields if wanted else None,
            now=now,
            organization_id=organization_id,
        )


def _shown(own: OwnAccount) -> Mapping[str, object]:
    found = own.account
    accounts: dict[str, str | None] = dict.fromkeys(destinations.FIELDS.values())
    if found is not None:
        accounts[destinations.FIELDS[found.method]] = found.destination
    shown: Mapping[str, object] = _STATE.dump(
        {"method": found and found.method, "changed_at": own.changed_at, **accounts}
    )
    return shown
