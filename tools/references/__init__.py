"""References to publications and documents, in the forms that reference managers read (docs/exports.md)."""
