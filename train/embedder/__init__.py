"""Learns the weights of the built-in embedder (model/builtin.go)."""
