"""A campaign's application form: the questions to applicants, and which forms are valid.

A form is stored and sent as a mapping { steps, fields: [{ key, step, label, type, required, options }] }. The first
step is on the application page, the second behind a link in an email and at the portal.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from domain import slugs
from domain.statuses import AffiliateSource, AffiliateStatus
from domain.text import one_line

STEPS = (1, 2)
MAX_FIELDS = 20
#: The maximum number of answers in a request: answers to deleted questions are skipped.
MAX_ANSWERS = 200
MAX_OPTIONS = 50
MAX_LABEL_CHARS = 200
MAX_OPTION_CHARS = 200

#: A key names an answer in events, for programs.
KEY = re.compile(r"[a-z][a-zA-Z0-9_]{0,39}")
_MAX_KEY_CHARS = 40

#: Keys that would be confused with one of our fields, or with a property of every object in some languages.
RESERVED_KEYS = frozenset(
    {
        "affiliateId",
        "answers",
        "applicationAnswers",
        "applicationData",
        "audience",
        "constructor",
        "customAlias",
        "email",
        "fraudScore",
        "fullName",
        "hasOwnProperty",
        "id",
        "programId",
        "prototype",
        "recruitedBy",
        "recruitedByAffiliateId",
        "recruited_by",
        "slug",
        "source",
        "status",
        "toString",
        "valueOf",
        "website",
        "whyInterested",
    }
)


# Control characters except line feeds and tabs, and Unicode's line separators.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def is_printable(text: str) -> bool:
    """Return whether a text has no control characters except line feeds and tabs."""
    return _CONTROL.search(text) is None


def is_line(text: str) -> bool:
    """Return whether a text is one line without control characters and direction marks."""
    return one_line.is_valid(text) and is_printable(text)


class FieldType(StrEnum):
    """The type of an answer: one line, several lines, one of the options, an http(s) URL, or a number."""

    Text = "text"
    Long = "long"
    Choice = "choice"
    Url = "url"
    Number = "number"


@dataclass(frozen=True, slots=True)
class FormField:
    """One question; only a choice has `options`."""

    key: str
    step: int
    label: str
    type: FieldType
    required: bool
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApplicationForm:
    """The questions of a campaign in their order; none where it has no form."""

    fields: tuple[FormField, ...] = ()
    steps: int = 1

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> "ApplicationForm":
        """Return a form from its stored mapping."""
        if stored is None:
            return cls()
        return cls(tuple(_to_field(field) for field in stored["fields"]), stored["steps"])

    def list_step(self, step: int) -> tuple[FormField, ...]:
        """Return the questions of one step."""
        return tuple(field for field in self.fields if field.step == step)

    @property
    def has_second_step(self) -> bool:
        """Whether applicants get further questions after they applied."""
        return bool(self.list_step(2))


def _to_field(stored: Mapping[str, Any]) -> FormField:
    return FormField(
        key=stored["key"],
        step=stored["step"],
        label=stored["label"],
        type=FieldType(stored["type"]),
        required=stored["required"],
        options=tuple(stored["options"]),
    )


def key_from(label: str, *, taken: Collection[str]) -> str:
    """Return a key from a question, not yet taken: how many people follow you, howManyPeopleFollowYou."""
    first, *others = slugs.simplify(label).split("-")
    key = (first if first[:1].isalpha() else f"answer{first.capitalize()}") + "".join(map(str.capitalize, others))
    for ending in ("", *map(str, range(2, MAX_FIELDS + 2))):
        candidate = key[: _MAX_KEY_CHARS - len(ending)] + ending
        if candidate not in taken and candidate not in RESERVED_KEYS:
            return candidate
    raise RuntimeError("a form has fewer keys than that")


def has_second_step_for(source: str) -> bool:
    """Return whether affiliates from this source get the second step: only those who applied by themselves do."""
    return source in (AffiliateSource.Public, AffiliateSource.Network)


def is_second_step_open(*, status: str, source: str, is_completed: bool) -> bool:
    """Return whether an affiliate may submit the second step: an applicant, until the brand has decided.

    One who was approved before submitting it may do so once.
    """
    if not has_second_step_for(source):
        return False
    return status == AffiliateStatus.Pending or (status == AffiliateStatus.Approved and not is_completed)


def first_step(stored: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the first step of a stored form for the application page; None without questions."""
    fields = [] if stored is None else [dict(field) for field in stored["fields"] if field["step"] == 1]
    return {"steps": stored["steps"], "fields": fields} if stored is not None and fields else None


def find_faults(steps: int, fields: Sequence[Mapping[str, Any]]) -> dict[int | None, tuple[str, str]]:
    """Return the faults of a form with well-formed fields: by the field's index, the attribute at fault and why.

    A fault of the form as a whole is under None.
    """
    faults: dict[int | None, tuple[str, str]] = {}
    keys: set[str] = set()
    for index, field in enumerate(fields):
        if fault := _find_fault(field, keys, steps):
            faults[index] = fault
        keys.add(field["key"])
    if not faults and steps > 1 and not any(field["step"] == steps for field in fields):
        faults[None] = ("steps", "A form of two steps needs a field in the second one.")
    return faults


def _find_fault(field: Mapping[str, Any], earlier_keys: set[str], steps: int) -> tuple[str, str] | None:
    if field["key"] in RESERVED_KEYS:
        return "key", f"The key {field['key']} is reserved. Choose another key."
    if field["key"] in earlier_keys:
        return "key", f"Another field has the key {field['key']}."
    if field["step"] > steps:
        return "step", "The form has no such step."
    if field["type"] == FieldType.Choice and not field["options"]:
        return "options", "A choice needs options."
    if field["type"] != FieldType.Choice and field["options"]:
        return "options", "Only a choice has options."
    if len(set(field["options"])) < len(field["options"]):
        return "options", "Each option may occur only once."
    return None
