"""A brand's own settings at the dashboard.

profile    /dashboard/settings: the brand's profile, payouts, tracked parameters and team
api_keys   /dashboard/api-keys: the keys, a new one, the end of one
audit_log  /dashboard/audit-log: who changed what, and when
"""

from pages.brand.settings import api_keys, audit_log, profile

BLUEPRINTS = (api_keys.blueprint, profile.blueprint, audit_log.blueprint)
