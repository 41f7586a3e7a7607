"""What the tests of applications and their forms share."""

import re
from typing import Any

from models import db
from pipelines import mail
from tests.support.job_queues import drain


def apply(brand, body=None, *, program_id=None, headers=None, **fields):
    """Apply to the brand's last program, or to another, as anybody."""
    sent = {"email": "ada@example.com"} | fields if body is None else body
    client = brand.app.test_client()
    return client.post(f"/api/p/id/{program_id or brand.programs[-1]}/apply", json=sent, headers=headers)


def list_applicants(brand, columns):
    """Return who applied."""
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


def list_events(brand):
    """Return the brand's events, each with its data."""
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


def build_question(key: str = "team", type: str = "text", **fields: Any) -> dict[str, Any]:
    """Return a field of a form, as it is sent and as it is shown."""
    whole = {"key": key, "step": 1, "label": f"Your {key}?", "type": type, "required": False, "options": []}
    return whole | fields


def build_form(*questions: dict[str, Any], steps: int = 1) -> dict[str, Any]:
    """Return a form of these fields; without any it has a field of its own."""
    return {"steps": steps, "fields": list(questions) or [build_question()]}


def build_two_step_form() -> dict[str, Any]:
    """Return a form that asks for a team first, and for a reach and a plan behind the link."""
    return build_form(
        build_question("team", required=True),
        build_question("reach", "number", step=2, required=True),
        build_question("plan", "long", step=2),
        steps=2,
    )


def list_second_step_links(brand: Any, email: str) -> list[str]:
    """Return the links to the second step in the letters to an address, oldest first."""
    sql = "select id from mail_message where recipient = %s and kind = 'affiliate.application' order by created_at, id"
    link = brand.rows(sql, email)
    with db.any_org_work():
        letters = [mail.any_org_open(letter_id).text or "" for (letter_id,) in link]
    return [re.search(r"https?://[^/\s]+(/p/answers/\S+)", text)[1] for text in letters]  # type: ignore[index]


def apply_for_second_step(brand: Any, email: str) -> str:
    """Apply to the brand's last program, whose form is `two_steps`, and return the path of the link in the letter."""
    answer = apply(brand, email=email, fullName="Ada", answers={"team": "Tea"})
    assert answer.status_code == 200, answer.data
    drain("mail")
    (link,) = list_second_step_links(brand, email)
    return link
