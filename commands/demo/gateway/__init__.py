"""The demo's second brand, whose sales come from a simulated stripe on this machine.

second_brand     the brand, and its connection
cli              `flask demo-gateway`: runs the gateway; and pay, renew, refund, as the brand's server calls stripe
server           serves stripe's API over HTTP, and sends signed events to the connection's address
account          the effects and events of each API call
object_store     the account's objects, stored in the data folder
codes            coupons and promotion codes: validation, redemption, discounts
forms            the fields of a call
stripe_objects   stripe's invoices, charges, subscriptions, events
"""
