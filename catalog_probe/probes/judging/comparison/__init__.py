"""An answer beside what a record states: observations, findings, and what they rest on."""
