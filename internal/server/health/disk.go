package health

import "tandem/internal/fault"

// Room says whether a disk is about to be full: below 256 MB or 2 % of its bytes, or 1 % of its files.
func Room(data string) error {
	bytes, of, files, ofFiles := disk(data)
	switch {
	case bytes >= 0 && bytes < min(256<<20, of/50):
		return fault.New(fault.Unavailable, "disk", "the disk of %s has only %d MB left", data, bytes>>20).WithNext("free some space: df -h %s",
			data)
	case files >= 0 && files < ofFiles/100:
		return fault.New(fault.Unavailable, "disk", "the disk of %s has room for only %d files (inodes)", data, files).
			WithNext("remove files: df -i %s", data)
	}
	return nil
}

// Free is how many bytes the disk of a folder has for this user, -1 where it does not say.
func Free(path string) int64 {
	bytes, _, _, _ := disk(path)
	return bytes
}
