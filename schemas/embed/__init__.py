"""The embedded page for affiliates on a brand's own site, in the API.

token  the tokens that a brand's servers create
page   the data of the affiliate
"""
