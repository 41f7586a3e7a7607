"""A brand that pays for recruiting, the recruiter ann, and her recruits."""

from dataclasses import dataclass
from uuid import UUID

from models import db
from models.organization import organizations
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.program_rows import insert_conversion

LINK = "/api/v1/me/sub-affiliate/link"
RECRUITS = "/api/v1/me/sub-affiliate/recruits"


@dataclass(frozen=True)
class RecruitingScene:
    """A brand with a portal and a campaign that pays for recruiting; ann is an Approved affiliate who signed in."""

    brand: Brand
    email: str
    ann: Partner
    ann_id: UUID
    portal: str

    @property
    def program_id(self):
        return self.brand.programs[0]

    def link(self, program_id=None, *, caller=None):
        return (caller or self.ann).get(f"{LINK}?programId={program_id or self.program_id}")

    def recruit(self, slug, *, brand=None, by=None, **columns):
        return (brand or self.brand).affiliate(slug, recruited_by_affiliate_id=by or self.ann_id, **columns)

    def recruits(self, query="", *, caller=None):
        answer = (caller or self.ann).get(RECRUITS + query)
        assert answer.status_code == 200, answer.data
        return answer.json

    def drilldown(self, affiliate_id=None, *, brand=None):
        return (brand or self.brand).get(f"/api/v1/affiliates/{affiliate_id or self.ann_id}/sub-affiliates")

    def sell(self, affiliate_id, cents, share=0, **columns):
        """Insert a sale that earns its affiliate `cents` and ann `share`; `columns` apply to both rows."""
        parent_id = insert_conversion(self.brand, affiliate_id, commission_cents=cents, **columns)
        if share:
            override = {"source": "override", "amount_cents": 0, "commission_cents": share, "parent_id": parent_id}
            insert_conversion(self.brand, self.ann_id, **columns | override)
        return parent_id


def update(brand, **columns):
    """Update columns of the organization."""
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, columns)


def run_for_all_tenants(sql, *params):
    """Run a statement that sees the rows of all tenants."""
    with db.any_org_work():
        db.db.stage(sql, params)
