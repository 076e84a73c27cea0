"""The paper's experiments on a real Storm cluster with an emulated wide area."""
