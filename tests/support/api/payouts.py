"""Requests about payouts, sent by the Owner of an organization that may pay."""

from typing import Any

from adapters.identity import tokens
from tests.support.rows.brands import Brand
from tests.support.rows.payroll import Payroll

URL = "/api/v1/payouts"
RUN = f"{URL}/run"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def owner_session(payroll: Payroll) -> Brand:
    """Return the Owner's session, created by an interactive login."""
    return payroll.brand.person("Owner")


def session_without_login(brand: Brand, role: str = "Owner") -> Brand:
    """Return the same organization with a token that was issued without an interactive login."""
    token = tokens.issue_dashboard(
        organization_id=brand.id,
        role=role,
        email=f"{role.lower()}@example.com",
        is_email_verified=True,
        ttl_s=600,
        is_interactive=False,
    )
    return Brand(brand.app, brand.id, token, "", brand.programs)


def run_payouts(payroll: Payroll, **body: Any) -> dict[str, Any]:
    """Run payouts with the total of the preview and return the receipt."""
    person = owner_session(payroll)
    total = body.pop("confirmTotalCents", None)
    if total is None:
        total = person.post(f"{URL}/preview", body).json["totalEligibleCents"]
    answer = person.post(f"{URL}/run", body | {"confirmTotalCents": total})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return dict(answer.json)


def create_payout(payroll: Payroll, slug: str = "ann", amount_cents: int = 10_000, **run_body: Any) -> str:
    """Create a sale, run payouts, and return the id of the only payout, which is Pending."""
    if slug not in payroll.affiliates:
        payroll.affiliate(slug)
    payroll.sell(slug, amount_cents)
    (payout,) = run_payouts(payroll, **run_body)["payouts"]
    return str(payout["payoutId"])


def problem_fields(answer: Any) -> set[str]:
    """Return the invalid fields in a problem details response."""
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), answer.get_data(as_text=True)
    return set(answer.json["errors"])


def list_audit_entries(brand: Brand, action: str) -> list[tuple[Any, ...]]:
    """Return actor, entity, before and after of the audit entries of an action."""
    return brand.rows(
        "select actor_type, entity_id, before, after from audit_entry where action = %s order by created_at", action
    )


def read_refusal(answer: Any) -> tuple[int, str]:
    """Return the status and the error code of a response."""
    assert "error" in answer.json, answer.get_data(as_text=True)
    return answer.status_code, answer.json["error"]
