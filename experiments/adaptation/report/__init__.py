"""The report of the adaptation experiment, made from the files that its scenarios have left."""
