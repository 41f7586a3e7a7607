"""The recruiter of an applicant, through HTTP."""

from uuid import uuid4

import pytest

from models import db
from tests.support.api.applications import apply
from tests.support.rows.link_visits import SLUG_IN_TEXT


def _select_applicants(brand, columns):
    return brand.rows(f"select {columns} from affiliate where source = 'Public' order by created_at")


class TestRecruiter:
    """The fields recruitedBy and recruitedByAffiliateId."""

    @pytest.fixture(autouse=True)
    def _create_recruiter(self, brand):
        brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
        self.brand = brand
        self.rita = brand.affiliate("rita")

    def _apply_and_get_recruiter(self, **fields):
        assert apply(self.brand, **fields).status_code == 200
        return _select_applicants(self.brand, "recruited_by_affiliate_id")[-1][0]

    @pytest.mark.parametrize("reference", ["rita", " RITA ", "id"])
    def test_recruiter_is_found_by_slug_or_id(self, reference):
        assert (
            self._apply_and_get_recruiter(recruitedBy=str(self.rita) if reference == "id" else reference) == self.rita
        )

    def test_recruiter_in_a_link_with_text_around_is_found(self):
        written = [template.format(name) for template in SLUG_IN_TEXT for name in ("Rita", str(self.rita))]

        assert {self._apply_and_get_recruiter(recruitedBy=reference) for reference in written} == {self.rita}

    def test_recruiter_is_found_by_the_legacy_field(self):
        assert self._apply_and_get_recruiter(recruitedByAffiliateId=str(self.rita)) == self.rita

    def test_new_field_takes_precedence_over_the_legacy_field(self):
        ben = self.brand.affiliate("ben")

        assert self._apply_and_get_recruiter(recruitedBy="ben", recruitedByAffiliateId=str(self.rita)) == ben

    @pytest.mark.parametrize(
        "reference",
        ["nobody", "01890000-0000-7000-8000-000000000000", "", "x" * 5000, "'; --", "日本", "%", "rit_", "rita\x00"],
    )
    def test_unknown_recruiter_is_ignored(self, reference):
        assert self._apply_and_get_recruiter(recruitedBy=reference) is None

    @pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
    def test_unapproved_recruiter_is_ignored(self, status):
        self.brand.affiliate("ben", status=status, approved_at=None)

        assert self._apply_and_get_recruiter(recruitedBy="ben") is None

    def test_recruiter_of_another_campaign_is_ignored(self):
        other_program = self.brand.program(sub_affiliate_enabled=True)
        self.brand.programs.remove(other_program)
        self.brand.affiliate("ben", program_id=other_program)

        assert self._apply_and_get_recruiter(recruitedBy="ben") is None

    def test_recruiter_of_another_tenant_is_ignored(self, rival):
        rival.program()

        assert self._apply_and_get_recruiter(recruitedBy=str(rival.affiliate("ben"))) is None

    def test_applicant_as_their_own_recruiter_is_ignored(self):
        self.brand.affiliate("gina", email="gina.g@gmail.com", email_normalized="ginag@gmail.com")

        assert self._apply_and_get_recruiter(recruitedBy="gina", email="GinaG+friends@googlemail.com") is None

    def test_recruiter_is_ignored_while_recruiting_is_off(self):
        self.brand.program(sub_affiliate_enabled=False)
        self.brand.affiliate("ben")

        assert self._apply_and_get_recruiter(recruitedBy="ben") is None

    @pytest.mark.parametrize("malformed", [5, True, ["rita"], {"slug": "rita"}, 10**18, None, 1.5])
    @pytest.mark.parametrize("field", ["recruitedBy", "recruitedByAffiliateId"])
    def test_recruiter_of_a_wrong_type_is_ignored(self, field, malformed):
        assert self._apply_and_get_recruiter(**{field: malformed}) is None

    def test_legacy_field_is_used_when_the_new_field_has_a_wrong_type(self):
        assert self._apply_and_get_recruiter(recruitedBy=5, recruitedByAffiliateId=str(self.rita)) == self.rita

    def test_recruiter_is_found_by_account_slug(self):
        vera, slug = self._create_account()

        assert self._apply_and_get_recruiter(recruitedBy=slug.upper()) == vera

    def test_account_slug_takes_precedence_over_another_affiliates_link(self):
        vera, slug = self._create_account()
        self.brand.affiliate(slug)

        assert self._apply_and_get_recruiter(recruitedBy=slug) == vera

    def test_affiliate_id_takes_precedence_over_another_affiliates_link(self):
        self.brand.affiliate(str(self.rita))

        assert self._apply_and_get_recruiter(recruitedBy=str(self.rita)) == self.rita

    def test_recruiter_with_the_applicants_account_email_is_ignored(self):
        self._create_account(email="vera@example.com", account_email="ada@example.com")

        assert self._apply_and_get_recruiter(recruitedBy="vera") is None

    def test_recruiter_sharing_an_account_with_the_applicants_other_affiliate_is_ignored(self):
        self._create_account(email="vera@example.com")
        other_program = self.brand.program()
        self.brand.programs.remove(other_program)
        self.brand.affiliate("ada", program_id=other_program)
        with db.unit_of_work(self.brand.id):
            db.db.stage("update affiliate set account_id = (select account_id from affiliate where email like 'vera%')")

        assert self._apply_and_get_recruiter(recruitedBy="vera") is None

    def test_recruiter_fields_are_not_in_the_openapi_document(self):
        document = self.brand.get("/api/openapi.json").json
        descriptions = (
            document["paths"]["/api/p/id/{programId}/apply"],
            document["components"]["schemas"]["ApplicationBody"],
        )

        assert "whyInterested" in str(descriptions)
        assert "recruited" not in str(descriptions)

    def _create_account(self, *, email="vera@example.com", account_email=None):
        """Return the affiliate Vera, who has an account, and the slug of the account."""
        vera, slug = self.brand.affiliate("vera", email=email), f"vera-{uuid4().hex}"
        account_id, email_address = uuid4(), account_email or f"vera-{uuid4().hex}@example.com"
        with db.any_org_work():
            db.db.stage(
                "insert into affiliate_account (id, subject, email, slug) values (%s, %s, %s, %s)",
                (account_id, uuid4().hex, email_address, slug),
            )
            db.db.stage("update affiliate set account_id = %s where id = %s", (account_id, vera))
        return vera, slug
