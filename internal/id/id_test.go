package id

import (
	"sort"
	"sync"
	"testing"
)

func TestIdsSortInTheOrderOfMaking(t *testing.T) {
	var ids []string
	for range 5000 {
		ids = append(ids, New("res"))
	}
	if !sort.StringsAreSorted(ids) {
		t.Fatal("ids made one after the other do not sort")
	}
}

func TestIdsNeverRepeat(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 2000 {
				s := New("x")
				mu.Lock()
				if seen[s] {
					t.Errorf("%s was made twice", s)
				}
				seen[s] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestCheck(t *testing.T) {
	good := New("ask")
	for s, ok := range map[string]bool{
		good: true, "": false, "ask_": false, "tok" + good[3:]: false, good + "0": false,
		"ask_01j9z!00000000000000000000": false, "ask_../../../etc/passwd0000000": false,
	} {
		if err := Check("ask", s); (err == nil) != ok {
			t.Errorf("Check(%q) = %v, want ok=%v", s, err, ok)
		}
	}
}

func TestShort(t *testing.T) {
	if got := Short("ask_01j9zaaaaaaaaaaaaaaaabcdef"); got != "ask_abcdef" {
		t.Errorf("Short = %q", got)
	}
	if got := Short("plain"); got != "plain" {
		t.Errorf("Short = %q", got)
	}
}
