"""Gateways that take cards and payments for the brand: stripe, braintree, mollie, paypal."""
