"""Affiliates' applications to programs, and application forms."""

import re
from typing import Any

from models import db
from pipelines import mail
from tests.support.job_queues import drain


def apply(brand, body=None, *, program_id=None, headers=None, **fields):
    """Apply to the brand's last program, or to `program_id`, without signing in."""
    json_body = {"email": "ada@example.com"} | fields if body is None else body
    client = brand.app.test_client()
    return client.post(f"/api/p/id/{program_id or brand.programs[-1]}/apply", json=json_body, headers=headers)


def list_applicants(brand, columns):
    """Return columns of the affiliates who applied, oldest first."""
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


def list_events(brand):
    """Return the type and data of the brand's events."""
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


def build_question(key: str = "team", type: str = "text", **fields: Any) -> dict[str, Any]:
    """Return a form field, as requests and responses have it."""
    defaults = {"key": key, "step": 1, "label": f"Your {key}?", "type": type, "required": False, "options": []}
    return defaults | fields


def build_form(*questions: dict[str, Any], steps: int = 1) -> dict[str, Any]:
    """Return a form with these fields, or with one default field."""
    return {"steps": steps, "fields": list(questions) or [build_question()]}


def build_two_step_form() -> dict[str, Any]:
    """Return a form with the field team in step 1, and reach and plan in step 2, which a link leads to."""
    return build_form(
        build_question("team", required=True),
        build_question("reach", "number", step=2, required=True),
        build_question("plan", "long", step=2),
        steps=2,
    )


def list_second_step_links(brand: Any, email: str) -> list[str]:
    """Return the links to the second step in the emails to an address, oldest first."""
    sql = "select id from mail_message where recipient = %s and kind = 'affiliate.application' order by created_at, id"
    message_ids = brand.rows(sql, email)
    with db.any_org_work():
        texts = [mail.any_org_open(message_id).text or "" for (message_id,) in message_ids]
    return [re.search(r"https?://[^/\s]+(/p/answers/\S+)", text)[1] for text in texts]  # type: ignore[index]


def apply_for_second_step(brand: Any, email: str) -> str:
    """Apply to the brand's last program, which has a two-step form, and return the link's path in the email."""
    answer = apply(brand, email=email, fullName="Ada", answers={"team": "Tea"})
    assert answer.status_code == 200, answer.data
    drain("mail")
    (link,) = list_second_step_links(brand, email)
    return link
