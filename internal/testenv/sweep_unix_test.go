//go:build unix

package testenv

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed keeper left is removed; a cluster that answers, one that may be starting, and other folders stay.
func TestSweepRemovesWhatNobodyKeeps(t *testing.T) {
	dir, now := Dir(t), time.Now()
	made := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == clusterFolder+"live" {
			l, err := net.Listen("unix", filepath.Join(path, clusterSocket))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := made(clusterFolder+"dead", 2*time.Hour)
	kept := []string{made(clusterFolder+"live", 2*time.Hour), made(clusterFolder+"young", time.Minute), made("other", 2*time.Hour)}
	sweep(dir, now)
	if _, err := os.Stat(gone); err == nil {
		t.Errorf("%s is still there", gone)
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}
