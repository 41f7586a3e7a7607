"""The questions that a campaign asks of those who apply to it: what a form may be.

A form is kept, and travels, as a mapping { steps, fields: [{ key, step, label, type, required, options }] }. The first
step is asked on the page where one applies, a second one behind a link in a letter and at the portal.
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
MOST_FIELDS = 20
#: How many answers may be sent at once: those to questions that are gone are passed over.
MAX_ANSWERS = 200
MOST_OPTIONS = 50
LONGEST_LABEL = 200
LONGEST_OPTION = 200

#: What a key looks like: it names an answer in events, for programs.
KEY = re.compile(r"[a-z][a-zA-Z0-9_]{0,39}")
_LONGEST_KEY = 40

#: Keys that would be taken for a field of ours, or for what every object has in some languages.
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


# A line ends with \n alone, and a tab is a blank like any other; nothing else that is not seen.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def is_seen(text: str) -> bool:
    """Say whether a text holds no control character but the ends of its lines and tabs."""
    return _UNSEEN.search(text) is None


def is_line(text: str) -> bool:
    """Return whether a text is one line without control characters and direction marks."""
    return one_line.is_valid(text) and is_seen(text)


class FieldType(StrEnum):
    """What an answer may be: one line, several, one of the options, an http(s) address, or a number."""

    Text = "text"
    Long = "long"
    Choice = "choice"
    Url = "url"
    Number = "number"


@dataclass(frozen=True, slots=True)
class FormField:
    """One question; `options` are those of a choice, none of any other type."""

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
    def of(cls, kept: Mapping[str, Any] | None) -> "ApplicationForm":
        """Return a form as it is kept."""
        if kept is None:
            return cls()
        return cls(tuple(_field(one) for one in kept["fields"]), kept["steps"])

    def of_step(self, step: int) -> tuple[FormField, ...]:
        """Return the questions of one step."""
        return tuple(field for field in self.fields if field.step == step)

    @property
    def has_second_step(self) -> bool:
        """Whether applicants are asked more once they applied."""
        return bool(self.of_step(2))


def _field(kept: Mapping[str, Any]) -> FormField:
    return FormField(
        key=kept["key"],
        step=kept["step"],
        label=kept["label"],
        type=FieldType(kept["type"]),
        required=kept["required"],
        options=tuple(kept["options"]),
    )


def key_from(label: str, *, taken: Collection[str]) -> str:
    """Return a key that resembles a question and is not taken: how many people follow you, howManyPeopleFollowYou."""
    first, *others = slugs.plain(label).split("-")
    key = (first if first[:1].isalpha() else f"answer{first.capitalize()}") + "".join(map(str.capitalize, others))
    for ending in ("", *map(str, range(2, MOST_FIELDS + 2))):
        found = key[: _LONGEST_KEY - len(ending)] + ending
        if found not in taken and found not in RESERVED_KEYS:
            return found
    raise RuntimeError("a form holds fewer keys than that")


def asks_more(source: str) -> bool:
    """Say whether somebody who came this way is asked anything: who applied by themselves."""
    return source in (AffiliateSource.Public, AffiliateSource.Network)


def is_second_step_open(*, status: str, source: str, is_completed: bool) -> bool:
    """Say whether somebody may hand in the second step: who applied by themselves, until the brand has decided.

    Whoever was let in before they came to it may do so once.
    """
    if not asks_more(source):
        return False
    return status == AffiliateStatus.Pending or (status == AffiliateStatus.Approved and not is_completed)


def public(kept: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return of a kept form what is asked where one applies, as it travels; None where it asks nothing there."""
    fields = [] if kept is None else [dict(one) for one in kept["fields"] if one["step"] == 1]
    return {"steps": kept["steps"], "fields": fields} if kept is not None and fields else None


def amiss(steps: int, fields: Sequence[Mapping[str, Any]]) -> dict[int | None, tuple[str, str]]:
    """Return what is wrong with a form whose fields are each well formed: by their place, what of it and why.

    What is wrong with the whole is under None.
    """
    found: dict[int | None, tuple[str, str]] = {}
    keys: set[str] = set()
    for place, field in enumerate(fields):
        if fault := _fault(field, keys, steps):
            found[place] = fault
        keys.add(field["key"])
    if not found and steps > 1 and not any(field["step"] == steps for field in fields):
        found[None] = ("steps", "A form of two steps needs a field in the second one.")
    return found


def _fault(field: Mapping[str, Any], before: set[str], steps: int) -> tuple[str, str] | None:
    if field["key"] in RESERVED_KEYS:
        return "key", f"{field['key']} is a name of our own; choose another key."
    if field["key"] in before:
        return "key", f"Another field has the key {field['key']}."
    if field["step"] > steps:
        return "step", "The form has no such step."
    if field["type"] == FieldType.Choice and not field["options"]:
        return "options", "A choice needs options."
    if field["type"] != FieldType.Choice and field["options"]:
        return "options", "Only a choice has options."
    if len(set(field["options"])) < len(field["options"]):
        return "options", "No option may stand there twice."
    return None
