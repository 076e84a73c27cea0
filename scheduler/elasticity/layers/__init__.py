"""Both layers of paper 004 as one round: who asks, who grants, on which host it happens."""
