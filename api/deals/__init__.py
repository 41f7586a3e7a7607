"""Creator deals.

deals      the brand drafts, offers and withdraws them
reviews    the brand has them charged, and decides what becomes of a milestone
creator    the affiliate who signed in answers offers and submits work
"""

from api.deals import creator, deals, reviews

BLUEPRINTS = (deals.blueprint, reviews.blueprint, creator.blueprint)
