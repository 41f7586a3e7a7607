"""Links in emails that sign their reader in."""

import re

from models import db
from pipelines import mail
from tests.support.job_queues import drain


def read_newest_link(email: str, kind: str = "sign_in.link") -> str:
    """Return the link in the newest email of a kind to an address."""
    drain("mail")
    with db.any_org_work():
        rows = db.db.run(
            "select id from mail_message where recipient = %s and kind = %s order by created_at desc, id desc limit 1",
            (email, kind),
        )
        link = re.search(r"http\S+", mail.any_org_open(rows[0][0]).text)
    assert link is not None
    return link[0]
