"""Two people's work on one collection: another copy comes in, agreement is counted, conflicts are settled."""
