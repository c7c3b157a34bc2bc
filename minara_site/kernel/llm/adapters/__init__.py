"""What stands between the gateway and the wire."""
