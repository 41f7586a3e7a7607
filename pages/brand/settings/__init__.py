"""A brand's own settings at the dashboard.

index            /dashboard/settings: the pages of the settings
profile          /dashboard/settings/profile: the brand's name, description and addresses
brand            /dashboard/settings/brand: logo and color
tracking         /dashboard/settings/tracking: parameters of links, and the tracking domain
payout_settings  /dashboard/settings/payouts: hold, minimum payout, automatic payouts, home currency
developers       /dashboard/settings/developers: the ways in for programs
team             /dashboard/settings/team: members, roles, invitations
security         /dashboard/settings/security: two-factor authentication
changes          sends only changed values of the profile
api_keys         /dashboard/api-keys: the keys, a new one, the end of one
audit_log        /dashboard/audit-log: who changed what, and when
browsers         the browser of a session, by its User-Agent
"""

from pages.brand.settings import (
    api_keys,
    audit_log,
    brand,
    developers,
    index,
    payout_settings,
    profile,
    security,
    team,
    tracking,
)

BLUEPRINTS = (
    index.blueprint,
    profile.blueprint,
    brand.blueprint,
    tracking.blueprint,
    payout_settings.blueprint,
    developers.blueprint,
    api_keys.blueprint,
    audit_log.blueprint,
    team.blueprint,
    security.blueprint,
)
