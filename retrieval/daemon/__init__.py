"""The warm daemon: one process per home that has all loaded, and answers hooks over a socket."""
