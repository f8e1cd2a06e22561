package policy

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Versions of a shared map are as maps are, and what became of a later one changes none that was there before.
func TestASharedMapIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var versions []shared[int]
		var models []map[string]int
		now, model := shared[int]{}, map[string]int{}
		for range rapid.IntRange(1, 8).Draw(t, "versions") {
			e := now.edit()
			model = maps.Clone(model)
			for range rapid.IntRange(0, 200).Draw(t, "changes") {
				key := fmt.Sprint(rapid.IntRange(0, 300).Draw(t, "key"))
				if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
					e.drop(key)
					delete(model, key)
				} else {
					model[key] = rapid.IntRange(1, 1000).Draw(t, "is")
					e.put(key, model[key])
				}
				if got := e.get(key); got != model[key] {
					t.Fatalf("within the edit %s is %d, not %d", key, got, model[key])
				}
			}
			now = e.done()
			versions, models = append(versions, now), append(models, model)
		}
		for i, v := range versions {
			for key := range 301 {
				if got, want := v.get(fmt.Sprint(key)), models[i][fmt.Sprint(key)]; got != want {
					t.Fatalf("version %d: %d is %d, not %d", i, key, got, want)
				}
			}
		}
	})
}

// Keys with one hash stand in one place, however many there are.
func TestASharedMapOutlivesCollisions(t *testing.T) {
	e := shared[int]{}.edit()
	for i := range 100 {
		e.set(uint64(i%3)<<60, fmt.Sprint(i), i+1)
	}
	m := e.done()
	for i := range 100 {
		if got := m.lookup(uint64(i%3)<<60, fmt.Sprint(i)); got != i+1 {
			t.Errorf("%d is %d", i, got)
		}
	}
}

// Giving one grant more allocates as much in a house of a hundred thousand as in one of a hundred.
func TestAVersionCostsWhatBecameDifferent(t *testing.T) {
	bytes := func(n int) int64 {
		e := shared[int]{}.edit()
		for i := range n {
			e.put(fmt.Sprint("key", i), i)
		}
		m := e.done()
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				e := m.edit()
				e.put(fmt.Sprint("new", i), i)
				e.done()
			}
		}).AllocedBytesPerOp()
	}
	if few, many := bytes(100), bytes(100_000); many > 4*few {
		t.Errorf("%d bytes beside %d", many, few)
	}
}
