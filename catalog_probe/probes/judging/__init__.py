"""The judge: what an attempt shows of a record, and why a mismatch may not be the provider's. Pure."""
