"""Re-placement in cycles, without a cluster: what is moved, what that costs and brings (paper 001)."""
