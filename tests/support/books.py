"""Checks that the money of an organization adds up in the database of this process.

The rules are those of `tests.support.installation.invariants`. Planning three dozen statements takes ten times as long
as running them on a test's few rows, so they are combined into one statement, which a connection plans once.
"""

import hashlib
from collections.abc import Mapping
from uuid import UUID

from models import db
from models.ledger import rules
from models.prepared_statements import PreparedStatement
from tests.support.installation import invariants

_PLACEHOLDER_ID = UUID(int=0)
_EXCEPTIONS = "(select $rule${rule}$rule$, violations.exception::text from ({sql}) violations (exception) limit 5)"


class _OrganizationStatement(PreparedStatement):
    """A prepared statement about one organization, `$1`; a `%s` in its text is not a parameter."""

    def __init__(self, text: str) -> None:
        super().__init__("%s")
        self.name = f"books_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self.prepare = f"prepare {self.name} as {text}".encode()
        self.execute = f"execute {self.name} (%s)"


def _combine_rules(sql_by_rule: Mapping[str, str]) -> _OrganizationStatement:
    selects = [
        _EXCEPTIONS.format(rule=rule, sql=rules.scope_to_organization(sql, _PLACEHOLDER_ID))
        for rule, sql in sql_by_rule.items()
    ]
    return _OrganizationStatement("\nunion all\n".join(selects).replace(f"'{_PLACEHOLDER_ID}'", "$1"))


_ALWAYS, _WHEN_FINISHED = (
    _combine_rules(invariants.ALWAYS),
    _combine_rules({**invariants.ALWAYS, **invariants.WHEN_FINISHED}),
)


def list_violations(organization_id: UUID, *, is_finished: bool = True) -> list[str]:
    """Return `rule: exception` for every violation, as `invariants.list_violations` does."""
    with db.unit_of_work(organization_id):
        rows = db.db.run(_WHEN_FINISHED if is_finished else _ALWAYS, (organization_id,))
    return [f"{rule}: {exception}" for rule, exception in rows]
