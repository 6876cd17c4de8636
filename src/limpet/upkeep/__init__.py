"""What changes or proves a memory as a whole: forget, prune, clean again, back up, put back, hand out, hold against."""
