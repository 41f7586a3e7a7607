"""A tenant with a row of each kind, by the names that routes, queries and tools use for their ids."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from adapters import clock
from models import db, ids
from pipelines.affiliates import tax_form_files
from tests.rules.write_calls import CALLS
from tests.support import databases
from tests.support.pages import full_brands
from tests.support.rows.brands import Brand
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.switches import switch_calls

UUID_PATTERN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
#: Path parameters that are no row ids: entries of a catalogue, and a number within the row whose id precedes it.
NO_ROWS = {"kind", "seq", "gateway", "platform", "event", "collection", "part"}
# The row name of a query or tool field whose own name is a different one.
_ROW_BY_FIELD = {
    "campaignCouponId": "coupon_id",
    "partnerGroupId": "group_id",
    "affiliateIds": "affiliate_id",
    "conversionIds": "conversion_id",
    "grantedAffiliateIds": "affiliate_id",
    "eventId": "fraud_event_id",
}
# Parameters that name rows of another kind in some routes: parameter, part of the route, row name.
_ROW_BY_PARAMETER_AND_ROUTE = {
    ("event_id", "/connections/"): "gateway_event_id",
    ("event_id", "/fraud-events/"): "fraud_event_id",
    ("connection_id", "/platforms/"): "platform_id",
    ("affiliate_id", "/me/applications/"): "application_id",
    ("id", "/search/conversions"): "conversion_id",
    ("id", "/search/payouts"): "payout_id",
}
_INSERT_EVENT = """
insert into gateway_event (id, organization_id, connection_id, event_key, type, status, received_at)
values (%s, %s, %s, 'k', 'invoice.paid', 'Failed', now()) returning id
"""


@dataclass
class Tenant:
    """A brand, the email of its affiliate, and the ids of its rows by row name."""

    brand: Brand
    email: str
    ids: dict[str, str]


def create(app: Any) -> Tenant:
    """Create a tenant with a row of each kind; a simulated gateway must run."""
    full_brand = full_brands.create_full_brand(app)
    brand = full_brand.brand
    rows = {name: value for name, value in full_brand.names.items() if UUID_PATTERN.fullmatch(value)}
    rows.pop("event_id")
    confirm = "POST /api/v1/copilot/conversations/<conversation_id>/acts/<act_id>/confirm"
    rows["conversation_id"], rows["act_id"] = UUID_PATTERN.findall(CALLS[confirm](brand.person("Owner"))[0])
    rows["uncredited_id"] = str(brand.rows("select id from uncredited_conversion limit 1")[0][0])
    program_id, affiliate_id = UUID(rows["program_id"]), UUID(rows["affiliate_id"])
    rows["fraud_event_id"] = str(record_blocked_click(brand, affiliate_id, program_id=program_id))
    ((event_id,),) = brand.rows(_INSERT_EVENT, ids.new_id(), brand.id, rows["connection_id"])
    rows["gateway_event_id"] = str(event_id)
    rows["switch_id"] = switch_calls.connect_files(brand.person("Owner")).rpartition("/")[2]
    _add_rows_of_lists(brand, rows)
    return Tenant(brand, full_brand.email, rows)


def _add_rows_of_lists(brand: Brand, rows: dict[str, str]) -> None:
    """Add a row to each list of the affiliate, the program and the coupon that the tenant's ids name."""
    owner, recipient = brand.person("Owner"), {"programId": rows["program_id"], "affiliateId": rows["affiliate_id"]}
    deal = {"title": "Video", "currency": "USD", "milestones": [{"title": "One", "amountCents": 100}]} | recipient
    rows["deal_id"] = str((owner.post("/api/v1/deals", deal).json or {})["id"])
    offer = owner.post(f"/api/v1/deals/{rows['deal_id']}/offer")
    assert offer.status_code == 200, offer.text
    asset = {"name": "Words of one", "text": "Try it.", "programId": rows["program_id"]}
    assert owner.post("/api/v1/assets", asset).status_code == 201
    with db.any_org_work():
        tax_form_files.any_org_store(
            affiliate_id=UUID(rows["affiliate_id"]), type="W9", content=b"%PDF-1.7", now=clock.now()
        )
    databases.run_as_brand(brand, "update uncredited_conversion set affiliate_id = %s", rows["affiliate_id"])
    databases.run_as_brand(brand, "update affiliate_coupon set campaign_coupon_id = %s", rows["coupon_id"])


def row_name_of_parameter(rule: str, parameter: str) -> str:
    """Return the row name of a route's parameter."""
    return next(
        (row for (word, part), row in _ROW_BY_PARAMETER_AND_ROUTE.items() if word == parameter and part in rule),
        parameter,
    )


def row_name_of_field(field: str, rule: str = "") -> str:
    """Return the row name of a query or tool field."""
    return _ROW_BY_FIELD.get(field) or row_name_of_parameter(
        rule, re.sub("([A-Z])", lambda match: f"_{match[1].lower()}", field)
    )
