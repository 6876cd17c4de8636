"""What Limpet costs, as ratios of two things measured in turn in one run: `make bench`. Not a test of anything."""
