"""Affiliate data that is embedded in a brand's own site.

tokens       the embed tokens that the brand's servers create
viewer_data  the data of the affiliate of a token
history      their conversions and payouts
"""

from api.embed import history, tokens, viewer_data

BLUEPRINTS = (tokens.blueprint, viewer_data.blueprint, history.blueprint)
