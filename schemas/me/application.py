"""Applications with a second step, of the signed-in affiliate, in the API."""

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import fields

from domain import statuses
from domain.programs import application_form
from domain.programs.application_form import ApplicationForm
from schemas.base import Instant, Wire, one_of
from schemas.collection_fields import Entries
from schemas.programs.application_form import ApplicationFormFieldRecord


class OwnApplicationRecord(Wire):
    """An application whose form has a second step: its questions, and the answers so far.

    `isOpen`: it may be submitted (again) until the brand has decided; affiliates approved earlier may do so once.
    """

    affiliate_id = fields.UUID()
    organization_id = fields.UUID()
    program_id = fields.UUID()
    organization_name = fields.String()
    program_name = fields.String()
    status = one_of(statuses.AffiliateStatus)
    applied_at = Instant()
    completed_at = Instant(allow_none=True)
    is_open = fields.Boolean()
    questions = fields.List(fields.Nested(ApplicationFormFieldRecord), data_key="fields")
    answers = fields.Dict(keys=fields.String(), values=fields.Raw())


class SecondStepBody(Wire):
    """All answers to the second step; missing ones are deleted."""

    answers = Entries(
        most=application_form.MAX_ANSWERS, keys=fields.String(), values=fields.Raw(allow_none=True), required=True
    )


class HandedInAnswersRecord(Wire):
    """The stored answers of a submitted second step."""

    affiliate_id = fields.UUID()
    status = one_of(statuses.AffiliateStatus)
    completed_at = Instant()
    answers = fields.Dict(keys=fields.String(), values=fields.Raw())


_OWN = OwnApplicationRecord(exclude=("is_open", "questions", "answers"))
_FIELD = ApplicationFormFieldRecord()


def own_application_records(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the applications of this person that have a second step: rows of `own_applications`."""
    return [_record(row) for row in rows if application_form.has_second_step_for(source=row.source)]


def _record(row: Any) -> dict[str, Any]:
    questions = ApplicationForm.from_stored(row.application_form).list_step(2)
    answers: Mapping[str, Any] = row.application_data or {}
    is_open = row.takes_answers and application_form.is_second_step_open(
        status=row.status, source=row.source, is_completed=row.completed_at is not None
    )
    record: dict[str, Any] = _OWN.dump(row)
    return record | {
        "isOpen": is_open,
        "fields": _FIELD.dump(questions, many=True),
        "answers": {question.key: answers[question.key] for question in questions if question.key in answers},
    }
