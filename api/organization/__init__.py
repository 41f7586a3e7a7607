"""A brand's own settings.

organization     profile, logo and favicon
home_currency    the currency of totals
billing          the subscription, and the usage of its limits
keys             API keys
members          members, and their sessions
team             the team: roles and invitations
second_factor    the caller's own second factor
own_organizations  the organizations of the caller
onboarding       the steps of setting up
audit_log        the audit log
tracking_domain  the domain of the tracking script
brand_files      images, public
"""

from api.organization import (
    audit_log,
    billing,
    brand_files,
    home_currency,
    keys,
    members,
    onboarding,
    organization,
    own_organizations,
    second_factor,
    team,
    tracking_domain,
)

BLUEPRINTS = (
    organization.blueprint,
    home_currency.blueprint,
    billing.blueprint,
    keys.blueprint,
    members.blueprint,
    team.blueprint,
    own_organizations.blueprint,
    second_factor.blueprint,
    onboarding.blueprint,
    tracking_domain.blueprint,
    audit_log.blueprint,
    brand_files.blueprint,
)
