"""A fixture for a restored server and the operator's commands."""

import os

import pytest

from adapters import clock
from models import db
from tests.support import databases

_METHODS = ("ProcessorConnect", "Wallet", "GlobalPayouts", "Manual")
_HEAD = "reference,amount,paid_at,key,payout_id,organization_id,affiliate_id,milestone_id,account,state,native"


class _RestoredServer:
    """A server that its restored database does not know, with the operator's commands."""

    def __init__(self, flask, folder):
        self.flask, self._folder = flask, folder

    def forget_server(self):
        self.restored_to = clock.now().isoformat()
        for table in ("known_server", "restore_listing"):
            databases.run_as_owner(os.environ["DATABASE_OWNER_URL"], f"delete from {table}")
        db.db.drop_connection()

    def reconcile(self, *rows, method="ProcessorConnect", code=0, words=()):
        """Reconcile with one method's list and no payments of the others; return the command's result."""
        path = self._folder / f"{method}.csv"
        path.write_text("\n".join([_HEAD, *(",".join(row.get(name, "") for name in _HEAD.split(",")) for row in rows)]))
        unpaid_methods = [word for other in _METHODS if other != method for word in ("--none", other)]
        words = [*words, "--restored-to", self.restored_to, "--list", f"{method}={path}", *unpaid_methods]
        return self.flask.json("restore", "reconcile", *words, code=code)

    def release(self, code=0):
        words = ("restore", "release", "--restored-to", self.restored_to, "--why", "compared with the rail")
        return self.flask.json(*words) if code == 0 else self.flask(*words)

    def audit(self, action, reference):
        with db.any_org_work():
            sql = "select organization_id, after->>'why' from audit_entry where action = %s and entity_id = %s"
            return db.db.run(sql, (action, reference))


@pytest.fixture
def server(app, flask, tmp_path):
    yield _RestoredServer(flask, tmp_path)
    with db.any_org_work():
        db.db.run("delete from restored_transfer")
    for statement in (
        "delete from restore_listing",
        "insert into known_server (name) values (this_server()) on conflict do nothing",
    ):
        databases.run_as_owner(os.environ["DATABASE_OWNER_URL"], statement)
    db.db.drop_connection()
