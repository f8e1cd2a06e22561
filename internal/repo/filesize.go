package repo

import "tandem/internal/fault"

// LargeFile is from how many bytes on a file is better not held in memory, and
// LargestFile up to how many one can be kept.
const (
	LargeFile   = 16 << 20
	LargestFile = 1 << 31
)

// CheckFileSize refuses a file that could be stored and not read again.
func CheckFileSize(size int64) error {
	if size <= LargestFile {
		return nil
	}
	return fault.New(fault.Invalid, "repo.file", "a file of %d bytes is too large: at most %d can be kept", size, int64(LargestFile)).
		WithNext("name it in .gitignore and run `tandem file untrack` with its path, or keep it elsewhere")
}
