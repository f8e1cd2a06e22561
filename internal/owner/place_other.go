//go:build !linux

package owner

import "os"

// place is the machine's name: a process number means the same process wherever that is the same.
func place() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
