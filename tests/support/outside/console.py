"""An operator's API client, with the access that the console pages have; and audit entries and failed jobs."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from werkzeug.test import TestResponse

from api.access import persons
from api.access.persons import Person
from domain import jobs
from domain.jobs import Job
from models import db
from pipelines import work
from tests.support.rows.brands import Brand


class Console:
    """Calls operator routes as an operator who signed in to the console; they cannot be called over the network."""

    def __init__(self, app: Any, *, email: str = "ops@example.com") -> None:
        now = datetime.now(UTC)
        self.email = email
        self._client = app.test_client()
        self._person = Person(
            kind="operator",
            subject=f"local:{email}",
            email=email,
            name=email,
            session=b"s" * 32,
            signed_in_at=now,
            expires_at=now + timedelta(hours=8),
        )

    @property
    def environ(self) -> dict[str, Any]:
        """The WSGI environment entry with which a page passes the operator to a route."""
        return {persons.ENVIRON_KEY: self._person}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send a request."""
        header_names = {name.replace("_", "-"): value for name, value in headers.items()}
        answer: TestResponse = self._client.open(
            f"/api/operator/{path}", method=method, json=body, headers=header_names, environ_overrides=self.environ
        )
        return answer

    def get(self, path: str, **query: object) -> Any:
        """GET a path, which must respond 200, and return the JSON."""
        query_string = "&".join(f"{name}={value}" for name, value in query.items())
        answer = self.call("GET", f"{path}?{query_string}")
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return answer.json

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send a POST request."""
        return self.call("POST", path, body, **headers)

    def with_kind(self, kind: Any) -> "Console":
        """Return the same caller as a person of another kind."""
        return self._copy(kind=kind)

    def with_login_age(self, *, minutes: int) -> "Console":
        """Return the same operator with a login of some minutes ago."""
        return self._copy(signed_in_at=datetime.now(UTC) - timedelta(minutes=minutes))

    def _copy(self, **changes: Any) -> "Console":
        console = object.__new__(Console)
        console.email, console._client = self.email, self._client
        console._person = dataclasses.replace(self._person, **changes)
        return console


def list_audit_entries(action: str, entity_id: object) -> list[tuple[Any, ...]]:
    """Return actor, organization and new values of the audit entries about an entity."""
    with db.any_org_work():
        return db.db.run(
            "select actor_type, actor_label, organization_id, after from audit_entry"
            " where action = %s and entity_id = %s order by created_at",
            (action, str(entity_id)),
        )


#: The error of a failed job.
TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1\nLookupError: no <such> sale\n'


def stage_job(brand: Brand, *, job: Job = jobs.SALE_SETTLE) -> int:
    """Enqueue a job of a brand and return its id."""
    with db.unit_of_work(brand.id):
        return work.enqueue_with_id(job, organization_id=brand.id, sale_id="a-sale")


def stage_failed_job(brand: Brand, *, job: Job = jobs.SALE_SETTLE) -> int:
    """Insert a failed job of a brand and return its id."""
    number = stage_job(brand, job=job)
    with db.any_org_work():
        db.db.run(
            "update job set failed_at = clock_timestamp(), attempt = 20, last_error = %s where id = %s",
            (TRACEBACK, number),
        )
    return number
