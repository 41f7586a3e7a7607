"""What a name says it says everywhere: a public class stands once, and modules are called by their own names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_HOUSES = (
    "adapters",
    "api",
    "bench",
    "commands",
    "domain",
    "models",
    "pages",
    "pipelines",
    "schemas",
    "settings",
    "workers",
)
_FILES = [path for house in _HOUSES for path in sorted((_ROOT / house).rglob("*.py"))]

# What still stands twice. This only gets shorter: a name that is not needed any more has to go.
_STILL_TWICE = {
    "Accepted",
    "Account",
    "Asked",
    "Entry",
    "NewKey",
    "Outcome",
    "Program",
    "Share",
    "Shares",
    "Standing",
    "Tier",
    "TrackingStatus",
}
# Modules of ours that still have another name where nothing else has theirs. This only gets shorter, too.
_STILL_ALIASED = {
    "api/affiliates/affiliates.py: pipelines.affiliates.affiliates as affiliate_rules",
    "api/affiliates/affiliates.py: pipelines.affiliates.changes as affiliate_changes",
    "api/affiliates/affiliates.py: schemas.affiliates.affiliate as wire",
    "api/affiliates/decisions.py: schemas.affiliates.affiliate as wire",
    "api/affiliates/links.py: pipelines.affiliates.links as affiliate_links",
    "api/affiliates/tax_forms.py: pipelines.affiliates.tax_forms as form_rules",
    "api/affiliates/view.py: schemas.affiliates.affiliate as wire",
    "api/fraud.py: schemas.affiliates.affiliate as affiliate_wire",
    "api/fraud.py: schemas.fraud as wire",
    "api/invites/invites.py: schemas.invite as wire",
    "api/invites/tokens.py: pipelines.invites.accept as invite_accept",
    "api/invites/tokens.py: schemas.invite as wire",
    "api/organization/keys.py: pipelines.organization.keys as key_rules",
    "api/programs/partner_groups.py: pipelines.programs.partner_groups as group_rules",
    "api/programs/partner_groups.py: pipelines.programs.programs as program_rules",
    "api/programs/performance_tiers.py: pipelines.programs.performance_tiers as tier_rules",
    "api/programs/performance_tiers.py: pipelines.programs.programs as program_rules",
    "api/programs/programs.py: pipelines.programs.programs as program_rules",
    "api/programs/sub_affiliates.py: pipelines.programs.programs as program_rules",
    "api/storefront/application.py: pipelines.storefront.application as storefront",
    "commands/affiliates.py: pipelines.affiliates.affiliates as affiliate_rules",
    "commands/demo/demo.py: pipelines.organization.keys as key_rules",
    "commands/demo/demo.py: pipelines.organization.organizations as organization_rules",
    "commands/mail.py: pipelines.mail as mailing",
    "commands/organization/keys.py: pipelines.organization.keys as key_rules",
    "commands/organization/organizations.py: pipelines.organization.organizations as organization_rules",
    "commands/rehearsal/happenings.py: pipelines.organization.organizations as organization_rules",
    "commands/service/processes.py: workers.clicks as click_consumer",
    "commands/service/processes.py: workers.relay as relay_loop",
    "commands/service/retention.py: pipelines.retention as pipeline",
    "pipelines/affiliates/links.py: pipelines.affiliates.affiliates as affiliate_rules",
    "pipelines/imports/affiliates.py: pipelines.affiliates.affiliates as affiliate_rules",
    "pipelines/invites/accept.py: pipelines.affiliates.affiliates as affiliate_rules",
    "pipelines/invites/accept.py: pipelines.invites.invites as invite_rules",
    "pipelines/invites/invites.py: pipelines.affiliates.affiliates as affiliate_rules",
    "pipelines/programs/changes.py: domain.programs.changes as rules",
    "pipelines/programs/changes.py: pipelines.programs.programs as program_rules",
    "pipelines/programs/partner_groups.py: pipelines.programs.programs as program_rules",
    "pipelines/programs/programs.py: domain.programs.terms as program_terms",
    "pipelines/programs/supervision.py: pipelines.programs.programs as program_rules",
    "pipelines/storefront/application.py: pipelines.affiliates.affiliates as affiliate_rules",
}


def test_a_public_class_stands_once():
    assert {name: places for name, places in _twice().items() if name not in _STILL_TWICE} == {}


def test_what_stands_once_by_now_is_off_the_list():
    assert sorted(_STILL_TWICE - set(_twice())) == []


def test_a_module_has_another_name_only_where_a_file_imports_two_of_one_name():
    assert sorted(set(_aliases()) - _STILL_ALIASED) == []


def test_what_is_called_by_its_name_by_now_is_off_the_list():
    assert sorted(_STILL_ALIASED - set(_aliases())) == []


def _twice() -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for path in _FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(_ROOT)))
    return {name: those for name, those in places.items() if len(those) > 1}


def _aliases() -> Iterator[str]:
    """Yield every module of ours that has another name for no need, or one that ends in rules."""
    for path in _FILES:
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        modules = [
            (node.module or "", name) for node in imports for name in node.names if _is_ours(node.module, name.name)
        ]
        basenames = [name.name for _, name in modules]
        for package, name in modules:
            if name.asname and (basenames.count(name.name) == 1 or name.asname.endswith("rules")):
                yield f"{path.relative_to(_ROOT)}: {package}.{name.name} as {name.asname}"


def _is_ours(package: str | None, name: str) -> bool:
    """Say whether `from package import name` brings a module of ours."""
    folder = _ROOT.joinpath(*(package or "").split("."))
    return (package or "").split(".")[0] in _HOUSES and ((folder / f"{name}.py").exists() or (folder / name).is_dir())
