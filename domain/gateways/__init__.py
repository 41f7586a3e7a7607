"""The facts of payment gateways, in the same words for all of them, and the rules for reading them."""
