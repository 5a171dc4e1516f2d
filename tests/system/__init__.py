"""Processes, browsers, SDKs, hostile servers."""
