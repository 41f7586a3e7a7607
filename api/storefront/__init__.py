"""What strangers see of a brand.

lookup        which campaign an address stands for
application   the application form
"""

from api.storefront import application, lookup

BLUEPRINTS = (
    lookup.blueprint,
    application.blueprint,
)
