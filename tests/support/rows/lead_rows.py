"""Leads recorded by the pipeline itself, and their expiry."""

from datetime import timedelta

from adapters import clock
from domain.leads import LeadMethod
from models import db
from pipelines.leads import lifecycle
from tests.support.running.hours import start_of_test

DAY = timedelta(days=1)


def record_lead(
    brand, affiliate_id, email="ada@example.com", *, occurred_at=None, event_id=None, sub_id=None, **options
):
    """Record a lead and return its id; `options` are those of `lifecycle.record`, and is_test and method."""
    signup = lifecycle.NewLead(
        email=email,
        name=None,
        occurred_at=occurred_at or start_of_test(),
        is_test=options.pop("is_test", False),
        external_event_id=event_id,
        sub_id=sub_id,
        method=options.pop("method", LeadMethod.lead_signup),
    )
    with db.unit_of_work(brand.id):
        ((program_id,),) = db.db.run("select program_id from affiliate where id = %s", (affiliate_id,))
        referral = lifecycle.find_referral(organization_id=brand.id, program_id=program_id, affiliate_id=affiliate_id)
        return lifecycle.record(
            organization_id=brand.id, referral=referral, signup=signup, now=start_of_test(), **options
        ).lead_id


def expire_leads():
    """Expire the leads that are due."""
    with db.any_org_work():
        lifecycle.any_org_expire(now=clock.now())
