"""Foreign text is printed on one line of an operator's terminal, without escape sequences and direction marks."""

import pytest

from domain.text import one_line
from models import db
from tests.support.recruits import Recruits

_ID = "order\n52 accepted\x1b[2J\u202e\u2066\x85x"


@pytest.fixture
def hostile_job(brand):
    """Return the id of a failed job whose error and event id contain control and direction characters."""
    pair = Recruits.create(brand)
    pair.sell(externalEventId=_ID, amountCents=5_000)
    error = f"Traceback\nValueError: {_ID}"
    with db.any_org_work():
        ((job_id,),) = db.db.run("update job set failed_at = now(), last_error = %s returning id", (error,))
    return job_id


def _find_hostile_lines(output):
    return [line for line in output.split("\n") if not one_line.is_valid(line)]


def _is_forged(output):
    return any(line.startswith("52 accepted") for line in output.split("\n"))


@pytest.mark.parametrize(
    "command", [["jobs", "dead"], ["jobs", "show", "{}"], ["jobs", "discard", "{}", "--why", "w"]], ids=" ".join
)
def test_dead_letter_with_hostile_text_prints_clean_lines(flask, hostile_job, command):
    _, output = flask(*(part.format(hostile_job) for part in command))

    assert "order" in output
    assert _find_hostile_lines(output) == []
    assert command[1] == "show" or not _is_forged(output)  # an error keeps its lines


@pytest.mark.parametrize(
    "command", [["jobs", "losses"], ["jobs", "accept-loss", "{}", "--why", "w"], ["ledger", "check", "--org", "{org}"]]
)
def test_loss_with_hostile_text_prints_clean_lines(flask, brand, hostile_job, command):
    flask("jobs", "discard", str(hostile_job), "--why", "w")

    _, output = flask(*(part.format(hostile_job, org=brand.id) for part in command))

    assert "order" in output
    assert _find_hostile_lines(output) == []
    assert not _is_forged(output)
