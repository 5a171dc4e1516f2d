"""Rules over the results of a run: what is blind, lost, partial, merged or changed, and which exit status follows."""
