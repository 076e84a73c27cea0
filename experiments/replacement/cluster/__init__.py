"""The experiment on re-placement on a real cluster: a fog host joins, and a fog site is drained."""
