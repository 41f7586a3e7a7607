"""Checks whether a program's tag is on a page of the brand's site, and whether it works.

The page is fetched outside of any transaction. Only the facts for the four lights are stored.
"""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from adapters.gateways import registry
from adapters.safe_http import addresses, pages
from domain.clicks import install_snippet, installation, page_policies, tags
from domain.clicks.attribution_params import Params
from domain.clicks.installation import CurrentTag, InstallationSteps, LastTraffic, TagFinding
from domain.refusals import Refused, not_found
from models.clicks import install_checks
from models.clicks.install_checks import InstallCheck, InstallState
from models.organization import organizations
from models.programs import programs

_SOURCE_NAMES = {"s2s": "Signed sale", "lead": "Lead", "cpc": "Paid click"}


@dataclass(frozen=True, slots=True)
class Installation:
    """The state of a program's installation, and which of its lights are on."""

    state: InstallState
    lights: InstallationSteps

    @property
    def source_name(self) -> str | None:
        """Return the name of the way by which the last conversion came, such as `Stripe`; None without one."""
        source = self.state.last_conversion_source
        if source is None or source in _SOURCE_NAMES:
            return _SOURCE_NAMES.get(source or "")
        gateway = registry.find(source)
        return gateway.label if gateway else source


def find(*, organization_id: UUID, program_id: UUID) -> Installation:
    """Return a program's current installation. Raises Refused 404 not_found. Budget: 1 statement."""
    state = install_checks.find_state(organization_id=organization_id, program_id=program_id)
    if state is None:
        raise not_found("program", program_id)
    finding = TagFinding(state.check.finding) if state.check else None
    traffic = LastTraffic(state.script_seen_at, state.last_click_at, state.last_conversion_at)
    return Installation(state, installation.find_steps(finding, traffic))


def find_tag(*, organization_id: UUID, program_id: UUID, base_url: str) -> CurrentTag:
    """Return the tag that a page of the program should carry. Raises Refused 404 not_found.

    `base_url` is the service's own address.
    """
    program = programs.find(organization_id=organization_id, program_id=program_id)
    organization = organizations.find(organization_id)
    if program is None or organization is None:
        raise not_found("program", program_id)
    host = install_snippet.host(
        tracking_domain=organization.tracking_domain,
        is_verified=organization.tracking_domain is not None and organization.tracking_domain_verified,
        base_url=base_url,
    )
    return CurrentTag(host, str(program.id), Params(organization.attribution_params).printable.custom or "")


def check_page(url: str, expected_tag: CurrentTag, *, now: datetime) -> InstallCheck:
    """Fetch the page and return what it contains. Takes seconds, so never inside a transaction.

    Raises Refused: 400 invalid_url, https_required, url_not_allowed; 422 page_not_read; 503 page_check_busy.
    """
    try:
        page = pages.fetch(url)
    except addresses.UrlRefused as refused:
        raise Refused(400, refused.code, refused.message, field="url") from refused
    except pages.PageNotRead as error:
        raise Refused(422, "page_not_read", error.reason, field="url") from error
    except pages.TooManyAtOnce as error:
        message = "Other pages are being checked. Try again in a moment."
        raise Refused(503, "page_check_busy", message, field="url") from error
    content = tags.read(page.html, page=page.url)
    policies = [page.headers.get("Content-Security-Policy", ""), *content.policies]
    policy = page_policies.check(
        policies,
        page=page.url,
        script=f"{expected_tag.script_host}{install_snippet.SCRIPT_PATH}",
        nonce=content.tags[0].nonce if content.tags else None,
    )
    return InstallCheck(
        page_url=_without_query(page.url),
        checked_at=now,
        finding=installation.check_tags(content.tags, expected_tag).value,
        page_bytes=page.size,
        took_ms=page.took_ms,
        policy_allows=policy.is_allowed,
        policy_lines=policy.lines,
    )


def store(check: InstallCheck, *, organization_id: UUID, program_id: UUID) -> Installation:
    """Store a check and return the program's installation. Raises Refused 404 not_found."""
    install_checks.stage_replace(check, organization_id=organization_id, program_id=program_id)
    return find(organization_id=organization_id, program_id=program_id)


def _without_query(url: str) -> str:
    """Return a page's URL without its query, which may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
