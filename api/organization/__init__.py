"""A brand's own settings.

organization    profile, logo and favicon
home_currency   the currency it thinks in
billing         what it subscribed to, and how much of that is used
keys            its API keys
members         its people, and where they are signed in
audit_log       who did what
tracking_domain  the domain its pages load our script from
brand_files     its images, as every page gets them
"""

from api.organization import (
    audit_log,
    billing,
    brand_files,
    home_currency,
    keys,
    members,
    organization,
    tracking_domain,
)

BLUEPRINTS = (
    organization.blueprint,
    home_currency.blueprint,
    billing.blueprint,
    keys.blueprint,
    members.blueprint,
    tracking_domain.blueprint,
    audit_log.blueprint,
    brand_files.blueprint,
)
