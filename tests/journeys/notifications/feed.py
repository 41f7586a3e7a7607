"""Notifications of a brand's people, as they see them and as they are stored."""

from tests.support.outside.post_office import make_jobs_due


def list_notifications(person):
    """Return the first page of a person's notifications."""
    return person.get("/api/v1/notifications").json


def list_titles(person):
    """Return the titles of a person's notifications, the latest first."""
    return [item["title"] for item in list_notifications(person)["items"]]


def list_emails(brand):
    """Return (kind, recipient, subject) of the emails about notifications, by recipient."""
    return brand.rows(
        "select kind, recipient, subject from mail_message where kind like 'notification.%%' order by kind, recipient"
    )


def end_digests(drain):
    """Run the jobs that wait for the end of a digest's hour, and all that follows."""
    drain()
    make_jobs_due()
    drain()
