"""What a plan costs and brings: predicted before it is carried out, measured afterwards."""
