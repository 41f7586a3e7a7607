"""The states of payouts, attempts, runs and reviews are defined in one module and match the database."""

import ast
from pathlib import Path

import pytest

from domain.payouts import states
from domain.payouts.states import (
    AttemptState,
    PayoutStatus,
    ProposalStatus,
    RailOutcome,
    ReviewStatus,
    SandboxState,
)
from models import db
from tests.support import trees

_COLUMNS = {
    ("payout", "status"): PayoutStatus,
    ("payout_run", "review_status"): ReviewStatus,
    ("payout_attempt", "state"): AttemptState,
    ("payout_proposal", "status"): ProposalStatus,
    ("rail_event", "outcome"): RailOutcome,
    ("sandbox_transfer", "state"): SandboxState,
}


def _is_payout_module(path: Path) -> bool:
    return any(part.startswith("payout") for part in path.relative_to(trees.ROOT).parts)


def _list_imports(tree: ast.Module) -> set[str]:
    """Return the full dotted names that a file imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{name.name}" for name in node.names}
    return names


def _find_literal_states(path: Path) -> list[str]:
    """Return every literal of a file that equals a state.

    The states of attempts are everyday words, so they count in payout modules only. The text of a state for people,
    in a dict by the state, may equal it.
    """
    tree = trees.parse_file(path)
    is_payout_module = _is_payout_module(path)
    if not is_payout_module and not any(".payouts" in name for name in _list_imports(tree)):
        return []
    texts = {
        id(value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Attribute)
    }
    kinds = [kind for kind in _COLUMNS.values() if is_payout_module or kind is not AttemptState]
    return [
        f"{trees.relative_name(path)}:{node.lineno}: write {' or '.join(members)} (domain.payouts.states)"
        f" instead of {node.value!r}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and id(node) not in texts
        and (members := [f"{kind.__name__}.{node.value}" for kind in kinds if node.value in list(kind)])
    ]


def test_payout_code_has_no_literal_state():
    files = trees.list_files(*trees.PRODUCT)
    files.remove(Path(states.__file__))

    assert files
    assert [line for path in files for line in _find_literal_states(path)] == []


def test_literal_state_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(
        "from models.payouts import payouts\n\n_SQL = \"select from payout where status = 'Paid'\"\n\n\n"
        'def is_over(payout):\n    match payout.status:\n        case "Paid":\n            return "paid"\n'
        '_TEXTS = {states.PayoutStatus.Paid: "Paid"}\n'
    )

    assert _find_literal_states(module) == [
        "module.py:8: write PayoutStatus.Paid or SandboxState.Paid (domain.payouts.states) instead of 'Paid'"
    ]


@pytest.mark.parametrize(("table", "column"), _COLUMNS)
def test_database_has_the_same_states(app, table, column):
    with db.any_org_work():
        rows = db.db.run(
            "select regexp_matches(pg_get_constraintdef(k.oid), '''(\\w+)''::text', 'g') from pg_constraint k"
            " join pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum]"
            " where k.conrelid = %s::regclass and a.attname = %s and k.contype = 'c'",
            (table, column),
        )

    assert {word for ((word,),) in rows} == set(_COLUMNS[table, column])
