"""Creator deals.

deals      the brand drafts, offers and withdraws them
creator    the affiliate who signed in answers offers
"""

from api.deals import creator, deals

BLUEPRINTS = (deals.blueprint, creator.blueprint)
