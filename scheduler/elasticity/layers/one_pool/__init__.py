"""Both layers of paper 004 as a policy of one pool of hosts, on the readings that other policies have."""
