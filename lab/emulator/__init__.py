"""The wide-area emulator: packets held back for the delay between their sites."""
