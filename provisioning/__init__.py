"""The loop around Nimbus and hosts: it measures, asks a policy, leases hosts and carries out its decisions."""
