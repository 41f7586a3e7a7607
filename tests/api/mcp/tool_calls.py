"""A valid call of each of the 61 tools, for a brand with a row behind every id."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from models import db
from pipelines.affiliates import tax_form_files
from tests.support.coupons import EXTERNAL_CODE, create_coupon
from tests.support.gateways.gateway_connections import connect_gateway
from tests.support.gateways.stage import Stage
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.payroll import Payroll
from tests.support.rows.program_rows import insert_conversion

Calls = dict[str, dict[str, Any]]
_PEOPLE = ("ann", "ben", "cid", "dan", "eve", "fay")


@dataclass
class ToolBrand:
    """A brand and the arguments of a valid call by tool; `lead` is the call of record_lead, which no gateway allows."""

    brand: Brand
    calls: Calls
    lead: dict[str, Any]


def create_tool_brand(app: Any, stage: Stage) -> ToolBrand:
    """Create the brand with a connected gateway; calls that end a row each get a row of their own."""
    payroll = Payroll.create(app)
    brand, suffix = payroll.brand, payroll.brand.id.hex[:12]
    brand.set(plan="Pro")
    spare_program, program = str(brand.programs[-1]), str(brand.program(name="Knives"))
    payroll.affiliate("payee")
    people = {name: brand.affiliate(f"{name}-{suffix}", notes="A note.") for name in _PEOPLE}
    applicants = [str(brand.affiliate(f"new{number}-{suffix}", status="Pending")) for number in range(3)]
    payroll.sell("payee")
    payroll.run()
    payroll.pay()
    brand.affiliate(f"idle-{suffix}", status="Paused")
    brand.sale(affiliateSlug=f"idle-{suffix}", amountCents=700)
    drain("sales")
    with db.any_org_work():
        tax_form_files.any_org_store(affiliate_id=people["ann"], type="W9", content=b"%PDF-1.7", now=datetime.now(UTC))
    connect_gateway(brand.person("Owner"), stage)
    ids = {
        "program": program,
        "spare": spare_program,
        "payout": _select_id(brand, "select id from payout"),
        "uncredited": _select_id(brand, "select id from uncredited_conversion"),
        "fraud": str(record_blocked_click(brand, people["ann"])),
        "sold": str(insert_conversion(brand, people["ann"])),
        "held": str(insert_conversion(brand, people["ann"], status="Invalidated")),
        "applicant": applicants[0],
        "rejected": applicants[1],
        **{name: str(id) for name, id in people.items()},
    }
    in_program = Brand(app, brand.id, brand.api_key, brand.signing_secret, [UUID(program)])
    coupon_fields = {"selfMintMode": "SpecificAffiliates", "grantedAffiliateIds": [str(people["ben"])]}
    ids |= {
        name: create_coupon(in_program, name=f"{name} 15", **coupon_fields)["id"]
        for name in ("coupon", "archived", "deleted")
    }
    ids["code"] = (brand.post(f"/api/v1/affiliates/{people['ben']}/coupons", EXTERNAL_CODE).json or {})["id"]
    slug = f"ann-{suffix}"
    lead = {"affiliateSlug": slug, "email": f"lea-{suffix}@example.com", "name": "Lea", "campaignId": program}
    return ToolBrand(brand, _build_read_calls(ids) | _build_write_calls(ids, slug), lead)


def texts(result: Any) -> Iterator[str]:
    """Yield every name and every text of a result, however deep."""
    if isinstance(result, dict):
        for name, value in result.items():
            yield from (name, *texts(value))
    elif isinstance(result, list):
        for value in result:
            yield from texts(value)
    elif isinstance(result, str):
        yield result


def _select_id(brand: Brand, sql: str) -> str:
    ((row_id,),) = brand.rows(sql)
    return str(row_id)


def _build_read_calls(ids: dict[str, str]) -> Calls:
    program, affiliate = {"programId": ids["program"]}, {"affiliateId": ids["ann"]}
    of_brand = (
        *("list_programs", "get_program_stats", "list_affiliates", "list_applications", "list_conversions"),
        *("list_uncredited_sales", "get_uncredited_summary", "list_fraud_events", "list_payouts", "preview_payout"),
        *("get_funding_status", "get_audit_log", "get_home_currency", "get_organization", "get_billing_state"),
        *("get_install_snippet", "get_attribution_params"),
    )
    calls: Calls = {tool: {} for tool in of_brand}
    of_program = ("get_program", "get_tracking_status", "list_recent_events", "get_budget_status", "get_fraud_summary")
    calls |= dict.fromkeys((*of_program, "get_sub_affiliate_config", "list_campaign_coupons"), program)
    of_affiliate = ("get_affiliate", "get_tax_form", "list_sub_affiliates", "list_affiliate_coupons")
    calls |= dict.fromkeys(of_affiliate, affiliate)
    return calls | {
        "list_coupon_affiliates": program | {"couponId": ids["coupon"]},
        "get_campaign_coupon": program | {"couponId": ids["coupon"]},
        "get_conversion": {"conversionId": ids["sold"]},
        "get_payout": {"payoutId": ids["payout"]},
        "preview_conversion_import": program | {"conversions": [_build_past_sale("nobody")]},
    }


def _build_write_calls(ids: dict[str, str], slug: str) -> Calls:
    program, affiliate = {"programId": ids["program"]}, {"affiliateId": ids["ann"]}
    terms = {"defaultCommissionType": "Percentage", "defaultCommissionValue": 10}
    discount = {"name": "Spring", "discountType": "PercentOff", "discountValue": 10, "duration": "Once"}
    new_email = lambda: f"p-{uuid4().hex}@example.com"  # noqa: E731  # each a person of their own
    return {
        "create_program": {"name": "Forks", **terms},
        "update_program": program | {"budgetCents": 100_000},
        "set_sub_affiliate_config": program | {"enabled": True, "percent": 5},
        "create_affiliate": program | {"email": new_email(), "fullName": "Fay"},
        "update_affiliate": {"affiliateId": ids["dan"]} | {"status": "Paused"},
        "approve_affiliate": {"affiliateId": ids["applicant"]},
        "reject_affiliate": {"affiliateId": ids["rejected"], "reason": "No."},
        "bulk_update_affiliates": {"affiliateIds": [ids["eve"], ids["fay"]], "action": "pause"},
        "import_affiliates": program | {"affiliates": [{"email": new_email(), "fullName": "Gil"}]},
        "invite_affiliate": program | {"email": new_email(), "fullName": "Hal"},
        "bulk_invite_affiliates": program | {"recipients": [{"email": new_email(), "fullName": "Ida"}]},
        "create_conversion": program | affiliate | {"kind": "bonus", "commissionCents": 500, "note": "thanks"},
        "validate_conversion": {"conversionId": ids["held"]},
        "invalidate_conversion": {"conversionId": ids["sold"]},
        "import_conversions": program | {"conversions": [_build_past_sale(slug)]},
        "dismiss_uncredited_sale": {"uncreditedId": ids["uncredited"]},
        "review_fraud_event": {"eventId": ids["fraud"], "action": "dismiss"},
        "create_campaign_coupon": program | discount,
        "update_campaign_coupon": program
        | {"couponId": ids["coupon"], "selfMintMode": "SpecificAffiliates", "grantedAffiliateIds": [ids["cid"]]},
        "create_affiliate_coupon": {"affiliateId": ids["cid"], "code": "CID-ELSEWHERE", "external": True},
        "revoke_affiliate_coupon": {"affiliateId": ids["ben"], "codeId": ids["code"]},
        "archive_campaign_coupon": program | {"couponId": ids["archived"]},
        "delete_campaign_coupon": program | {"couponId": ids["deleted"]},
        "set_attribution_params": {"custom": "partner"},
        "set_home_currency": {"homeCurrency": "EUR"},
        "ban_affiliate": {"affiliateId": ids["eve"]},
        "archive_program": {"programId": ids["spare"]},
    }


def _build_past_sale(slug: str) -> dict[str, Any]:
    row = {"affiliateSlug": slug, "amountCents": 100, "commissionCents": 10, "currency": "USD"}
    return row | {"occurredAt": "2024-01-31T10:00:00Z"}
