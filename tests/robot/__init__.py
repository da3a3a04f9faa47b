"""A person at a real display: stories with mouse and keyboard, judged by what is on the screen and in the file."""
