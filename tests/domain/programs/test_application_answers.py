"""Answers to a campaign's form. Source: tracking spec, section 6 (applicationAnswers)."""

import pytest

from domain.programs import application_answers
from domain.programs.application_form import ApplicationForm
from domain.refusals import Refused

_FORM = ApplicationForm.from_stored(
    {
        "steps": 1,
        "fields": [
            {"key": type, "step": 1, "label": type, "type": type, "required": False, "options": options}
            for type, options in (
                ("text", []),
                ("long", []),
                ("choice", ["Blog", "News & more"]),
                ("url", []),
                ("number", []),
            )
        ],
    }
)

_ACCEPTED = [
    ("text", " Tea ", "Tea"),
    ("text", "Ünï ☕ 茶 \u202e", "Ünï ☕ 茶 \u202e"),
    ("text", "x" * 500, "x" * 500),
    ("text", "<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("text", "", None),
    ("text", " \n ", None),
    ("text", None, None),
    ("long", "one\r\ntwo\rthree\tfour", "one\ntwo\nthree\tfour"),
    ("long", "x" * 5000, "x" * 5000),
    ("choice", "News & more", "News & more"),
    ("choice", "", None),
    ("choice", None, None),
    ("url", "https://ada.example/tea?a=b#c", "https://ada.example/tea?a=b#c"),
    ("url", " http://ada.example ", "http://ada.example"),
    ("url", "", None),
    ("number", 0, 0),
    ("number", -12, -12),
    ("number", 12.5, 12.5),
    ("number", "12.50", 12.5),
    ("number", " +7 ", 7),
    ("number", "123456789012345", 123456789012345),
    ("number", "", None),
    ("number", None, None),
]

_REJECTED = [
    *[(type, value) for type in ("text", "long", "choice", "url") for value in (True, 5, 1.5, [], ["Blog"], {"a": 1})],
    *[("number", value) for value in (True, False, [], [1], {"a": 1}, {})],
    ("text", "x" * 501),
    ("text", "two\nlines"),
    ("text", "two\u2028lines"),
    ("text", "nul\x00"),
    ("text", "bell\x07"),
    ("long", "x" * 5001),
    ("long", "x" * 10_000),
    ("long", "nul\x00"),
    ("choice", "blog"),
    ("choice", " Blog"),
    ("choice", "Blog\n"),
    ("url", "ada.example"),
    ("url", "ftp://ada.example"),
    ("url", "javascript:alert(1)"),
    ("url", "https://"),
    ("url", "https://ada.example/\nx"),
    ("url", "https://ada.example/" + "x" * 2048),
    ("number", "12\n"),
    ("number", "\n12"),
    ("number", "1\n2"),
    ("number", "١٢"),
    ("number", "1e5"),
    ("number", "1,5"),
    ("number", "0x10"),
    ("number", "NaN"),
    ("number", "Infinity"),
    ("number", float("inf")),
    ("number", float("nan")),
    ("number", 1e300),
    ("number", 10**15),
    ("number", "1" * 16),
    ("number", "0.1234567890123456"),
    ("number", 0.1 + 0.2),
]


def _read(answers, form=_FORM):
    return application_answers.validate(form.list_step(1), answers)


def test_answers_are_stored_in_the_type_of_their_field():
    validated = {(type, repr(value)): _read({type: value}) for type, value, _ in _ACCEPTED}

    assert validated == {
        (type, repr(value)): {} if stored is None else {type: stored} for type, value, stored in _ACCEPTED
    }
    assert [type(stored) for stored in _read({"number": "7.0"}).values()] == [int]


def test_invalid_answer_is_refused_with_its_field():
    for key, value in _REJECTED:
        with pytest.raises(Refused) as refusal:
            _read({"text": "Tea", key: value})
        assert (refusal.value.status, refusal.value.code, refusal.value.field) == (
            400,
            "invalid_request",
            f"answers.{key}",
        ), (key, value)


def test_refusal_of_a_long_answer_states_the_limit():
    for key, limit in (("text", "500"), ("long", "5,000"), ("url", "2,048")):
        with pytest.raises(Refused, match=limit):
            _read({key: "x" * 10_000})


@pytest.mark.parametrize(
    "key", ["__proto__", "constructor", "website", "Text", "text ", "", "x" * 5000, "nul\x00", "☕"]
)
def test_answer_to_an_unknown_field_is_refused(key):
    with pytest.raises(Refused) as refusal:
        _read({"text": "Tea", key: "x"})

    assert refusal.value.code == "invalid_request"
    assert refusal.value.field.startswith("answers.")
    assert len(refusal.value.message) < 200
    assert "\x00" not in refusal.value.message


def test_refusal_lists_at_most_20_unknown_answers():
    with pytest.raises(Refused) as refusal:
        _read({f"key{number}": "x" for number in range(1000)})

    assert list(refusal.value.more["errors"]) == [f"answers.key{number}" for number in range(20)]
    assert refusal.value.field == "answers.key0"


def test_missing_required_answers_are_all_reported():
    form = ApplicationForm.from_stored(
        {
            "steps": 1,
            "fields": [
                {"key": key, "step": 1, "label": key, "type": type, "required": True, "options": []}
                for key, type in (("name", "text"), ("age", "number"), ("site", "url"))
            ],
        }
    )
    for answers in ({}, {"name": " ", "age": None, "site": ""}):
        with pytest.raises(Refused) as refusal:
            _read(answers, form)
        assert list(refusal.value.more["errors"]) == ["answers.name", "answers.age", "answers.site"]

    assert _read({"name": "Ada", "age": 0, "site": "https://a.example"}, form) == {
        "name": "Ada",
        "age": 0,
        "site": "https://a.example",
    }
