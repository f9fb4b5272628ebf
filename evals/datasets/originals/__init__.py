"""Readers of data sets as their authors released them: typed records, and every malformed row as a `Problem`."""
