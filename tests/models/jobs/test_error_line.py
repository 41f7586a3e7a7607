"""Lists show the first line of a job's error message."""

import traceback

import pytest

from models.jobs.error_line import error_line


class LongError(Exception):
    """An error whose message has several lines."""


def _format_traceback(message):
    try:
        try:
            raise LookupError("the cause")
        except LookupError as cause:
            raise LongError(message) from cause
    except LongError as error:
        return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    "message",
    [
        "duplicate key",
        'duplicate key\nLINE 1: insert into x\n        ^\nCONTEXT:  SQL statement "insert"\nPL/pgSQL function f()',
        "duplicate key\n  an indented line\nHINT:  none",
    ],
)
def test_traceback_gives_the_first_line_of_its_last_error(message):
    line = f"{__name__}.LongError: duplicate key"

    assert error_line(_format_traceback(message)) == line
    assert error_line(_format_traceback(message)[-400:]) == line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (None, None),
        ("", None),
        ("\n \n", None),
        ("stripe invoice.paid: an amount is not an integer", "stripe invoice.paid: an amount is not an integer"),
        ("the rail refuses\nDETAIL: more", "the rail refuses"),
        ("Traceback (most recent call last):\nLookupError: no sale\n", "LookupError: no sale"),
        ("x" * 1_000, "x" * 300),
    ],
)
def test_other_errors_give_their_first_line(error, line):
    assert error_line(error) == line
