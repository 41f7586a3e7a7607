"""Applications of the affiliate who signed in, where more is asked of them, on the wire."""

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.programs import application_form
from domain.programs.application_form import ApplicationForm
from schemas.base import Instant, Wire, one_of
from schemas.bounded import Entries
from schemas.programs.application_form import FormFieldRecord


class OwnApplicationRecord(Wire):
    """An application whose form has a second step: what it asks, and what was answered so far.

    `isOpen`: it may be handed in (again), until the brand has decided; once by whoever was let in before.
    """

    wire_name = "OwnApplication"

    affiliate_id = fields.UUID()
    organization_id = fields.UUID()
    program_id = fields.UUID()
    organization_name = fields.String()
    program_name = fields.String()
    status = one_of(statuses.AffiliateStatus)
    applied_at = Instant()
    completed_at = Instant(allow_none=True)
    is_open = fields.Boolean()
    questions = fields.List(fields.Nested(FormFieldRecord), data_key="fields")
    answers = fields.Dict(keys=fields.String(), values=fields.Raw())


class SecondStepBody(Wire):
    """Answers to the second step, all of them: what is left out is not answered any more."""

    answers = Entries(
        most=application_form.MAX_ANSWERS, keys=fields.String(), values=fields.Raw(allow_none=True), required=True
    )


class HandedInRecord(Wire):
    """What was handed in of a second step, as it is kept."""

    wire_name = "HandedInAnswers"

    affiliate_id = fields.UUID()
    status = one_of(statuses.AffiliateStatus)
    completed_at = Instant()
    answers = fields.Dict(keys=fields.String(), values=fields.Raw())


_OWN = OwnApplicationRecord(exclude=("is_open", "questions", "answers"))
_FIELD = FormFieldRecord()


def own_application_records(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the applications whose second step was ever asked of this person: rows of `own_applications`."""
    return [_record(row) for row in rows if application_form.has_second_step_for(source=row.source)]


def _record(row: Any) -> dict[str, Any]:
    questions = ApplicationForm.from_stored(row.application_form).list_step(2)
    said: Mapping[str, Any] = row.application_data or {}
    is_open = row.takes_answers and application_form.is_second_step_open(
        status=row.status, source=row.source, is_completed=row.completed_at is not None
    )
    shown: dict[str, Any] = _OWN.dump(row)
    return shown | {
        "isOpen": is_open,
        "fields": _FIELD.dump(questions, many=True),
        "answers": {one.key: said[one.key] for one in questions if one.key in said},
    }
