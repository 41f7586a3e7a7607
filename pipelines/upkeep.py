"""Housekeeping: what the service remembers only for a while."""

from models import job_rows, mail, stored_answers


def forget() -> None:
    """Drop stored answers past their window, bodies of old mail, old ticks and silent worker processes. Idempotent."""
    stored_answers.any_org_forget()
    mail.any_org_forget_bodies()
    job_rows.forget_ticks_and_processes()
