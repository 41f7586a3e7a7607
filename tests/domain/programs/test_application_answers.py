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

_TAKEN = [
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

_WRONG = [
    *[(type, sent) for type in ("text", "long", "choice", "url") for sent in (True, 5, 1.5, [], ["Blog"], {"a": 1})],
    *[("number", sent) for sent in (True, False, [], [1], {"a": 1}, {})],
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


def _read(sent, form=_FORM):
    return application_answers.validate(form.list_step(1), sent)


def test_answers_are_kept_as_their_field_is():
    found = {(type, repr(sent)): _read({type: sent}) for type, sent, _ in _TAKEN}

    assert found == {(type, repr(sent)): {} if kept is None else {type: kept} for type, sent, kept in _TAKEN}
    assert [type(kept) for kept in _read({"number": "7.0"}).values()] == [int]


def test_what_does_not_fit_its_field_is_refused_by_name():
    for key, sent in _WRONG:
        with pytest.raises(Refused) as refusal:
            _read({"text": "Tea", key: sent})
        assert (refusal.value.status, refusal.value.code, refusal.value.field) == (
            400,
            "invalid_request",
            f"answers.{key}",
        ), (key, sent)


def test_a_limit_is_stated():
    for key, limit in (("text", "500"), ("long", "5,000"), ("url", "2,048")):
        with pytest.raises(Refused, match=limit):
            _read({key: "x" * 10_000})


@pytest.mark.parametrize(
    "key", ["__proto__", "constructor", "website", "Text", "text ", "", "x" * 5000, "nul\x00", "☕"]
)
def test_an_answer_that_nobody_asked_for_is_refused(key):
    with pytest.raises(Refused) as refusal:
        _read({"text": "Tea", key: "x"})

    assert refusal.value.code == "invalid_request"
    assert refusal.value.field.startswith("answers.")
    assert len(refusal.value.message) < 200
    assert "\x00" not in refusal.value.message


def test_a_thousand_unknown_answers_make_no_long_refusal():
    with pytest.raises(Refused) as refusal:
        _read({f"key{number}": "x" for number in range(1000)})

    assert list(refusal.value.more["errors"]) == [f"answers.key{number}" for number in range(20)]
    assert refusal.value.field == "answers.key0"


def test_what_is_required_has_to_be_said_and_all_that_is_wrong_is_named():
    form = ApplicationForm.from_stored(
        {
            "steps": 1,
            "fields": [
                {"key": key, "step": 1, "label": key, "type": type, "required": True, "options": []}
                for key, type in (("name", "text"), ("age", "number"), ("site", "url"))
            ],
        }
    )
    for sent in ({}, {"name": " ", "age": None, "site": ""}):
        with pytest.raises(Refused) as refusal:
            _read(sent, form)
        assert list(refusal.value.more["errors"]) == ["answers.name", "answers.age", "answers.site"]

    assert _read({"name": "Ada", "age": 0, "site": "https://a.example"}, form) == {
        "name": "Ada",
        "age": 0,
        "site": "https://a.example",
    }
