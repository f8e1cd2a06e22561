//go:build unix

package screen

import "os"

func openKeys() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
