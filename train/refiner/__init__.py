"""Learns retrieve/weights/refiner.safetensors: when a part beats the whole it is of."""
