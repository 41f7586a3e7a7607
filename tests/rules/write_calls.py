"""A valid call of every route with which a brand writes, and the rows that these calls need."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from adapters import clock
from domain.organization import totp
from models import db
from models.organization import second_factors
from pipelines.payouts import propose
from tests.support import coupons
from tests.support.api import copilot_calls, decisions, embed_tokens
from tests.support.api.import_requests import build_past_sale
from tests.support.gateways.gateway_connections import build_connection_body, connect_gateway
from tests.support.job_queues import drain
from tests.support.outside import brand_dns
from tests.support.platforms import platform_connections as platforms
from tests.support.rows import deal_scene
from tests.support.rows.brands import Brand
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.images import png
from tests.support.switches import switch_calls

_PROGRAMS, _AFFILIATES, _WEBHOOKS = "/api/v1/programs", "/api/v1/affiliates", "/api/v1/webhooks"
_HOOKS, _HOOK = "/api/v1/automation/hooks", {"event": "payout.paid", "targetUrl": "https://localhost/hook"}
_INVITES, _KEYS, _LOGO = "/api/affiliate-invites", "/api/v1/api-keys", "/api/organizations/me/logo"
_FRAUD, _MEMBERS, _CONVERSIONS = "/api/v1/fraud-events", "/api/v1/members", "/api/v1/conversions"
_TEAM, _FACTOR, _TEAM_BODY = "/api/v1/team", "/api/v1/second-factor", {"email": "ada@example.com", "role": "Manager"}
_PAYOUTS, _CONNECTIONS, _DAY = "/api/v1/payouts", "/api/v1/connections", "2024-01-31"
_PLATFORMS, _ASSETS, _PICTURE = "/api/v1/platforms", "/api/v1/assets", {"dataBase64": "R0lGODlhQABAAAAAAA=="}
_RATE, _WORDS = {"commissionType": "Percentage", "commissionValue": 5}, {"name": "Words", "text": "Try it."}

PreparedCall = tuple[str, Any]  # the path and the body; the owner sends it


def _create(owner: Brand, path: str, body: Any) -> str:
    response = owner.post(path, body)
    assert response.status_code in (200, 201), response.get_data(as_text=True)
    created = response.json or {}
    return str((created.get("invite") or created)["id"])


def _create_program(owner: Brand) -> str:
    return f"{_PROGRAMS}/{owner.program()}"


def _create_affiliate(owner: Brand, status: str = "Approved") -> str:
    owner.program()
    return str(owner.affiliate("ben", status=status))


def _create_group(owner: Brand) -> str:
    groups = f"{_create_program(owner)}/partner-groups"
    return f"{groups}/{_create(owner, groups, {'name': 'Gold'} | _RATE)}"


def _create_link(owner: Brand) -> str:
    links = f"{_AFFILIATES}/{_create_affiliate(owner)}/links"
    return f"{links}/{_create(owner, links, {'customAlias': 'ben-two'})}"


def _create_endpoint(owner: Brand) -> str:
    return f"{_WEBHOOKS}/{_create(owner, _WEBHOOKS, {'url': 'https://localhost/hook', 'events': ['*']})}"


def _create_failed_delivery(owner: Brand) -> str:
    endpoint = _create_endpoint(owner)
    delivery = owner.post(f"{endpoint}/test").json or {}
    owner.rows("update delivery set status = 'Failed' where id = %s returning id", delivery["deliveryId"])
    return f"{endpoint}/deliveries/{delivery['deliveryId']}/redeliver"


def _build_invite_body(owner: Brand) -> dict[str, Any]:
    return {"programId": str(owner.program()), "email": f"ada-{owner.id.hex}@example.com"}


def _create_invite(owner: Brand) -> str:
    return f"{_INVITES}/{_create(owner, _INVITES, _build_invite_body(owner))}"


def _create_key(owner: Brand) -> str:
    return f"{_KEYS}/{_create(owner, _KEYS, {})}"


def _create_team_invite(owner: Brand) -> str:
    return f"{_TEAM}/{_create(owner, _TEAM, _TEAM_BODY)}"


def _create_colleague(owner: Brand) -> str:
    owner.person("Viewer").get("/api/v1/programs")
    return f"{_TEAM}/{owner.rows('select id from member where email = %s', 'viewer@example.com')[0][0]}"


def _create_factor(owner: Brand, *, is_confirmed: bool = True) -> dict[str, str]:
    """Give the owner a second factor, and return a body with its current code."""
    with db.any_org_work():
        second_factors.delete("owner@example.com")
    secret = (owner.post(_FACTOR).json or {})["secret"]
    step = totp.step_at(clock.now())
    if is_confirmed:
        owner.post(f"{_FACTOR}/enable", {"code": totp.code_of(secret, step)})
    return {"code": totp.code_of(secret, step + is_confirmed)}


def _reset_factor(owner: Brand) -> str:
    with db.any_org_work():
        second_factors.delete("owner@example.com")
    return _FACTOR


def _create_fraud_event(owner: Brand) -> str:
    return f"{_FRAUD}/{record_blocked_click(owner, UUID(_create_affiliate(owner)))}"


def _create_import(owner: Brand) -> str:
    body = {"programId": str(owner.program()), "affiliates": [{"email": "ann@example.com"}]}
    return str((owner.post(f"{_AFFILIATES}/import", body).json or {})["jobId"])


def _upload_logo(owner: Brand) -> str:
    owner.call("POST", _LOGO, png(64, 64), Content_Type="image/png")
    return _LOGO


def _create_uncredited(owner: Brand) -> str:
    _create_affiliate(owner, "Paused")
    owner.other_key().sale()
    return str(owner.rows("select id from uncredited_conversion")[0][0])


def _create_due_commission(owner: Brand, rail: str = "ok") -> int:
    owner.set(verified="on", payoutGraceDays="0", sandboxRail=rail)
    owner.program()
    owner.affiliate("ben", payout_method="Wallet", payout_destination="ben@example.com")
    owner.other_key().sale()
    drain("sales")
    return int((owner.post(f"{_PAYOUTS}/preview").json or {})["totalEligibleCents"])


def _create_draft(owner: Brand) -> str:
    _create_due_commission(owner)
    owner.call("PATCH", "/api/organizations/me", {"automaticPayoutCadence": "Weekly"})
    with db.any_org_work():
        propose.propose(organization_id=owner.id, now=clock.now() + timedelta(days=7))
    (draft,) = owner.get(f"{_PAYOUTS}/drafts").json
    return f"{_PAYOUTS}/drafts/{draft['id']}"


def _create_payout(owner: Brand, rail: str = "ok") -> str:
    receipt = owner.post(f"{_PAYOUTS}/run", {"confirmTotalCents": _create_due_commission(owner, rail)}).json or {}
    return f"{_PAYOUTS}/{receipt['payouts'][0]['payoutId']}"


def _create_failed_payout(owner: Brand) -> str:
    payout = _create_payout(owner, rail="fail")
    drain("payouts")
    return payout


def _connect_gateway(owner: Brand) -> str:
    return f"{_CONNECTIONS}/{connect_gateway(owner, owner.app.extensions['stage'])['id']}"


def _connect_platform(owner: Brand) -> str:
    return f"{_PLATFORMS}/{platforms.connect_platform(owner, owner.app.extensions['platform'])['id']}"


def _create_gateway_event(owner: Brand) -> str:
    stage = owner.app.extensions["stage"]
    connection = connect_gateway(owner, stage)
    request = stage.create_unknown_event()
    owner.app.test_client().post(
        urlsplit(connection["webhookUrl"]).path, data=request.body, headers=dict(request.headers)
    )
    (event,) = (owner.get(f"{_CONNECTIONS}/{connection['id']}/events").json or {})["items"]
    return f"{_CONNECTIONS}/{connection['id']}/events/{event['id']}"


#: A function per writing route of a brand that prepares a valid call and returns its path and body. A new route
#: without one fails the first test below.
CALLS: dict[str, Callable[[Brand], PreparedCall]] = {
    f"POST {_PROGRAMS}": lambda owner: (
        _PROGRAMS,
        {"name": "P", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1},
    ),
    f"PATCH {_PROGRAMS}/<program_id>": lambda owner: (_create_program(owner), {"name": "Other"}),
    f"DELETE {_PROGRAMS}/<program_id>": lambda owner: (_create_program(owner), None),
    f"PUT {_PROGRAMS}/<program_id>/sub-affiliate-config": lambda owner: (
        f"{_create_program(owner)}/sub-affiliate-config",
        {"enabled": True, "percent": 5},
    ),
    f"POST {_PROGRAMS}/<program_id>/partner-groups": lambda owner: (
        f"{_create_program(owner)}/partner-groups",
        {"name": "Gold"} | _RATE,
    ),
    f"PATCH {_PROGRAMS}/<program_id>/partner-groups/<group_id>": lambda owner: (
        _create_group(owner),
        {"name": "Silver"},
    ),
    f"DELETE {_PROGRAMS}/<program_id>/partner-groups/<group_id>": lambda owner: (_create_group(owner), None),
    f"PUT {_PROGRAMS}/<program_id>/performance-tiers": lambda owner: (
        f"{_create_program(owner)}/performance-tiers",
        [{"minRevenueCents": 0} | _RATE],
    ),
    f"POST {_AFFILIATES}": lambda owner: (
        _AFFILIATES,
        {"programId": str(owner.program()), "email": "ann@example.com", "fullName": "Ann"},
    ),
    f"PATCH {_AFFILIATES}/<affiliate_id>": lambda owner: (
        f"{_AFFILIATES}/{_create_affiliate(owner)}",
        {"fullName": "Bo"},
    ),
    f"POST {_AFFILIATES}/<affiliate_id>/approve": lambda owner: (
        f"{_AFFILIATES}/{_create_affiliate(owner, 'Pending')}/approve",
        None,
    ),
    f"POST {_AFFILIATES}/<affiliate_id>/reject": lambda owner: (
        f"{_AFFILIATES}/{_create_affiliate(owner, 'Pending')}/reject",
        {},
    ),
    f"POST {_AFFILIATES}/<affiliate_id>/links": lambda owner: (
        f"{_AFFILIATES}/{_create_affiliate(owner)}/links",
        {"customAlias": "ben-two"},
    ),
    f"DELETE {_AFFILIATES}/<affiliate_id>/links/<link_id>": lambda owner: (_create_link(owner), None),
    f"POST {_AFFILIATES}/bulk-action": lambda owner: (
        f"{_AFFILIATES}/bulk-action",
        {"action": "pause", "affiliateIds": [_create_affiliate(owner)]},
    ),
    "POST /api/affiliates/bulk": lambda owner: (
        "/api/affiliates/bulk",
        {"affiliateIds": [_create_affiliate(owner)], "action": "tag", "tag": "vip"},
    ),
    "POST /api/affiliates/bulk/approve": lambda owner: (
        "/api/affiliates/bulk/approve",
        {"ids": [_create_affiliate(owner, "Pending")]},
    ),
    "POST /api/affiliates/bulk/pause": lambda owner: (
        "/api/affiliates/bulk/pause",
        {"ids": [_create_affiliate(owner)]},
    ),
    f"POST {_AFFILIATES}/import": lambda owner: (
        f"{_AFFILIATES}/import",
        {"programId": str(owner.program()), "affiliates": [{"email": "ann@example.com"}]},
    ),
    "POST /api/v1/conversions/import": lambda owner: (
        "/api/v1/conversions/import",
        {"programId": str(owner.program()), "conversions": [build_past_sale()]},
    ),
    "POST /api/imports/<import_id>/undo": lambda owner: (f"/api/imports/{_create_import(owner)}/undo", None),
    f"POST {_CONVERSIONS}": lambda owner: (
        _CONVERSIONS,
        {"affiliateId": _create_affiliate(owner), "programId": str(owner.programs[-1]), "amountCents": 100},
    ),
    **decisions.CALLS,
    "PATCH /api/v1/uncredited-conversions/<uncredited_id>/dismiss": lambda owner: (
        f"/api/v1/uncredited-conversions/{_create_uncredited(owner)}/dismiss",
        None,
    ),
    f"POST {_PAYOUTS}/run": lambda owner: (f"{_PAYOUTS}/run", {"confirmTotalCents": _create_due_commission(owner)}),
    f"DELETE {_PAYOUTS}/drafts/<draft_id>": lambda owner: (_create_draft(owner), None),
    f"POST {_PAYOUTS}/<payout_id>/retry": lambda owner: (f"{_create_failed_payout(owner)}/retry", None),
    f"POST {_PAYOUTS}/<payout_id>/void": lambda owner: (f"{_create_failed_payout(owner)}/void", None),
    f"POST {_PAYOUTS}/<payout_id>/mark-paid": lambda owner: (
        f"{_create_payout(owner)}/mark-paid",
        {"externalTransactionId": "bank 17"},
    ),
    f"POST {_INVITES}": lambda owner: (_INVITES, _build_invite_body(owner)),
    f"POST {_INVITES}/bulk": lambda owner: (
        f"{_INVITES}/bulk",
        {"programId": str(owner.program()), "emails": [f"ada-{owner.id.hex}@example.com"]},
    ),
    f"POST {_INVITES}/<invite_id>/resend": lambda owner: (f"{_create_invite(owner)}/resend", None),
    f"DELETE {_INVITES}/<invite_id>": lambda owner: (_create_invite(owner), None),
    f"PATCH {_FRAUD}/<event_id>": lambda owner: (_create_fraud_event(owner), {"action": "dismiss"}),
    f"POST {_FRAUD}/ban-affiliate/<affiliate_id>": lambda owner: (
        f"{_FRAUD}/ban-affiliate/{_create_affiliate(owner)}",
        None,
    ),
    f"POST {_HOOKS}": lambda owner: (_HOOKS, _HOOK),
    f"DELETE {_HOOKS}/<hook_id>": lambda owner: (f"{_HOOKS}/{_create(owner, _HOOKS, _HOOK)}", None),
    f"POST {_WEBHOOKS}": lambda owner: (_WEBHOOKS, {"url": "https://localhost/hook", "events": ["*"]}),
    f"PATCH {_WEBHOOKS}/<endpoint_id>": lambda owner: (_create_endpoint(owner), {"description": "Ours"}),
    f"DELETE {_WEBHOOKS}/<endpoint_id>": lambda owner: (_create_endpoint(owner), None),
    f"POST {_WEBHOOKS}/<endpoint_id>/rotate-secret": lambda owner: (f"{_create_endpoint(owner)}/rotate-secret", None),
    f"POST {_WEBHOOKS}/<endpoint_id>/test": lambda owner: (f"{_create_endpoint(owner)}/test", {}),
    f"POST {_WEBHOOKS}/<endpoint_id>/deliveries/<delivery_id>/redeliver": lambda owner: (
        _create_failed_delivery(owner),
        None,
    ),
    f"POST {_WEBHOOKS}/<endpoint_id>/redeliver": lambda owner: (
        f"{_create_endpoint(owner)}/redeliver",
        {"since": _DAY},
    ),
    f"POST {_CONNECTIONS}": lambda owner: (_CONNECTIONS, build_connection_body(owner.app.extensions["stage"])),
    f"PATCH {_CONNECTIONS}/<connection_id>": lambda owner: (
        _connect_gateway(owner),
        {"credentials": dict(owner.app.extensions["stage"].credentials)},
    ),
    f"DELETE {_CONNECTIONS}/<connection_id>": lambda owner: (_connect_gateway(owner), None),
    f"POST {_CONNECTIONS}/<connection_id>/reconcile": lambda owner: (f"{_connect_gateway(owner)}/reconcile", {}),
    f"POST {_CONNECTIONS}/<connection_id>/events/<event_id>/replay": lambda owner: (
        f"{_create_gateway_event(owner)}/replay",
        None,
    ),
    f"POST {_PLATFORMS}": lambda owner: (_PLATFORMS, platforms.build_platform_body(owner.app.extensions["platform"])),
    f"PATCH {_PLATFORMS}/<connection_id>": lambda owner: (_connect_platform(owner), {"creditSales": False}),
    f"DELETE {_PLATFORMS}/<connection_id>": lambda owner: (_connect_platform(owner), None),
    **coupons.WRITES,
    **deal_scene.WRITES,
    **brand_dns.WRITES,
    "PATCH /api/v1/settings/attribution-params": lambda owner: (
        "/api/v1/settings/attribution-params",
        {"custom": "pk_ref"},
    ),
    "PUT /api/v1/notification-preferences": lambda owner: (
        "/api/v1/notification-preferences",
        {"items": [{"kind": "first_sale", "email": False}]},
    ),
    "PUT /api/v1/settings/home-currency": lambda owner: ("/api/v1/settings/home-currency", {"homeCurrency": "EUR"}),
    "PATCH /api/organizations/me": lambda owner: ("/api/organizations/me", {"name": "Other"}),
    f"POST {_LOGO}": lambda owner: (_LOGO, _PICTURE),
    f"DELETE {_LOGO}": lambda owner: (_upload_logo(owner), None),
    f"POST {_PROGRAMS}/hero-images": lambda owner: (f"{_PROGRAMS}/hero-images", _PICTURE),
    f"POST {_ASSETS}": lambda owner: (_ASSETS, _WORDS),
    f"DELETE {_ASSETS}/<asset_id>": lambda owner: (f"{_ASSETS}/{_create(owner, _ASSETS, _WORDS)}", None),
    f"POST {embed_tokens.TOKENS}": lambda owner: (
        embed_tokens.TOKENS,
        embed_tokens.build_token_body(_create_affiliate(owner)),
    ),
    f"DELETE {embed_tokens.TOKENS}/<token_id>": lambda owner: (
        embed_tokens.issue_token_url(owner, _create_affiliate(owner)),
        None,
    ),
    f"POST {_KEYS}": lambda owner: (_KEYS, {"name": "shop"}),
    f"POST {_KEYS}/<key_id>/rotate": lambda owner: (f"{_create_key(owner)}/rotate", None),
    f"DELETE {_KEYS}/<key_id>": lambda owner: (_create_key(owner), None),
    f"POST {_TEAM}": lambda owner: (_TEAM, _TEAM_BODY),
    f"POST {_TEAM}/<entry_id>/resend": lambda owner: (f"{_create_team_invite(owner)}/resend", None),
    f"PATCH {_TEAM}/<entry_id>": lambda owner: (_create_colleague(owner), {"role": "Manager"}),
    f"DELETE {_TEAM}/<entry_id>": lambda owner: (_create_colleague(owner), None),
    f"POST {_FACTOR}": lambda owner: (_reset_factor(owner), None),
    f"POST {_FACTOR}/enable": lambda owner: (f"{_FACTOR}/enable", _create_factor(owner, is_confirmed=False)),
    f"POST {_FACTOR}/recovery-codes": lambda owner: (f"{_FACTOR}/recovery-codes", _create_factor(owner)),
    f"POST {_FACTOR}/disable": lambda owner: (f"{_FACTOR}/disable", _create_factor(owner)),
    f"DELETE {_MEMBERS}/<member_id>/sessions": lambda owner: (f"{_MEMBERS}/{owner.member_id()}/sessions", None),
} | {**copilot_calls.CALLS, **switch_calls.CALLS}
