"""Two people's work on one collection: another copy of a project comes in, agreement is counted, conflicts are settled."""
