"""Rows as dataclasses: select lists, nesting, inserts and updates on a real database."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID, uuid4

import peewee
import pytest

from models import db
from models.table import Rows, Table, columns

_NOW = datetime(2030, 1, 2, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Group:
    id: UUID
    name: str
    commission_type: str


@dataclass(frozen=True, slots=True)
class Place:
    city: str | None
    number: int


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    home: Place
    work: Place | None
    tags: tuple[str, ...]
    secret: bytes


class Light(NamedTuple):
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class WholeGroup(Group):
    organization_id: UUID
    program_id: UUID
    commission_value: Decimal
    created_at: datetime | None


class AliasRow(NamedTuple):
    kind: str
    alias: str


GROUPS = Table("partner_group", Group)
WHOLE_GROUPS = Table("partner_group", WholeGroup)


def _values(brand, name: str) -> dict[str, object]:
    return {
        "id": uuid4(),
        "organization_id": brand.id,
        "program_id": brand.program(),
        "name": name,
        "commission_type": "Percentage",
        "commission_value": 10,
        "created_at": _NOW,
    }


def test_select_list_has_the_fields_in_order_with_alias_or_expression():
    assert columns(Group) == "id, name, commission_type"
    assert columns(Group, "g", name="upper(g.name)") == "g.id, upper(g.name), g.commission_type"
    assert columns(Light) == "name, number"
    assert columns(AliasRow, kind="k.kind::text", alias="k.alias") == "k.kind::text, k.alias"


def test_expression_for_an_unknown_field_raises():
    with pytest.raises(TypeError, match="nmae"):
        columns(Group, nmae="upper(name)")


def test_nested_row_without_its_own_select_list_raises():
    with pytest.raises(TypeError, match="home"):
        columns(Person, work="w.city, w.number")


@pytest.mark.parametrize(
    ("work", "expected"), [("'Rome', 2", Place("Rome", 2)), ("null::text, null::int", None)], ids=["there", "absent"]
)
def test_nested_rows_arrays_and_bytes_are_read(app, work, expected):
    with db.any_org_work():
        person = Rows(Person).first(f"select 'Ann', 'Bonn', 1, {work}, array['a', 'b'], '\\x00ff'::bytea")

    assert person == Person("Ann", Place("Bonn", 1), expected, ("a", "b"), b"\x00\xff")


def test_named_tuples_are_read_and_a_missing_row_is_none(app):
    with db.any_org_work():
        assert Rows(Light).all("values ('a', 1), ('b', 2)") == [Light("a", 1), Light("b", 2)]
        assert Rows(Light).first("select 'a', 1 where false") is None


def test_insert_once_or_update_is_one_statement_returning_the_row(brand):
    values = _values(brand, "Gold")
    key = {"organization_id": brand.id, "id": values["id"]}
    with db.unit_of_work(brand.id):
        assert GROUPS.insert(values)
        assert not GROUPS.insert({**values, "id": uuid4()})

        changed = GROUPS.update(key, {"name": "Silver"})
        assert changed == Group(values["id"], "Silver", "Percentage")
        assert GROUPS.update(key, {}) == changed
        assert GROUPS.update({**key, "id": uuid4()}, {"name": "Lead"}) is None
        assert GROUPS.first(f"select {GROUPS.columns} from partner_group where id = %s", (values["id"],)) == changed


def test_insert_returning_returns_the_row_and_none_for_a_duplicate(brand):
    values = _values(brand, "Gold")
    with db.unit_of_work(brand.id):
        assert GROUPS.insert_returning(values) == Group(values["id"], "Gold", "Percentage")
        assert GROUPS.insert_returning({**values, "id": uuid4()}, conflict="organization_id, program_id, name") is None


def test_update_locked_writes_changed_columns_and_sends_nothing_without_changes(brand):
    values = _values(brand, "Gold")
    with db.unit_of_work(brand.id):
        group = WHOLE_GROUPS.insert_returning(values)
        changed = WHOLE_GROUPS.update_locked(group, {"name": "Silver", "commission_type": group.commission_type})

    assert changed == replace(group, name="Silver")
    assert WHOLE_GROUPS.update_locked(changed, {"name": "Silver"}) is changed


def test_stage_inserts_sends_one_statement_for_many_rows(brand):
    values = _values(brand, "Gold")
    with db.unit_of_work(brand.id):
        WHOLE_GROUPS.stage_inserts([{**values, "id": uuid4(), "name": name} for name in ("Silver", "Lead")])

    assert brand.rows("select name, commission_value from partner_group order by name") == [
        ("Lead", 10),
        ("Silver", 10),
    ]


def test_duplicate_by_another_index_raises(brand):
    values = _values(brand, "Gold")
    with db.unit_of_work(brand.id):
        GROUPS.insert(values)

    with pytest.raises(peewee.IntegrityError), db.unit_of_work(brand.id):
        GROUPS.insert({**values, "name": "Silver"}, conflict="organization_id, program_id, name")
