"""The machine's nodes, one file each. A node moves data between the state and a judgement; it judges nothing itself."""
