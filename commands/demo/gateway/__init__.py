"""The demo's second brand, whose sales come from a gateway: stripe, played on this machine in stripe's own words.

shop      the brand, and its connection
acts      `flask demo-gateway`: plays the gateway; and pay, renew, refund, as the brand's server asks stripe for them
player    answers stripe's API over HTTP, and sends signed events to the connection's address
account   what each call of the API does, and which events come of it
books     the account's objects, kept in the data folder
codes     coupons and promotion codes: what is taken, what is refused, what they take off
forms     the fields of a call
words     how stripe tells of invoices, charges, subscriptions, events
"""
