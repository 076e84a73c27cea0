"""The lab experiment on elasticity: executors and hosts follow a load that goes up and down."""
