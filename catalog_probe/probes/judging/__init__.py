"""Documented against observed: findings, and from them the outcome of one record. Pure."""
