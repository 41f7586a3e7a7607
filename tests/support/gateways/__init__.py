"""Fake payment gateways ("stages"): each stores objects, serves its API over HTTP, and returns notifications of acts.

`stage` is the base; a folder per kind of gateway has one file for each of them.
"""
