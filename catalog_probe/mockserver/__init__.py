"""Four generative-model providers, simulated from their documents alone.

Run it with `catalog-probe mock`; `README.md` beside this file says how to add to it. Nothing here reads the
catalog: probe and mock may agree only because both agree with the documents.
"""
