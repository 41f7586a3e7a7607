"""What strangers see of a brand.

lookup        which campaign an address stands for
application   the application form
answering     its second step, for the page and the portal that hand it in
landing_page  what the page of a campaign shows, and whose page a host is
sitemap       the campaigns that strangers may find
"""

from api.storefront import application, lookup

BLUEPRINTS = (
    lookup.blueprint,
    application.blueprint,
)
