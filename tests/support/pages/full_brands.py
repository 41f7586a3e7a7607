"""A brand with rows of every kind, so that every screen has something to show."""

import base64
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from models import db
from tests.support.api import embed_tokens
from tests.support.api.applications import apply, build_form, build_question, build_two_step_form
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.coupons import create_coupon
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway, switch_to_test_mode
from tests.support.job_queues import drain
from tests.support.outside.console import stage_failed_job
from tests.support.platforms.platform_connections import connect_platform as platform_connected
from tests.support.platforms.platform_connections import play_platform
from tests.support.rows.brands import Brand
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.images import png
from tests.support.rows.payroll import Payroll
from tests.support.switches.switch_states import insert_rows, insert_switch

_PAGE = {
    "headline": "Recommend <b>it</b>",
    "sections": [{"title": f"Part {number}", "text": "It is <b>good</b>.\n\nVery."} for number in range(3)],
    "accentColor": "#ffd400",
}
_BANNER = base64.b64encode(png(1200, 630)).decode()


@dataclass
class FullBrand:
    """A brand, the email of its affiliate rita, and a value for each parameter in the URLs of screens."""

    brand: Brand
    email: str
    names: dict[str, str] = field(default_factory=dict)


def create_full_brand(app: Any) -> FullBrand:
    """Create the brand; its names contain markup, which pages must escape."""
    payroll = Payroll.create(app)
    brand, owner = payroll.brand, payroll.brand.person("Owner")
    email = f"rita-{uuid4().hex}@example.com"
    rita = brand.affiliate("rita", email=email, email_normalized=email, full_name="Rita <b>Okafor</b>")
    payroll.execute(
        "update affiliate set payout_method = 'Wallet', payout_destination = 'rita@example.com' where id = %s", rita
    )
    names = {"program_id": str(brand.programs[-1]), "affiliate_id": str(rita)}
    names["listed_id"] = names["program_id"]
    brand.set(bankBalanceCents="1")
    payroll.execute("update organization set timezone = 'America/Argentina/Buenos_Aires' where id = %s", brand.id)
    payroll.execute(
        "update program set network_visibility = 'Networked', network_review = 'Approved', network_asked_at = now(),"
        " network_decided_at = now(), network_decided_by = 'ops@example.com', network_reason = 'Good <b>tea</b>.',"
        " category = 'Travel', description = 'All <i>kinds</i> of it.'"
    )
    names |= {"gateway": "stripe", "platform": "kit", "event_id": str(uuid4())}
    group = {"name": "Gold", "commissionType": "Percentage", "commissionValue": 25}
    names["group_id"] = _call_api(brand, f"/api/v1/programs/{names['program_id']}/partner-groups", group)["id"]
    names |= {"organization_id": str(brand.id), "seq": "1"}
    _call_api(owner, f"/api/v1/programs/{names['program_id']}", {"landingPageConfig": _PAGE}, "PATCH")
    brand.affiliate("new", status="Pending", approved_at=None, full_name="Ada Ek")
    brand.affiliate("paused", status="Paused")
    payroll.rate("EUR", "0.9")
    brand.endpoint("https://127.0.0.1:1/hook")
    _sell(payroll, names)
    payroll.run()
    payroll.pay()
    _sell(payroll, names)
    drain("webhooks")
    _call_api(
        owner, "/api/affiliate-invites", {"email": f"ina-{uuid4().hex}@example.com", "programId": names["program_id"]}
    )
    _call_api(owner, "/api/v1/api-keys", {"name": "Shop", "scope": "read_write"})
    _call_api(brand, f"/api/v1/affiliates/{rita}/coupons", {"code": "TRAIL20", "external": True})
    names["asset_id"] = _call_api(owner, "/api/v1/assets", {"name": "Banner <b>1</b>", "dataBase64": _BANNER})["id"]
    _call_api(owner, "/api/v1/assets", {"name": "Words", "text": "Try it <b>for</b> a month.\nIt is good."})
    embed_tokens.issue_token(brand, rita)
    deal_scene = DealScene.for_brand(brand)
    _call_api(brand, "/api/v1/deals", deal_scene.body(20_000))
    import_sales(brand, build_past_sale(affiliateSlug="rita"))
    with play_gateway() as stage:
        switch_to_test_mode(stage)  # a live gateway would block signed sales
        connect_gateway(owner, stage)
        create_coupon(brand, name="Partner <b>15</b>")
    with play_platform() as platform:
        platform_connected(owner, platform)
    _create_applications(brand, email, names)
    drain()
    names["switch_id"] = str(insert_switch(brand, "Completed", account_name="Acme <b>there</b>"))
    insert_rows(brand, UUID(names["switch_id"]))
    names |= {"number": str(stage_failed_job(brand)), "queue": "sales"}
    return FullBrand(brand, email, names | _ids(brand))


def _create_applications(brand: Brand, email: str, names: dict[str, str]) -> None:
    """Create a program with an application form, and an application whose second step is open."""
    kinds = [
        build_question(
            type, type, label=f"Your <b>{type}</b>?", options=["One", "<i>Two</i>"] if type == "choice" else []
        )
        for type in ("text", "long", "choice", "url", "number")
    ]
    names["offer_id"] = str(brand.program(name="Autumn <b>1</b>", application_form=build_form(*kinds)))
    brand.program(name="Winter <b>2</b>", application_form=build_two_step_form())
    assert apply(brand, email=email, fullName="Rita", answers={"team": "Tea <b>3</b>"}).status_code == 200
    ((application_id,),) = brand.rows("select id from affiliate where source = 'Public'")
    names["application_id"] = str(application_id)


def _sell(payroll: Payroll, names: dict[str, str]) -> None:
    for cents, currency in ((1_234_567_89, "USD"), (4_900, "EUR"), (10_000, "USD")):
        names["conversion_id"] = payroll.sell("rita", cents, currency)
    payroll.brand.sale(affiliateSlug="paused", amountCents=700)  # one without a credited affiliate


def _call_api(caller: Brand, path: str, body: Any, method: str = "POST") -> dict[str, Any]:
    answer = caller.call(method, path, body)
    assert answer.status_code < 300, answer.get_data(as_text=True)
    document = answer.get_json(silent=True)
    return document if isinstance(document, dict) else {}


_ROWS = {
    "endpoint_id": "select id from webhook_endpoint",
    "delivery_id": "select id from delivery order by created_at",
    "payout_id": "select id from payout order by created_at",
    "run_id": "select id from payout_run order by created_at",
    "import_id": "select id from import_job order by created_at",
    "invite_id": "select id from affiliate_invite",
    "deal_id": "select id from deal",
    "link_id": "select id from tracking_link where slug = 'rita'",
    "token_id": "select id from embed_token",
    "key_id": "select id from api_key order by created_at",
    "entry_id": "select id from member order by created_at",
    "member_id": "select id from member order by created_at",
    "code_id": "select id from affiliate_coupon",
    "coupon_id": "select id from campaign_coupon",
    "platform_id": "select id from platform_connection",
    "connection_id": "select id from gateway_connection",
    "message_id": "select id from mail_message where body_sealed is not null order by created_at",
    "organization_id": "select id from organization",
}


def _ids(brand: Brand) -> dict[str, str]:
    with db.unit_of_work(brand.id):
        return {name: str(db.db.run(f"{sql} limit 1")[0][0]) for name, sql in _ROWS.items()}
