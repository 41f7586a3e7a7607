"""The embedded page for affiliates on a brand's own site, in the API.

token   the tokens that a brand's servers create
own     the data of the affiliate
"""
