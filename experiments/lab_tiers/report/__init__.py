"""The report of the experiment over three tiers, made from the files that its turns have left."""
