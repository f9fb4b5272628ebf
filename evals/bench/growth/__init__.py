"""`anamnesis bench growth`: what a collection on one machine costs as it grows."""
