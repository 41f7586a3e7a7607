"""Gateways for the tests, over HTTP: each keeps books, takes calls of its API, and plays what a buyer makes it send.

`stage` is what all of them share; a folder per kind has one file for each gateway.
"""
