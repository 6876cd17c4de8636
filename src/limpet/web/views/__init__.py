"""What each page shows: a function of a memory that gives its template the values. Not for how they look."""
