"""The collector of rates: from Nimbus' statistics to one reading per topology."""
