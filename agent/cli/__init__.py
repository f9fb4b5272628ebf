"""The command line. Every command imports what it needs inside, so that `--help` stays quick."""
