"""What faults are planted in besides the decoder: small and complete, until the project has its own of each."""
