"""Code that `proto/generate.py` makes of `proto/pd.proto`: not written by hand."""
