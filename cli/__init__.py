"""The command line of Stormplace."""
