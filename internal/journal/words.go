package journal

import (
	"iter"
	"slices"
)

// words are the newest words about rows. They lie by tenant and kind: whoever asks about one kind reads no other, however many
// approvals were spent meanwhile.
type words map[wordsOf]map[string]stood

type wordsOf struct{ tenant, kind string }

func (w words) at(p place) (stood, bool) {
	x, ok := w[wordsOf{p.tenant, kindOf(p.subject)}][p.subject]
	return x, ok
}

func (w words) put(p place, x stood) {
	of := wordsOf{p.tenant, kindOf(p.subject)}
	if w[of] == nil {
		w[of] = map[string]stood{}
	}
	w[of][p.subject] = x
}

func (w words) all() iter.Seq2[place, stood] {
	return func(yield func(place, stood) bool) {
		for of, subjects := range w {
			for subject, x := range subjects {
				if !yield(place{of.tenant, subject}, x) {
					return
				}
			}
		}
	}
}

// stand are the subjects of a kind that have not ended.
func (w words) stand(tenant, kind string) (out []string) {
	for subject, x := range w[wordsOf{tenant, kind}] {
		if x.digest != nothing {
			out = append(out, subject)
		}
	}
	slices.Sort(out)
	return out
}

// maxPassing is how many uses of passing authority are remembered; an approval ends after an hour, long before so many others.
const maxPassing = 50_000

// forget drops the older half of what passes, once there is too much of it.
func (w words) forget() {
	n := 0
	for of, subjects := range w {
		if slices.Contains(passing, of.kind) {
			n += len(subjects)
		}
	}
	if n < maxPassing {
		return
	}
	all := make([]int64, 0, n)
	for p, x := range w.all() {
		if slices.Contains(passing, kindOf(p.subject)) {
			all = append(all, x.seq)
		}
	}
	slices.Sort(all)
	for of, subjects := range w {
		if !slices.Contains(passing, of.kind) {
			continue
		}
		for subject, x := range subjects {
			if x.seq < all[len(all)/2] {
				delete(subjects, subject)
			}
		}
		if len(subjects) == 0 {
			delete(w, of)
		}
	}
}
