"""The machine's nodes, each beside its neighbour. One moves data between state and judgement and judges nothing."""
