"""Applications of a signed-in person to programs whose form has a second step."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from models.conditions import OF_PERSON, OPEN_PROGRAM
from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class OwnApplication:
    """A person's application to a program with a second step, with all their answers.

    `takes_answers`: the program is open.
    """

    affiliate_id: UUID
    organization_id: UUID
    program_id: UUID
    organization_name: str
    program_name: str
    status: str
    source: str
    applied_at: datetime
    completed_at: datetime | None
    application_data: Mapping[str, Any] | None
    application_form: Mapping[str, Any]
    takes_answers: bool


_OWN = Rows(OwnApplication)
_COLUMNS = columns(
    OwnApplication,
    "m",
    affiliate_id="m.id",
    organization_name="o.name",
    program_name="p.name",
    completed_at="m.application_completed_at",
    application_form="p.application_form",
    takes_answers=OPEN_PROGRAM,
)
_ANY_ORG_OWN = f"""
select {_COLUMNS} from affiliate m
join program p on p.organization_id = m.organization_id and p.id = m.program_id
join organization o on o.id = m.organization_id
where {OF_PERSON} and p.archived_at is null and p.application_form->>'steps' = '2'
order by o.name, p.name, m.id
"""


def any_org_list_applications(*, account_id: UUID | None, email: str | None) -> list[OwnApplication]:
    """Return a person's applications to programs whose form has a second step, by brand and program. 1 statement."""
    return _OWN.all(_ANY_ORG_OWN, {"account": account_id, "email": email})


_ANY_ORG_ORGANIZATION = f"select m.organization_id from affiliate m where {OF_PERSON} and m.id = %(affiliate)s"


def any_org_find_organization(*, account_id: UUID | None, email: str | None, affiliate_id: UUID) -> UUID | None:
    """Return the organization of a person's affiliate; None if the affiliate is not theirs."""
    params = {"account": account_id, "email": email, "affiliate": affiliate_id}
    row = db.row(_ANY_ORG_ORGANIZATION, params)
    return row[0] if row else None
