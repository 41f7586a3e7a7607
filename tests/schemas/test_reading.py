"""Loading by plan gives the same result as marshmallow. Source: core spec, section 2 (conventions)."""

from uuid import uuid4

import pytest
from marshmallow import Schema, ValidationError, fields, post_load, validate

from domain.refusals import Refused
from schemas.base import Flag, Wire, integer, text
from schemas.clicks.click import ClickBody
from schemas.conversions.sale import SaleBody

_VALUES = (None, "", "a", "x" * 9000, "a\x00", "ü🙂", b"a", 7, 10**18, -1, 1.5, True, [], {}, str(uuid4()), "seven")


class Part(Wire):
    name = text(required=True, longest=5)


class Many(Wire):
    full_name = text(required=True, shortest=1, longest=5, validate=[validate.OneOf(["a", "b"])])
    note = text(allow_none=True, longest=5)
    kind = fields.String(load_default=lambda: "default", attribute="sort")
    trimmed = fields.String(pre_load=[lambda value: value[:2] if isinstance(value, str) else value])
    size = integer(load_default=3)
    is_on = Flag()
    part = fields.Nested(Part)
    parts = fields.List(fields.Nested(Part))


class Hooked(Wire):
    name = text(required=True, longest=5)

    @post_load
    def _add_mark(self, data, **_):
        return data | {"is_marked": True}

    @post_load
    def _refuse_a(self, data, **options):
        if data["name"] == "a":
            raise ValidationError("Not this one.", "name")
        return data | {"options": sorted(options.items())}


class Original(Wire):
    name = text(required=True, longest=5)

    @post_load(pass_original=True)
    def _add_size(self, data, original, **_):
        return data | {"size": len(original)}


def _outcome(load, body):
    try:
        return load(body)
    except ValidationError as error:
        return error.normalized_messages()
    except Refused as refusal:
        return refusal.code, str(refusal)


def _objects(schema, whole_object):
    for field in schema.load_fields.values():
        for value in _VALUES:
            yield whole_object | {field.data_key: value}
        yield {name: value for name, value in whole_object.items() if name != field.data_key}
    yield from ([], None, "text", 7, whole_object, whole_object | {"unknown": 1})


@pytest.mark.parametrize(
    ("schema", "whole_object"),
    [
        (ClickBody(), {"slug": "ben", "programId": str(uuid4()), "url": "https://shop.test/", "subId": "mail"}),
        (Many(), {"fullName": "a", "note": "n", "kind": "k", "trimmed": "abc", "part": {"name": "b"}, "parts": []}),
        (Hooked(), {"name": "ben"}),
        (Original(), {"name": "ben"}),
        (
            SaleBody(),
            {"externalEventId": "order-a", "affiliateSlug": "Ben", "amountCents": 7, "customerEmail": " a@x.test "},
        ),
        (Many(partial=True), {}),
    ],
)
def test_loading_plan_equals_marshmallow(schema, whole_object):
    for body in _objects(schema, whole_object):
        assert _outcome(schema.load, body) == _outcome(lambda candidate: Schema.load(schema, candidate), body), body


def test_well_formed_body_is_loaded_by_the_loading_plan():
    assert ClickBody().well_formed({"slug": "ben"}) == ClickBody().load({"slug": "ben"})
    assert Hooked().well_formed({"name": "ben"}) == Hooked().load({"name": "ben"})
    assert Hooked().well_formed({"name": "a"}) is None
    assert Original().well_formed({"name": "ben"}) is None


def test_load_of_many_gives_a_list():
    assert Part().load([{"name": "a"}], many=True) == [{"name": "a"}]
