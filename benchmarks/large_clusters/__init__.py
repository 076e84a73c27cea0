"""Storm's recorded clusters and made ones under several schedulers: time, distance, limits, restarts.

The Java side (java-shim/src/test/java/io/stormplace/largeclusters) builds clusters in memory, runs schedulers
on them and writes what they assigned. What judges an assignment here reads those files alone and shares no
code with the scheduler or the daemon.
"""
