"""Every catapult of descent lowers the test loss and aligns the features, if few matter."""
