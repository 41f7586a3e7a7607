"""The signed-in affiliate's account, the programs that they are in, and those that they may apply to."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

import settings
from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge.operations import array, object_of, operation
from models import db
from models.affiliates import memberships
from schemas.me import person
from schemas.me.person import OwnAccountRecord, OwnProgramRecord, ProgramOfferRecord

blueprint = Blueprint("own_account", __name__)

_READ = Guard(audience="affiliate", verified_email=True)


@blueprint.get("/api/me")
@operation(_READ, object_of(OwnAccountRecord()))
def get_own_account() -> Mapping[str, Any]:
    """Show the caller's account and the brands that they work for. Budget: 1 statement."""
    account = guards.account()
    with db.any_org_work():
        brands = memberships.any_org_list_brands(account_id=account.id, email=account.email)
    return person.account_record(
        account_id=account.id,
        email=account.email or "",
        brands=brands,
        base_url=settings.current().web.url,
        now=clock.now(),
    )


@blueprint.get("/api/me/programs")
@operation(_READ, array(OwnProgramRecord()), may_lag="answer")
def list_own_programs() -> list[dict[str, Any]]:
    """List the programs that the caller is in or has applied to, with their commissions. Budget: 1 statement."""
    account = guards.account()
    with db.any_org_work():
        rows = memberships.any_org_list_joined(account_id=account.id, email=account.email)
    return person.joined_records(rows)


@blueprint.get("/api/me/programs/offers")
@operation(_READ, array(ProgramOfferRecord()))
def list_program_offers() -> list[dict[str, Any]]:
    """List open programs of the caller's brands that they are not in; apply with the public form.

    Budget: 1 statement.
    """
    account = guards.account()
    with db.any_org_work():
        rows = memberships.any_org_list_offered(account_id=account.id, email=account.email)
    return person.offer_records(rows)
