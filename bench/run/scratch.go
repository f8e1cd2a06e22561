package main

import (
	"errors"
	"os"
)

var scratches []string

// scratch makes a folder for a measurement. All of them are removed when the
// last measurement is done: ext4 without a journal does not use the inodes of
// removed files again for up to six minutes, and looks at every one of them
// whenever a file is made, so that each part would pay for the litter of the
// one before.
func scratch(prefix string) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err == nil {
		scratches = append(scratches, dir)
	}
	return dir, err
}

func removeScratches() error {
	var errs []error
	for _, dir := range scratches {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}
