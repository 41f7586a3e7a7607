"""The public storefront: finding a campaign (`lookup`), applying to it (`applying`), and the second step of an
application (`second_step`).

`matching`: signed-in affiliates apply to a program of the network, by the same rules.
"""
