"""Provider PB: a content-generation API with RPC-style errors (1:4.2, 2:7.4)."""
