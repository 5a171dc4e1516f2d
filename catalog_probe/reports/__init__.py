"""Telling what a run saw: pure views of its results.jsonl."""
