"""The command line: `catalog-probe`, its commands, and what they print for a person."""
