"""Coupons: what a family of codes takes off, how a code is written, and what may be done when."""
