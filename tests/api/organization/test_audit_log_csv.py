"""The audit log as CSV. Source: core spec, "Audit log" (8 columns for keys)."""

import csv
import io

import pytest

from tests.support.api.audit_entries import URL, insert_entries, insert_entry

KEY_COLUMNS = ["id", "action", "entity_type", "entity_id", "actor_type", "before", "after", "created_at"]


def _parse_csv(answer):
    return list(csv.reader(io.StringIO(answer.get_data(as_text=True), newline="")))


@pytest.mark.parametrize(("query", "accept"), [("?format=csv", "application/json"), ("", "text/csv")])
def test_key_gets_8_columns(pro, query, accept):
    values = insert_entry(pro)

    answer = pro.get(f"{URL}{query}", Accept=accept)
    heading, *rows = _parse_csv(answer)

    assert answer.content_type == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert heading == KEY_COLUMNS
    assert rows[-1][1:] == [
        "program.created",
        "program",
        values["entity_id"],
        "member",
        '{"name":"old"}',
        '{"name":"new"}',
        "2026-03-01T00:00:00.000Z",
    ]


def test_owner_gets_11_columns(owner):
    values = insert_entry(owner, before=None)

    heading, *rows = _parse_csv(owner.get(f"{URL}?format=csv"))

    assert heading == [*KEY_COLUMNS, "actor_user_id", "ip", "user_agent"]
    assert rows[-1][5] == ""
    assert rows[-1][8:] == [str(values["actor_user_id"]), "203.0.113.7", "Browser/1.0"]


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/csv;q=0.5, application/json", "nonsense"])
def test_json_is_the_default_format(owner, accept):
    assert owner.get(URL, Accept=accept).content_type == "application/json"


def test_format_parameter_takes_precedence_over_accept(owner):
    assert owner.get(f"{URL}?format=json", Accept="text/csv").content_type == "application/json"


def test_csv_obeys_the_filters_of_the_list(owner):
    insert_entry(owner, "program.created")
    insert_entry(owner, "api_key.created")

    assert [row[1] for row in _parse_csv(owner.get(f"{URL}?format=csv&action=api_key.created"))[1:]] == [
        "api_key.created"
    ]


@pytest.mark.parametrize("agent", ["=cmd()", "+1", "-1", "@x", "\tx", "\rx"])
def test_formula_cells_are_escaped(owner, agent):
    insert_entry(owner, user_agent=agent, actor_label="日本")

    assert _parse_csv(owner.get(f"{URL}?format=csv&action=program.created"))[1][10] == "'" + agent


def test_quotes_commas_and_line_breaks_are_quoted(owner):
    insert_entry(owner, after={"name": 'a "quoted", name\nwith lines'})

    assert _parse_csv(owner.get(f"{URL}?format=csv"))[-1][6] == '{"name":"a \\"quoted\\", name\\nwith lines"}'


def test_csv_export_is_audited(owner):
    owner.get(f"{URL}?format=csv")
    owner.get(URL)

    rows = owner.rows("select action, entity_id, actor_label from audit_entry")
    assert rows == [("audit_log.exported", str(owner.id), "owner@example.com")]


def test_csv_is_streamed_in_pieces(owner):
    insert_entries(owner, 2500)

    answer = owner.get(f"{URL}?format=csv&action=a.b")
    pieces = list(answer.iter_encoded())

    assert len(pieces) == 6  # the heading, and 500 rows at a time
    rows = list(csv.reader(io.StringIO(b"".join(pieces).decode(), newline="")))
    assert [int(row[3]) for row in rows[1:]] == list(range(2500, 0, -1))


def test_csv_is_limited_to_50_000_rows(owner):
    insert_entries(owner, 50_001)

    assert owner.get(f"{URL}?format=csv&action=a.b").data.count(b"\r\n") == 50_001
