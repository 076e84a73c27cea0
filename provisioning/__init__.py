"""The loop around Nimbus and hosts: it measures, asks a policy, leases hosts and enacts what is decided."""
