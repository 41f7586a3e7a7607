"""The statements of the last release still run on the schema of this one (docs/upgrades.md)."""

import os
import re
from pathlib import Path

from models import migrate
from tests.models.upgrades import catalogue
from tests.support import databases

_RELEASED = Path(__file__).parent / "released.txt"
_FOLDER = Path(migrate.__file__).parent / "migrations"
_CONTRACT = re.compile(r"^-- contract: (.+): (\S+ \S+ .+)$", re.MULTILINE)


def test_schema_keeps_all_parts_used_by_the_last_release(empty_database, monkeypatch):
    _, newest = _RELEASED.read_text().split()
    assert newest in migrate.names()
    released = [name for name in migrate.names() if name <= newest]
    monkeypatch.setattr(migrate, "names", lambda: released)
    migrate.up(empty_database)
    before = catalogue.read_from(empty_database)
    monkeypatch.undo()
    declared = {
        match[1]
        for name in migrate.names()
        if name not in released
        for match in _CONTRACT.finditer((_FOLDER / f"{name}.sql").read_text())
    }

    # A migration that removes something declares it: `-- contract: WHAT: unused since RELEASE`.
    assert catalogue.find_breaking_parts(before, catalogue.read_from(os.environ["DATABASE_OWNER_URL"])) == declared


_SHOP = """
create table shop (id int primary key, name text, size int not null, state text check (state in ('open', 'shut')));
create table visit (id int, shop_id int);
create unique index shop_name on shop (lower(name)) where size > 0;
create function floor_space(side int) returns int language sql return side * side;
grant select, insert (id, name) on shop to finderfee_app;
"""
_REMOVING = {
    "drop table visit": {"visit.id", "visit.shop_id"},
    "alter table shop rename name to title": {
        "shop.name",
        "shop unique btree (lower(name)) WHERE (size > 0)",
        "shop unique btree (lower(title)) WHERE (size > 0)",
    },
    "alter table shop alter id type bigint": {"shop.id"},
    "alter table shop alter state set not null": {"shop.state"},
    "alter table shop add owner text not null": {"shop.owner"},
    "revoke insert (name) on shop from finderfee_app": {"shop.name"},
    "drop function floor_space": {"floor_space(side integer)"},
    "drop function floor_space; create function floor_space(side int) returns bigint language sql return 1": {
        "floor_space(side integer)"
    },
    "drop index shop_name": {"shop unique btree (lower(name)) WHERE (size > 0)"},
    "create unique index on visit (shop_id)": {"visit unique btree (shop_id)"},
    "alter table visit add foreign key (shop_id) references shop": {"visit FOREIGN KEY (shop_id) REFERENCES shop(id)"},
    "alter table shop add owner text, add check (owner is not null or size > 3)": {
        "shop CHECK (((owner IS NOT NULL) OR (size > 3)))"
    },
    "alter table shop drop constraint shop_state_check, add check (state in ('open'))": {
        "shop CHECK ((state = 'open'::text))"
    },
}
_ADDING = [
    "create table seller (id int primary key, shop_id int not null references shop)",
    "alter table shop add owner text, add unique (id, owner), add check (owner <> '')",
    "alter table shop add owner text not null default ''",
    "alter table shop alter size drop not null",
    "alter table shop drop constraint shop_state_check",
    "create function floor_space(side int, other int) returns int language sql return side * other",
    "create index on visit (shop_id)",
    "drop index shop_name; create unique index by_another_name on shop (lower(name)) where size > 0",
    "grant delete on shop to finderfee_app",
]


def test_removals_are_detected_and_additions_are_not(empty_database):
    databases.run_as_owner(empty_database, _SHOP)
    with databases.owner_cursor(empty_database) as cursor:
        before = catalogue.read(cursor)
        for change, expected in [*_REMOVING.items(), *((change, set()) for change in _ADDING)]:
            cursor.execute(f"begin; {change}")
            removed = catalogue.find_breaking_parts(before, catalogue.read(cursor))
            cursor.execute("rollback")
            assert removed == expected, change
