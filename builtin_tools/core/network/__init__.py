"""What reaches the network: downloads, checked hop by hop."""
