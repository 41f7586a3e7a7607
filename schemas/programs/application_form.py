"""The application form of a program in the API. `domain.programs.application_form` decides which forms are valid."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from domain.programs import application_form
from domain.programs.application_form import FieldType
from schemas.base import Flag, Wire, integer, line, not_blank, one_of, text
from schemas.collection_fields import Items

_STEP = validate.OneOf(application_form.STEPS)


def _key(value: str) -> None:
    if not application_form.KEY.fullmatch(value):
        raise ValidationError("It must be a lowercase letter, then at most 39 of a-z, A-Z, 0-9 and underscore.")


def _line(longest: int, **options: Any) -> fields.String:
    return line(longest=longest, validate=[not_blank, _one_line], **options)


def _one_line(value: str) -> None:
    if not application_form.is_line(value):
        raise ValidationError("It must be one line of text.")


class ApplicationFormFieldBody(Wire):
    """A question of the form. Loads to a plain mapping, as it is stored."""

    key = text(longest=40, required=True, validate=[_key])
    step = integer(load_default=1, validate=_STEP)
    label = _line(application_form.MAX_LABEL_CHARS, required=True)
    type = one_of(FieldType, required=True)
    required = Flag(load_default=False)
    options = Items(
        _line(application_form.MAX_OPTION_CHARS),
        most=application_form.MAX_OPTIONS,
        load_default=list,
        allow_none=True,
    )

    @post_load
    def _settle(self, field: dict[str, Any], **_: object) -> dict[str, Any]:
        options = [option.strip() for option in field["options"] or []]
        return {**field, "label": field["label"].strip(), "options": options}


class ApplicationFormBody(Wire):
    """The questions to applicants. Loads to a plain mapping, as it is stored."""

    steps = integer(load_default=1, validate=_STEP)
    questions = Items(
        fields.Nested(ApplicationFormFieldBody),
        most=application_form.MAX_FIELDS,
        least=1,
        data_key="fields",
        required=True,
    )

    @validates_schema(skip_on_field_errors=True)
    def _check_together(self, form: dict[str, Any], **_: object) -> None:
        wrong: dict[str, Any] = {}
        for place, (name, why) in application_form.find_faults(form["steps"], form["questions"]).items():
            if place is None:
                wrong[name] = [why]
            else:
                wrong.setdefault("fields", {})[place] = {name: [why]}
        if wrong:
            raise ValidationError(wrong)

    @post_load
    def _settle(self, form: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"steps": form["steps"], "fields": form["questions"]}


class ApplicationFormFieldRecord(Wire):
    """A question to applicants; the answer is stored under its key."""

    key = fields.String()
    step = fields.Integer()
    label = fields.String()
    type = one_of(FieldType)
    required = fields.Boolean()
    options = fields.List(fields.String())


class ApplicationFormRecord(Wire):
    """The questions to applicants, and the number of steps."""

    steps = fields.Integer()
    questions = fields.List(fields.Nested(ApplicationFormFieldRecord), data_key="fields", attribute="fields")
