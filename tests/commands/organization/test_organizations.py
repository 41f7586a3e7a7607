"""`flask org`: creating, listing and changing organizations."""

import re
from uuid import uuid4

import pytest

from domain.mail import smtp_address
from models import db
from pipelines import mail
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings

_HOST_TAKEN = (
    "Error: Another organization has this portalHost or trackingDomain, or left it less than 90 days ago."
    " `flask org free-host HOST` frees a host that was left.\n"
)
_UUID = r"[0-9a-f]{8}-[0-9a-f-]{27}"


def _list_audit_entries(organization_id) -> list[tuple]:
    with db.any_org_work():
        return db.db.run(
            "select action, entity_type, entity_id, actor_type, after from audit_entry"
            " where organization_id = %s order by created_at",
            (organization_id,),
        )


def _read_column(brand, column: str):
    return brand.rows(f"select {column} from organization")[0][0]


def test_created_organization_is_printed_with_a_link_and_the_next_step(app, flask):
    email = f"ada-{uuid4().hex}@acme.example"
    code, output = flask("org", "create", "--name", "Acme & Söhne", "--owner-email", email)

    assert code == 0
    lines = output.splitlines()
    assert re.fullmatch(rf"{_UUID}  Acme & Söhne", lines[0])
    assert lines[2] == "Next: sign in. The overview lists the next steps, and no further command is needed."
    browser = Visitor(app)
    assert browser.open(re.search(r"http\S+", lines[1])[0]).headers["Location"] == "/dashboard"
    assert "Acme &amp; Söhne" in browser.open("/dashboard/settings").text


def test_first_owner_gets_the_link_by_email_and_signs_in_without_the_shell_later(app, flask, monkeypatch):
    override_settings(monkeypatch, mail={"smtp": smtp_address.parse("smtp://127.0.0.1:1")})
    email = f"ada-{uuid4().hex}@acme.example"
    code, output = flask("org", "create", "--name", "Acme", "--owner-email", email.upper())
    link = _read_links(email)[0]

    assert code == 0
    assert "http" not in output
    assert f"was sent to {email}" in output
    browser = Visitor(app)
    assert browser.open(link).status_code == 200  # a mail scanner uses nothing up
    assert browser.send(link).headers["Location"] == "/dashboard"
    again = Visitor(app)
    again.send("/sign-in", {"email": email})
    drain("mail")
    assert again.open(_read_links(email)[-1]).headers["Location"] == "/dashboard"


def _read_links(email):
    """Return the paths of the sign-in links in the emails to an address, oldest first."""
    with db.any_org_work():
        rows = db.db.run("select id from mail_message where recipient = %s order by created_at, id", (email,))
        texts = [mail.any_org_open(message_id).text for (message_id,) in rows]
    return ["/" + re.search(r"http\S+", text)[0].split("/", 3)[3] for text in texts]


def test_organization_is_created_as_requested_and_audited(flask):
    created = flask.json("org", "create", "--name", "Acme", "--plan", "Pro", "--status", "Trialing", "--currency",
              "eur", "--owner-email", "Ann@Example.com")  # fmt: skip
    with db.any_org_work():
        organization = db.db.row(
            "select plan_tier, subscription_status, home_currency, trial_ends_at::date - current_date"
            " from organization where id = %s", (created["id"],)
        )  # fmt: skip
        members = db.db.run("select email, role from member where organization_id = %s", (created["id"],))

    assert created["name"] == "Acme"
    assert organization == ("Pro", "Trialing", "EUR", 14)
    assert members == [("ann@example.com", "Owner")]
    assert [(action, entity_id) for action, _, entity_id, *_ in _list_audit_entries(created["id"])] == [
        ("organization.created", created["id"])
    ]


def test_organization_created_as_verified_pays_without_hold_and_limit(flask):
    arguments = ("org", "create", "--name", "Acme", "--owner-email", "ada@acme.example")
    verified, other = flask.json(*arguments, "--verified"), flask.json(*arguments)

    with db.any_org_work():
        stored = db.db.run(
            "select verification_state from organization where id in (%s, %s) order by created_at, id",
            (verified["id"], other["id"]),
        )
    assert stored == [("verified",), ("unverified",)]
    assert [after["verified"] for *_, after in _list_audit_entries(verified["id"])] == [True]


def test_list_prints_organization_names_without_markup(flask, brand):
    brand.rows("update organization set name = '[/red] [bold]x' returning id")  # must not be read as markup

    rows = flask.json("org", "list")
    code, output = flask("org", "list")

    row = {"id": str(brand.id), "name": "[/red] [bold]x", "plan": "Growth", "status": "Active"}
    assert row | {"trackingDomain": None, "trackingDomainVerified": None} in rows
    assert code == 0
    assert "[/red] [bold]x" in output


@pytest.mark.parametrize(
    ("assignment", "column", "value"),
    [
        ("plan=Pro", "plan_tier", "Pro"),
        ("status=PastDue", "subscription_status", "PastDue"),
        ("gateways=stripe, paddle", "gateways", ["stripe", "paddle"]),
        ("gateways=", "gateways", []),
        ("payoutGraceDays=0", "payout_grace_days", 0),
        ("currency=jpy", "home_currency", "JPY"),
        ("trialEndsAt=2030-01-02T00:00:00Z", "trial_ends_at::text", "2030-01-02 00:00:00+00"),
        ("affiliateLimit=0", "affiliate_limit", 0),
        ("affiliateLimit=none", "affiliate_limit", None),
        ("subdomain=acme-partners-7", "subdomain", "acme-partners-7"),
        ("portalHost=partners.acme.example", "portal_host", "partners.acme.example"),
        ("portalHost=none", "portal_host", None),
        ("billingProvider=stripe", "billing_provider", "stripe"),
        ("billingInterval=Month", "billing_interval", "Month"),
        ("billingInterval=", "billing_interval", None),
        ("fraudStrictness=strict", "fraud_strictness", "strict"),
        ("fraudScore=100", "fraud_score", 100),
        ("sandboxRail=ambiguous", "sandbox_rail", "ambiguous"),
        ("sandboxRail=none", "sandbox_rail", None),
        (
            "bannedReferrers=Coupons.example, b.deals.example,,coupons.example",
            "banned_referrers",
            ["b.deals.example", "coupons.example"],
        ),
        ("bannedReferrers=", "banned_referrers", []),
        ("leadPreview=on", "lead_preview", True),
        ("leadPreview=off", "lead_preview", False),
        ("leadsPerDay=7", "leads_per_day", 7),
        ("pixelPublicKey=px_Acme-17", "pixel_public_key", "px_Acme-17"),
        ("pixelPublicKey=none", "pixel_public_key", None),
        ("trackingDomain=go.acme.example", "tracking_domain", "go.acme.example"),
        ("trackingDomain=none", "tracking_domain", None),
        ("trackingDomainVerified=on", "tracking_domain_verified", True),
        ("verified=on", "verification_state", "verified"),
        ("verified=pending", "verification_state", "pending"),
        ("verified=off", "verification_state", "unverified"),
        ("identityRequired=on", "identity_required", True),
        ("identityRequired=off", "identity_required", False),
        ("identityRequired=auto", "identity_required", None),
        ("identityThreshold=101", "identity_threshold", 101),
        ("highRiskThreshold=1", "high_risk_threshold", 1),
        ("fundingMode=debit", "funding_mode", "debit"),
        ("bankBalanceCents=0", "bank_balance_cents", 0),
        ("bankBalanceCents=123456789012", "bank_balance_cents", 123_456_789_012),
        ("fundingFrozen=on", "funding_frozen", True),
        ("needsReview=on", "payouts_need_review", True),
        ("payoutHold=on", "payout_hold_days", 7),
        ("payoutHold=14", "payout_hold_days", 14),
        ("payoutHold=off", "payout_hold_days", 0),
        ("taxFormRequired=on", "tax_form_required", True),
    ],
)
def test_setting_is_changed_and_audited(flask, brand, assignment, column, value):
    name, _, value_text = assignment.partition("=")

    changed = flask.json("org", "set", str(brand.id), assignment)

    assert changed == {"id": str(brand.id), "set": {name: value_text}}
    assert _read_column(brand, column) == value
    assert _list_audit_entries(brand.id) == [
        ("organization.changed", "organization", str(brand.id), "operator", {name: value_text}),
    ]


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (
            "colour=red",
            "'colour' is not a setting; settings: affiliateLimit, bankBalanceCents, bannedReferrers, billingInterval, "
            "billingProvider, commissionBasis, currency, dealFundingSource, fraudScore, fraudStrictness, "
            "fundingFrozen, fundingMode, gateways, highRiskThreshold, identityRequired, identityThreshold, "
            "leadPreview, leadsPerDay, needsReview, "
            "payoutGraceDays, payoutHold, pixelPublicKey, plan, portalHost, sandboxRail, selfReferrals, "
            "status, subdomain, "
            "taxFormRequired, trackingDomain, trackingDomainVerified, trialEndsAt, verified",
        ),
        ("plan=Gold", "'Gold' must be one of: Free, Starter, Growth, Pro"),
        ("gateways=stripe,cash", "'cash' must be one of: stripe, "),
        ("sandboxRail=real", "'real' must be one of: ok, fail, ambiguous, slow"),
        ("payoutGraceDays=91", "'91' is not a number of days from 0 to 90"),
        ("payoutGraceDays=-1", "'-1' is not a number of days from 0 to 90"),
        ("currency=XXX", "'XXX' is not a supported currency code"),
        ("trialEndsAt=2030-01-02T00:00:00", "has no time zone; add Z"),
        ("trialEndsAt=soon", "'soon' is not an ISO 8601 time"),
        ("affiliateLimit=-1", "'-1' is neither a number of affiliates nor none"),
        ("affiliateLimit=99999999999", "'99999999999' is neither a number of affiliates nor none"),
        ("subdomain=a.b", "'a.b' is not a subdomain"),
        ("subdomain=", "'' is not a subdomain"),
        ("subdomain=admin", "'admin' is not a subdomain"),
        ("portalHost=localhost", "'localhost' is neither a host name, such as partners.example.com, nor none"),
        ("portalHost=Acme.example", "is neither a host name"),
        ("billingInterval=Week", "'Week' must be one of: Month, Year"),
        ("fraudStrictness=harsh", "'harsh' must be one of: lenient, balanced, strict"),
        ("fraudScore=101", "'101' is not a score from 0 to 100"),
        ("fraudScore=-1", "'-1' is not a score from 0 to 100"),
        ("fraudScore=²", "'²' is not a score from 0 to 100"),
        ("bannedReferrers=a.example,https://b.example", "'https://b.example' is not a host name, such as"),
        ("bannedReferrers=192.0.2.1", "'192.0.2.1' is not a host name"),
        (
            f"bannedReferrers={','.join(f'a{number}.example' for number in range(1001))}",
            "There are 1001 host names; 1000 can be banned",
        ),
        ("leadPreview=yes", "'yes' must be one of: on, off"),
        ("leadsPerDay=0", "'0' is not a number of leads from 1 to 1000000"),
        ("leadsPerDay=1000001", "'1000001' is not a number of leads"),
        ("leadsPerDay=-1", "'-1' is not a number of leads"),
        ("pixelPublicKey=short", "'short' is neither 8 to 64 of"),
        ("pixelPublicKey=<script>alert", "'<script>alert' is neither 8 to 64 of"),
        ("trackingDomain=https://go.acme.example", "is neither a host name, such as go.example.com, nor none"),
        ("trackingDomain=Go.acme.example", "is neither a host name"),
        ("trackingDomain=192.0.2.1", "is neither a host name"),
        ("trackingDomainVerified=yes", "'yes' must be one of: on, off"),
        ("verified=yes", "'yes' must be one of: on, off, pending"),
        ("identityRequired=", "'' must be one of: on, off, auto"),
        ("identityThreshold=0", "'0' is not a threshold from 1 to 101"),
        ("highRiskThreshold=102", "'102' is not a threshold from 1 to 101"),
        ("highRiskThreshold=³", "'³' is not a threshold"),
        ("fundingMode=credit", "'credit' must be one of: debit, balance"),
        ("bankBalanceCents=-1", "'-1' is not a number of US cents"),
        ("bankBalanceCents=1.5", "'1.5' is not a number of US cents"),
        (f"bankBalanceCents={10**18}", "is not a number of US cents"),
        ("fundingFrozen=1", "'1' must be one of: on, off"),
        ("needsReview=yes", "'yes' must be one of: on, off"),
        ("payoutHold=-1", "'-1' is neither on, off nor a number of days to 365"),
        ("payoutHold=366", "'366' is neither on, off nor"),
        ("taxFormRequired=auto", "'auto' must be one of: on, off"),
    ],
)
def test_invalid_setting_is_refused_in_one_line_and_changes_nothing(flask, brand, assignment, message):
    code, output = flask("org", "set", str(brand.id), "status=Canceled", assignment)

    assert code == 1
    assert output.startswith("Error: ")
    assert message in output
    assert output.count("\n") == 1
    assert _read_column(brand, "subscription_status") == "Active"
    assert _list_audit_entries(brand.id) == []


@pytest.mark.parametrize("setting", ["subdomain=shared-name-7", "portalHost=shared.acme.example"])
def test_host_of_another_organization_is_refused_in_one_line(flask, brand, rival, setting):
    assert flask("org", "set", str(rival.id), setting)[0] == 0

    code, output = flask("org", "set", str(brand.id), "plan=Free", setting)

    assert (code, output.count("\n")) == (1, 1)
    assert output.startswith("Error: Another organization has this ")
    assert _read_column(brand, "plan_tier") == "Growth"


def test_tracking_domain_is_verified_for_one_organization_until_changed(flask, brand, rival):
    both = ("trackingDomainVerified=on", "trackingDomain=go.shared.example")
    assert flask("org", "set", str(rival.id), *both)[0] == 0

    code, output = flask("org", "set", str(brand.id), *both)
    flask("org", "set", str(rival.id), "trackingDomain=new.shared.example")

    assert (code, output) == (1, _HOST_TAKEN)
    assert _read_column(rival, "tracking_domain_verified") is False
    assert flask("org", "set", str(brand.id), *both) == (1, _HOST_TAKEN)


def test_freed_host_goes_to_the_next_organization_and_is_audited(flask, brand, rival):
    host = f"go.{brand.id.hex}.example"
    both = ("trackingDomainVerified=on", f"trackingDomain={host}")
    flask("org", "set", str(rival.id), *both)
    in_use = flask("org", "free-host", host)
    flask("org", "set", str(rival.id), "trackingDomain=none")

    freed = flask("org", "free-host", host.upper())
    again = flask("org", "free-host", host)

    assert in_use == (1, f"Error: Organization {rival.id} still uses {host}; remove it there first.\n")
    assert freed == (0, f"{host} is free for any organization. It was reserved for organization {rival.id}.\n")
    assert again == (1, f"Error: No organization has left {host} in the last 90 days.\n")
    assert _list_audit_entries(rival.id)[-1][0] == "organization.host_freed"
    assert flask("org", "set", str(brand.id), *both)[0] == 0


def test_currency_change_is_timestamped(flask, brand):
    flask("org", "set", str(brand.id), "currency=EUR")

    assert _read_column(brand, "home_currency_changed_at > now() - interval '1 minute'") is True


def test_unknown_organization_is_refused(flask):
    unknown_id = str(uuid4())

    assert flask("org", "set", unknown_id, "plan=Pro") == (1, f"Error: There is no organization {unknown_id}.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["org", "create"], "Missing option '--name'"),
        (["org", "create", "--name", "x"], "Missing option '--owner-email'"),
        (["org", "create", "--name", "x", "--plan", "Gold"], "'Gold' is not one of 'Free', 'Starter', 'Growth', 'Pro'"),
        (["org", "set", "17", "plan=Pro"], "'17' is not a valid UUID"),
        (["org", "set", str(uuid4()), "plan"], "'plan' is not FIELD=VALUE"),
    ],
)
def test_invalid_arguments_exit_with_2(flask, arguments, message):
    code, output = flask(*arguments)

    assert code == 2
    assert message in output


@pytest.mark.parametrize("email", ["", "nobody", "a@", "a b@acme.example", "x" * 250 + "@acme.example"])
def test_invalid_owner_email_creates_no_organization(flask, email):
    name = f"Acme {uuid4().hex}"

    code, output = flask("org", "create", "--name", name, "--owner-email", email)

    assert code == 1
    assert "e-mail address" in output
    assert name not in flask("org", "list", "--json")[1]
