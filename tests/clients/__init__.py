"""Checks of the interface from outside: public linters, generated clients, and the product's own clients."""
