"""`anamnesis bench corpus`: collections built from made-up publications by both engines, and builds that are killed."""
