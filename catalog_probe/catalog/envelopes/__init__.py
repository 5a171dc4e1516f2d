"""Envelopes: the documented shapes of bodies, and where type, code, param and message are in them."""
