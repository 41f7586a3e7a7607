"""Rendering by plan gives the same result as marshmallow. Source: core spec, section 2 (conventions)."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from types import SimpleNamespace
from typing import NamedTuple
from uuid import UUID

import pytest
from marshmallow import Schema, fields

from schemas.base import Amount, Instant, Wire

_ID = UUID("01900000-0000-7000-8000-000000000001")


class Part(Wire):
    slug = fields.String()


class Whole(Wire):
    id = fields.UUID()
    full_name = fields.String()
    amount_cents = fields.Integer(attribute="cents")
    is_active = fields.Boolean()
    rate = Amount()
    created_at = Instant()
    tags = fields.List(fields.String())
    best = fields.Nested(Part)
    links = fields.List(fields.Nested(Part))
    more = fields.Nested(Part, many=True)
    kind = fields.Constant("whole")
    length = fields.Function(lambda row: len(row.full_name))


def _row(**values):
    return SimpleNamespace(
        **{
            "id": _ID,
            "full_name": "Ben",
            "cents": 7,
            "is_active": True,
            "rate": Decimal("12.50"),
            "created_at": datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
            "tags": ["a", "b"],
            "best": SimpleNamespace(slug="x"),
            "links": [SimpleNamespace(slug="y"), {"slug": "z"}],
            "more": [],
        }
        | values
    )


def test_every_kind_of_field_is_rendered():
    assert Whole().dump(_row()) == {
        "id": str(_ID),
        "fullName": "Ben",
        "amountCents": 7,
        "isActive": True,
        "rate": 12.5,
        "createdAt": "2026-03-01T12:00:00.123Z",
        "tags": ["a", "b"],
        "best": {"slug": "x"},
        "links": [{"slug": "y"}, {"slug": "z"}],
        "more": [],
        "kind": "whole",
        "length": 3,
    }


@pytest.mark.parametrize("name", ["id", "amountCents", "isActive", "rate", "createdAt", "tags", "best", "links"])
def test_null_is_rendered_as_null(name):
    column = {"amountCents": "cents", "isActive": "is_active", "createdAt": "created_at"}.get(name, name)

    assert Whole().dump(_row(**{column: None}))[name] is None


def test_missing_attribute_is_omitted():
    row = _row()
    del row.links

    assert "links" not in Whole().dump(row)


def test_missing_key_is_rendered_with_its_default():
    class Page(Wire):
        look = fields.Dict(dump_default=dict)
        kind = fields.String(dump_default="page")

    assert Page().dump({}) == {"look": {}, "kind": "page"}
    assert Page().dump({"look": {"a": 1}, "kind": "x"}) == {"look": {"a": 1}, "kind": "x"}


def test_dictionary_values_are_rendered_by_their_schema():
    class HeldAmount(Wire):
        amount_cents = fields.Integer()

    class Sums(Wire):
        held_amounts = fields.Dict(keys=fields.String(), values=fields.Nested(HeldAmount))

    assert Sums().dump({"held_amounts": {"EUR": {"amount_cents": 5}}}) == {"heldAmounts": {"EUR": {"amountCents": 5}}}


def test_mapping_is_rendered_like_a_row():
    assert Part().dump({"slug": "x"}) == {"slug": "x"}
    assert Part(many=True).dump([{"slug": "x"}, {}]) == [{"slug": "x"}, {}]
    assert Part().dump([{"slug": "x"}], many=True) == [{"slug": "x"}]


def test_integral_amount_has_no_fraction_and_time_is_in_utc():
    local_time = datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    rendered = Whole(only=("rate", "created_at")).dump(_row(rate=Decimal("20.000000"), created_at=local_time))

    assert rendered == {"rate": 20, "createdAt": "2026-03-01T12:00:00.000Z"}
    assert isinstance(rendered["rate"], int)


def test_rendering_equals_marshmallow():
    schema = Whole(only=("id", "full_name", "amount_cents", "is_active", "tags", "best", "links", "more"))

    assert schema.dump(_row()) == Schema.dump(schema, _row())


class PartRow(NamedTuple):
    slug: str
    other: int


class WholeRow(NamedTuple):
    rate: Decimal | None
    id: str
    cents: int
    created_at: datetime
    tags: list[str]
    best: PartRow
    full_name: str


def test_named_tuple_is_rendered_like_an_object():
    row = WholeRow(Decimal("2.50"), str(_ID), 7, datetime(2026, 3, 1, tzinfo=UTC), ["a"], PartRow("x", 1), "Ben")
    schema = Whole(exclude=("is_active", "links", "more"))

    for rendered in (schema.dump(row), schema.dump(SimpleNamespace(**row._asdict()))):
        assert rendered == {
            "rate": 2.5,
            "id": str(_ID),
            "amountCents": 7,
            "createdAt": "2026-03-01T00:00:00.000Z",
            "tags": ["a"],
            "best": {"slug": "x"},
            "fullName": "Ben",
            "kind": "whole",
            "length": 3,
        }
    assert schema.dump(row._replace(rate=None))["rate"] is None
    assert Part(many=True).dump([PartRow("x", 1)]) == [{"slug": "x"}]


def test_compiled_fields_list_key_attribute_and_format():
    class Row(Wire):
        id = fields.UUID()
        rate = Amount(attribute="rate_value")
        made_at = Instant()
        tags = fields.List(fields.String())

    assert Row().wire == (
        ("id", "id", ""),
        ("rate", "rate_value", "number"),
        ("madeAt", "made_at", "moment"),
        ("tags", "tags", ""),
    )
    with pytest.raises(TypeError, match="best"):
        assert Whole().wire
