"""Housekeeping: what the service remembers only for a while."""

from models import job_rows, stored_answers


def forget() -> None:
    """Drop stored answers past their window, old ticks and worker processes long gone. Idempotent."""
    stored_answers.any_org_forget()
    job_rows.forget_ticks_and_processes()
