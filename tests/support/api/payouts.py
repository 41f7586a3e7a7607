"""Payouts asked for through HTTP: the owner of an organization that pays, and what they send."""

from typing import Any

from adapters.identity import tokens
from tests.support.rows.brands import Brand
from tests.support.rows.payroll import Payroll

URL = "/api/v1/payouts"
RUN = f"{URL}/run"
UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


def owner_session(payroll: Payroll) -> Brand:
    """Return the Owner's session, which somebody logged in to."""
    return payroll.brand.person("Owner")


def session_without_login(brand: Brand, role: str = "Owner") -> Brand:
    """Return the same organization through a token that nobody logged in for."""
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
    """Run what the preview says and return the receipt."""
    person = owner_session(payroll)
    total = body.pop("confirmTotalCents", None)
    if total is None:
        total = person.post(f"{URL}/preview", body).json["totalEligibleCents"]
    answer = person.post(f"{URL}/run", body | {"confirmTotalCents": total})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return dict(answer.json)


def create_payout(payroll: Payroll, slug: str = "ann", amount_cents: int = 10_000, **run_body: Any) -> str:
    """Sell through an affiliate, run, and return the id of the one payout, which is Pending."""
    if slug not in payroll.affiliates:
        payroll.affiliate(slug)
    payroll.sell(slug, amount_cents)
    (payout,) = run_payouts(payroll, **run_body)["payouts"]
    return str(payout["payoutId"])


def problem_fields(answer: Any) -> set[str]:
    """Return the fields that problem details name."""
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), answer.get_data(as_text=True)
    return set(answer.json["errors"])


def list_audit_entries(brand: Brand, action: str) -> list[tuple[Any, ...]]:
    """Return the audit entries of an action: who, about what, before and after."""
    return brand.rows(
        "select actor_type, entity_id, before, after from audit_entry where action = %s order by created_at", action
    )


def read_refusal(answer: Any) -> tuple[int, str]:
    """Return the status and the code of a refusal."""
    assert "error" in answer.json, answer.get_data(as_text=True)
    return answer.status_code, answer.json["error"]
