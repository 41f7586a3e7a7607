"""The public storefront: finding a campaign (`lookup`), applying to it (`applications`), and the second step of an
application (`second_step`).

`network_applications`: signed-in affiliates apply to a program of the network, by the same rules.
"""
