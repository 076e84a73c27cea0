"""How readings are published and peers found: one session with ZooKeeper."""
