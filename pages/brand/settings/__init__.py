"""A brand's own settings at the dashboard.

profile    /dashboard/settings: who the brand is, how it pays, what its pages look for, its team
api_keys   /dashboard/api-keys: the keys, a new one, the end of one
tracking   /dashboard/settings/tracking-domain: where the brand's pages load the script from, and what proves that
audit_log  /dashboard/audit-log: who changed what, and when
"""

from pages.brand.settings import api_keys, audit_log, profile, tracking

BLUEPRINTS = (api_keys.blueprint, profile.blueprint, tracking.blueprint, audit_log.blueprint)
