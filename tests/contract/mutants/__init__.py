"""The mock with one behaviour broken, a row each: see README.md."""
