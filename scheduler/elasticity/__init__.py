"""How many executors components need and how many hosts are leased: pure policies, without clock or I/O.

A policy is `decide(observation, state, parameters, seed) -> (decision, state)`. All it may remember is in the
state, all it may know in the observation, so that a recorded round is decided again to the same result.

"Paper 003" in this package is Hochreiner et al., "Cost-efficient enactment of stream processing topologies",
PeerJ Computer Science 141, 2018; "paper 004" is Russo Russo et al., "Multi-Level Elasticity for Wide-Area
Data Streaming Systems", Algorithms 11(9), 2018. Their operator (type) is a component here, their instance or
replica an executor.
"""
