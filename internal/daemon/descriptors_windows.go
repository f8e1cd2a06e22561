package daemon

// descriptors is how many files and connections this process may have open: the system sets no such limit.
func descriptors() int { return 1 << 20 }
