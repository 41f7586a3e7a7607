"""The recruiting link of an affiliate, through HTTP."""

from uuid import uuid4

import pytest

import settings
from tests.support.api.recruiting import LINK, RECRUITS, run_for_all_tenants, update
from tests.support.rows.brands import Partner

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


class TestLink:
    """GET /api/v1/me/sub-affiliate/link."""

    def test_contains_the_slug_of_the_default_link(self, scene):
        answer = scene.link()

        assert answer.status_code == 200
        assert answer.json == {
            "affiliateId": str(scene.ann_id),
            "programId": str(scene.program_id),
            "programSlug": "tea",
            "url": f"https://{scene.portal}/tea?recruited_by=ann",
        }

    def test_contains_the_account_slug_without_a_default_link(self, scene):
        scene.recruits()  # signs in
        slug = f"ann-{uuid4().hex}"
        run_for_all_tenants("update affiliate_account set slug = %s where email = %s", slug, scene.email)

        assert scene.link().json["url"].endswith(f"?recruited_by={slug}")

    def test_contains_the_affiliate_id_without_any_slug(self, scene):
        run_for_all_tenants("update tracking_link set deleted_at = now() where affiliate_id = %s", scene.ann_id)

        assert scene.link().json["url"].endswith(f"?recruited_by={scene.ann_id}")

    @pytest.mark.parametrize("token", ["account", "link", "id"])
    def test_token_binds_an_applicant(self, scene, token):
        scene.recruits()
        if token == "account":
            run_for_all_tenants(
                "update affiliate_account set slug = %s where email = %s", f"ann-{uuid4().hex}", scene.email
            )
        if token == "id":
            run_for_all_tenants("update tracking_link set deleted_at = now() where affiliate_id = %s", scene.ann_id)
        shared = scene.link().json["url"].partition("recruited_by=")[2]

        client = scene.brand.app.test_client()
        body = {"email": "ada@example.com", "recruitedBy": shared}
        applied = client.post(f"/api/p/id/{scene.program_id}/apply", json=body)

        assert applied.status_code == 200
        assert scene.brand.rows("select recruited_by_affiliate_id from affiliate where source = 'Public'") == [
            (scene.ann_id,)
        ]

    def test_host_is_the_brands_then_the_campaigns_then_the_subdomain(self, scene, monkeypatch):
        monkeypatch.setenv("PORTAL_DOMAIN", "partners.example.com")
        settings.current.cache_clear()
        domain = f"{uuid4().hex[:12]}.shop.test"
        run_for_all_tenants(
            "update program set custom_domain = %s, custom_domain_verified = true where id = %s",
            domain,
            scene.program_id,
        )
        subdomain = scene.brand.rows("select subdomain from organization")[0][0]

        hosts = [self._host(scene)]
        update(scene.brand, portal_host=None)
        hosts.append(self._host(scene))
        run_for_all_tenants("update program set custom_domain_verified = false where id = %s", scene.program_id)
        hosts.append(self._host(scene))
        monkeypatch.undo()
        settings.current.cache_clear()

        assert hosts == [scene.portal, domain, f"{subdomain}.partners.example.com"]

    @pytest.mark.parametrize("columns", [{"portal_host": None}, {"portal_host": None, "subdomain": None}])
    def test_missing_portal_is_refused(self, scene, columns):
        update(scene.brand, **columns)

        answer = scene.link()

        assert (answer.status_code, answer.json["error"]) == (409, "portal_not_configured")

    def test_campaign_without_recruiting_is_refused(self, scene):
        run_for_all_tenants("update program set sub_affiliate_enabled = false where id = %s", scene.program_id)

        answer = scene.link()

        assert (answer.status_code, answer.json["error"]) == (400, "sub_affiliate_recruiting_disabled")

    @pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
    def test_caller_who_is_not_approved_gets_an_empty_response(self, scene, status):
        run_for_all_tenants("update affiliate set status = %s where id = %s", status, scene.ann_id)
        run_for_all_tenants("update program set sub_affiliate_enabled = false where id = %s", scene.program_id)

        answer = scene.link()

        assert (answer.status_code, answer.data) == (403, b"")

    @pytest.mark.parametrize("case", ["unknown", "a campaign without the caller", "archived", "caller deleted"])
    def test_campaign_of_another_affiliate_returns_an_empty_404(self, scene, rival, case):
        program_id = {"unknown": UNKNOWN_ID, "a campaign without the caller": rival.program(sub_affiliate_enabled=True)}
        if case == "archived":
            run_for_all_tenants("update program set archived_at = now() where id = %s", scene.program_id)
        if case == "caller deleted":
            run_for_all_tenants("update affiliate set deleted_at = now() where id = %s", scene.ann_id)

        answer = scene.link(program_id.get(case))

        assert (answer.status_code, answer.data) == (404, b"")

    @pytest.mark.parametrize(
        "query", ["", "?programId=", "?programId=tea", "?programId=%00", "?programId=" + "x" * 5000, "?programId=%FF"]
    )
    def test_missing_campaign_id_is_refused(self, scene, query):
        answer = scene.ann.get(LINK + query)

        assert (answer.status_code, answer.json["error"]) == (400, "program_id_required")

    @pytest.mark.parametrize("query", ["", f"?programId={UNKNOWN_ID}"])
    def test_unverified_email_is_refused_first(self, scene, query):
        unverified = Partner(scene.brand.app, scene.email, is_email_verified=False)

        answer = unverified.get(LINK + query)

        assert (answer.status_code, answer.json["error"]) == (403, "email_verification_required")

    def test_caller_is_recognized_in_every_tenant(self, scene, rival):
        update(rival, portal_host=f"{uuid4().hex[:12]}.portal.test")
        program_id = rival.program(slug="coffee", sub_affiliate_enabled=True)
        affiliate_id = rival.affiliate("annie", email=scene.email)

        answer = scene.link(program_id)

        assert (answer.status_code, answer.json["affiliateId"]) == (200, str(affiliate_id))

    def test_keys_and_dashboard_members_are_refused(self, scene):
        callers = (scene.brand, scene.brand.person("Owner"))

        answers = [
            caller.get(f"{path}?programId={scene.program_id}") for caller in callers for path in (LINK, RECRUITS)
        ]

        assert {(answer.status_code, answer.data) for answer in answers} == {(401, b"")}

    def test_later_holder_of_the_email_gets_no_link(self, scene):
        scene.recruits()
        run_for_all_tenants("update affiliate_account set subject = %s where email = %s", uuid4().hex, scene.email)

        answer = scene.link()

        assert (answer.status_code, answer.data) == (404, b"")

    def _host(self, scene):
        return scene.link().json["url"].split("/")[2]
