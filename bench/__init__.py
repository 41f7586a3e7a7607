"""Benchmarks of the product against bare anchors, in one run: `python -m bench [--quick] [--only NAME]`."""
