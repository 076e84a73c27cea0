"""The loop around Nimbus and hosts: it measures, asks a policy, leases hosts, carries out decisions."""
