"""What runs beside the queue: jail, build, interpreter check and measuring."""
