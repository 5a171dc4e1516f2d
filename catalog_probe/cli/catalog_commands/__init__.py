"""`catalog-probe catalog`: read the records, and write back what was seen."""
