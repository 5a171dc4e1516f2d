"""Where the aspects of an answer lie on a surface: pointers, header formats, statuses, projections."""
