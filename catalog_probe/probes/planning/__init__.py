"""Decides what a run sends, within which bounds, and on which machine."""
