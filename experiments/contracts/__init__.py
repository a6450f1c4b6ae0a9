"""`bytebound contracts`: what the specs say, whether a config or somebody's module keeps them, what a change breaks."""
