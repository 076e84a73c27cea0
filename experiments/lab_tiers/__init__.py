"""The lab experiment over three tiers: the taxi query behind a narrow uplink, by what placements cost."""
