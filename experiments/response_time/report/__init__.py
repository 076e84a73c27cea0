"""The report of the response-time experiment, made from the files that its turns have left."""
