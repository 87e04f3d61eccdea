"""What workers submit: received whole, applied under their lease, and answered once."""
