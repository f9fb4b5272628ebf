"""Passages: SEOS segmentation, two-stage passage search, and the sentences worth quoting."""
