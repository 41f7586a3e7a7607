"""A brand's own settings at the dashboard.

profile    /dashboard/settings: the brand's profile, payouts and tracked parameters
team       /dashboard/settings/team: members, roles, invitations
security   /dashboard/settings/security: two-factor authentication
api_keys   /dashboard/api-keys: the keys, a new one, the end of one
audit_log  /dashboard/audit-log: who changed what, and when
"""

from pages.brand.settings import api_keys, audit_log, profile, security, team

BLUEPRINTS = (
    api_keys.blueprint,
    profile.blueprint,
    audit_log.blueprint,
    team.blueprint,
    security.blueprint,
)
