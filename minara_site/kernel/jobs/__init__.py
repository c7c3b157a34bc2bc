"""Jobs: what is to be done, by whom it is done now, and when it is due. Only `queue` knows the runners."""
