"""The ledger: every published figure beside ours, written from reports and from nothing else."""
