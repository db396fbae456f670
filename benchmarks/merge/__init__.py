"""How good the merge engine is on real conflicts: an independent scorer. Run with `make bench-merge`."""
